//! A run that nobody drives here, as windows and the status line show it.

use super::open::Opened;
use super::unsound::unsound;
use crate::run::snapshot::snapshot;
use crate::store::lease;
use chrono::Utc;
use serde_json::{Value, json};
use std::path::Path;

/// Draws it. One that nobody drives at all is shown as interrupted, which whoever resumes it will write.
pub fn picture(root: &Path, mut opened: Opened) -> Value {
    let driver = lease::holder(root);
    if !lease::drives(driver.as_ref(), &opened.run.run_id) {
        opened.interrupt();
    }
    let mut picture = snapshot(&opened.run, Utc::now());
    if let Some(unsound) = unsound(&opened) {
        let words = unsound.to_string();
        // Whatever it was doing, it waits for a human to say what is true.
        picture["state"] = json!("paused");
        picture["reason"] = json!(unsound.word());
        picture["detail"] = json!(words);
        picture["summary"] = json!(words);
        picture["gate"] = Value::Null;
    }
    picture["root"] = json!(root);
    picture["ours"] = json!(false);
    picture["live"] = Value::Null;
    picture["driver"] = json!(driver.map(|holder| json!({ "pid": holder.map(|it| it.pid) })));
    picture
}
