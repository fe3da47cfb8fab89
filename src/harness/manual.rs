//! The `manual` harness: a person carries out the prompt and submits the result.

use super::end_text::failed;
use super::sink::{Order, Sink};
use super::{Ending, Signal};
use crate::outcome::Outcome;
use crate::process::{Inbox, Item};

/// Waits for the result or a stop.
pub(super) fn wait(inbox: &Inbox<Item<Order>>, sink: &mut Sink) -> Ending {
    sink.send(Signal::Started(None));
    loop {
        match inbox.next(None) {
            Some(Item::Order(Order::Submit(message))) if message.trim().is_empty() => {
                return failed("the result is empty".to_owned());
            }
            Some(Item::Order(Order::Submit(message))) => {
                return Ending { outcome: Outcome::Passed, message, ..failed(String::new()) };
            }
            Some(Item::Order(Order::Stop | Order::Kill(_))) => return failed("stopped".to_owned()),
            _ => {}
        }
    }
}
