//! Those who follow the engine's events: the editor that it lives in, and the clients of a driver process.
//!
//! Each has a queue of its own, so that a slow one delays nobody. Who comes late gets what still counts first: the open
//! questions, and the newest picture of each active run.

use super::queue::Queue;
use crate::driver::Delivery;
use crate::sync::locked;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Names a follower, for as long as the engine lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FollowerId(u64);

impl FollowerId {
    /// A number of this follower's, different from the same number of others.
    pub fn apart(self, number: u64) -> u64 {
        self.0 << 40 | (number & ((1 << 40) - 1))
    }
}

#[derive(Debug, Default)]
pub struct Followers {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    all: Vec<Follower>,
    /// Questions that are open, by id.
    questions: BTreeMap<String, Arc<str>>,
    /// What Lua was asked, and which follower it was put to, by id.
    for_lua: BTreeMap<String, (FollowerId, Arc<str>)>,
    /// Messages for the next editor, from a time without one.
    unsaid: Vec<Arc<str>>,
    next: u64,
    /// Counts uses, to know who was used last.
    uses: u64,
}

#[derive(Debug)]
struct Follower {
    id: FollowerId,
    queue: Arc<Queue>,
    /// Whether it is an editor, which can be asked for what Lua decides.
    lua: bool,
    /// Whether it has a user, whom it can call.
    has_user: bool,
    used: u64,
}

/// An event with the key under which a newer one replaces it.
pub type Keyed = (String, Arc<str>);

impl Followers {
    /// Adds a follower. `pictures` returns the newest picture of each active run; it is called while nothing is published.
    pub fn follow(&self, queue: Arc<Queue>, lua: bool, pictures: impl FnOnce() -> Vec<Keyed>) -> FollowerId {
        let mut inner = locked(&self.inner);
        for (key, event) in pictures() {
            queue.push_text(Some(&key), event);
        }
        for question in inner.questions.values() {
            queue.push_text(None, question.clone());
        }
        if lua {
            inner.unsaid.drain(..).for_each(|message| queue.push_text(None, message));
        }
        inner.next += 1;
        inner.uses += 1;
        let (id, used) = (FollowerId(inner.next), inner.uses);
        inner.all.push(Follower { id, queue, lua, has_user: lua, used });
        id
    }

    /// Removes a follower. What Lua was asked there is asked in another editor; returns the ids of the questions for which
    /// there is none.
    pub fn leave(&self, id: FollowerId) -> Vec<String> {
        let mut inner = locked(&self.inner);
        inner.all.retain(|follower| follower.id != id);
        let (open, others): (BTreeMap<_, _>, BTreeMap<_, _>) =
            std::mem::take(&mut inner.for_lua).into_iter().partition(|(_, (put_to, _))| *put_to == id);
        inner.for_lua = others;
        open.into_iter().filter_map(|(id, (_, event))| (!inner.ask_lua(&id, event)).then_some(id)).collect()
    }

    /// Notes that Lua has answered.
    pub fn answered(&self, id: &str) {
        locked(&self.inner).for_lua.remove(id);
    }

    /// Notes that somebody uses this one now.
    pub fn used(&self, id: FollowerId) {
        let mut inner = locked(&self.inner);
        inner.uses += 1;
        let uses = inner.uses;
        if let Some(follower) = inner.all.iter_mut().find(|follower| follower.id == id) {
            follower.used = uses;
        }
    }

    /// Whether there is an editor that Lua could be asked in.
    pub fn has_lua(&self) -> bool {
        locked(&self.inner).all.iter().any(|follower| follower.lua)
    }

    /// Notes whether an editor has a user; a headless one has none.
    pub fn set_user(&self, id: FollowerId, has_user: bool) {
        if let Some(follower) = locked(&self.inner).all.iter_mut().find(|follower| follower.id == id) {
            follower.has_user = follower.lua && has_user;
        }
    }

    /// Sends an event that calls the user to one editor, the one that was used last; false where no user is.
    pub fn call_user(&self, event: impl FnOnce() -> Arc<str>) -> bool {
        let inner = locked(&self.inner);
        let newest = inner.all.iter().filter(|it| it.has_user).max_by_key(|it| it.used);
        newest.inspect(|editor| editor.queue.push_text(None, event())).is_some()
    }

    /// Sends a message to everybody who follows; where that is no editor, the next one gets it.
    pub fn tell(&self, message: Arc<str>) {
        self.publish(Delivery::Everyone, message.clone());
        let mut inner = locked(&self.inner);
        if !inner.all.iter().any(|it| it.lua) {
            inner.unsaid.push(message);
        }
    }

