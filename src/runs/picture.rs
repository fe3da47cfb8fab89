//! The snapshot of a run without a driver in this editor, for windows and the status line.

use super::open::Opened;
use super::unsound::unsound;
use crate::run::snapshot::snapshot;
use crate::store::lease;
use chrono::Utc;
use serde_json::{Value, json};
use std::path::Path;

/// Builds the snapshot. Without any driver it shows the run as interrupted; the record of that is written on resume.
pub fn picture(root: &Path, mut opened: Opened) -> Value {
    let driver = lease::holder(root);
    if !lease::drives(driver.as_ref(), &opened.run.run_id) {
        opened.interrupt();
    }
    let mut picture = snapshot(&opened.run, Utc::now());
    if let Some(unsound) = unsound(&opened) {
        let words = unsound.to_string();
        // Whatever the run was doing, it waits until the user decides what to do about this.
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