    pub fn publish(&self, delivery: Delivery<'_>, event: Arc<str>) {
        let mut inner = locked(&self.inner);
        let key = match delivery {
            Delivery::Newest(key) => Some(key),
            Delivery::Question(id) => {
                inner.questions.insert(id.to_owned(), event.clone());
                None
            }
            Delivery::Settled(id) => {
                inner.questions.remove(id);
                None
            }
            Delivery::Everyone => None,
            Delivery::Lua(id) => {
                inner.ask_lua(id, event);
                return;
            }
        };
        if let Some((last, others)) = inner.all.split_last() {
            others.iter().for_each(|it| it.queue.push_text(key, event.clone()));
            last.queue.push_text(key, event);
        }
    }
}

impl Inner {
    /// Asks in the editor that was used last; false where there is none.
    fn ask_lua(&mut self, id: &str, event: Arc<str>) -> bool {
        let newest = self.all.iter().filter(|it| it.lua).max_by_key(|it| it.used);
        let Some(editor) = newest else { return false };
        editor.queue.push_text(None, event.clone());
        self.for_lua.insert(id.to_owned(), (editor.id, event));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn polled(queue: &Queue) -> Vec<String> {
        queue.poll(100).iter().map(|event| event.to_string()).collect()
    }

    fn queues() -> (Followers, Arc<Queue>, Arc<Queue>) {
        (Followers::default(), Arc::default(), Arc::default())
    }

    #[test]
    fn who_comes_late_gets_the_open_questions_and_the_picture_first() {
        let (followers, early, late) = queues();
        followers.follow(early.clone(), true, Vec::new);
        followers.publish(Delivery::Question("a"), "ask a".into());
        followers.publish(Delivery::Question("b"), "ask b".into());
        followers.publish(Delivery::Settled("a"), "settled a".into());
        followers.follow(late.clone(), true, || vec![("run".into(), "picture".into())]);
        followers.publish(Delivery::Everyone, "log".into());
        assert_eq!(polled(&early), ["ask a", "ask b", "settled a", "log"]);
        assert_eq!(polled(&late), ["picture", "ask b", "log"]);
    }

    #[test]
    fn lua_is_asked_in_the_editor_that_was_used_last() {
        let (followers, first, second) = queues();
        assert!(!followers.has_lua());
        followers.follow(Arc::default(), false, Vec::new);
        assert!(!followers.has_lua(), "a command line has no Lua");
        let one = followers.follow(first.clone(), true, Vec::new);
        let two = followers.follow(second.clone(), true, Vec::new);
        followers.publish(Delivery::Lua("a"), "to the newest".into());
        followers.used(one);
        followers.publish(Delivery::Lua("b"), "to the used one".into());
        followers.answered("b");
        assert!(followers.leave(one).is_empty());
        followers.publish(Delivery::Lua("c"), "to the one that is left".into());
        followers.answered("a");
        assert_eq!(followers.leave(two), ["c"]);
        followers.publish(Delivery::Lua("d"), "to nobody".into());
        assert_eq!(polled(&first), ["to the used one"]);
        assert_eq!(polled(&second), ["to the newest", "to the one that is left"]);
    }

    #[test]
    fn what_an_editor_leaves_without_an_answer_is_asked_in_another_one() {
        let (followers, first, second) = queues();
        followers.follow(second.clone(), true, Vec::new);
        let one = followers.follow(first.clone(), true, Vec::new);
        followers.publish(Delivery::Lua("a"), "a".into());
        followers.publish(Delivery::Lua("b"), "b".into());
        followers.answered("a");
        assert!(followers.leave(one).is_empty());
        assert_eq!((polled(&first), polled(&second)), (vec!["a".into(), "b".into()], vec!["b".into()]));
    }

    #[test]
    fn the_user_is_called_in_one_editor_that_has_a_user() {
        let (followers, first, second) = queues();
        followers.follow(Arc::default(), false, Vec::new);
        assert!(!followers.call_user(|| "to nobody".into()), "a command line calls nobody");
        let one = followers.follow(first.clone(), true, Vec::new);
        let two = followers.follow(second.clone(), true, Vec::new);
        assert!(followers.call_user(|| "to the newest".into()));
        followers.used(one);
        assert!(followers.call_user(|| "to the used one".into()));
        followers.set_user(one, false);
        assert!(followers.call_user(|| "not to a headless one".into()));
        followers.set_user(two, false);
        assert!(!followers.call_user(|| "to nobody".into()));
        assert_eq!(polled(&first), ["to the used one"]);
        assert_eq!(polled(&second), ["to the newest", "not to a headless one"]);
    }

    #[test]
    fn a_message_without_an_editor_is_said_once_to_the_next_one() {
        let (followers, first, second) = queues();
        let command = Arc::<Queue>::default();
        followers.follow(command.clone(), false, Vec::new);
        followers.tell("it failed".into());
        followers.follow(first.clone(), true, Vec::new);
        followers.follow(second.clone(), true, Vec::new);
        followers.tell("again".into());
        assert_eq!(polled(&command), ["it failed", "again"]);
        assert_eq!(polled(&first), ["it failed", "again"]);
        assert_eq!(polled(&second), ["again"]);
    }
}
