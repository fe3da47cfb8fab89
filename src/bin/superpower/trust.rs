//! What is asked about trust: at a terminal, and by the verb `trust`.

use crate::refused::Refused;
use crate::session::Session;
use crate::sheet;
use crate::words::Given;
use serde_json::{Value, json};
use std::io;

/// Whether a refusal asks about trust, and shows what would be driven.
pub fn is_question(refused: &Refused) -> bool {
    matches!(refused.code.as_str(), "untrusted" | "foreign-run") && refused.data["sheet"].is_object()
}

/// Shows what would be driven, asks, and keeps a yes. `fields` gets the answer that the verb needs then.
pub fn ask(session: &mut Session, refused: &Refused, fields: &mut Value) -> Result<(), Refused> {
    let data = &refused.data;
    let lines = sheet::lines(&data["sheet"]);
    session.out.said(&format!("{}\n\n", lines.join("\n")));
    if !yes(session) {
        return Err(Refused::new("given-up", "nothing was started"));
    }
    let name = data["sheet"]["superpower"].as_str().or(data["name"].as_str());
    session.ask("trust-grant", json!({ "name": name, "digest": data["digest"] }))?;
    if data["answer"] == "adopt" {
        let answer = match fields["answer"].as_str() {
            // A further question: both answers count.
            Some(given) if !given.split(',').any(|word| word == "adopt") => format!("{given},adopt"),
            _ => "adopt".to_owned(),
        };
        fields["answer"] = json!(answer);
    }
    Ok(())
}

/// Asks for a yes, which has to be typed. A signal is none.
fn yes(session: &mut Session) -> bool {
    session.out.said(
        "Its agents act with your rights. You are asked again when one of these files changes.\n\
         Trust these files and continue? [y/N] ",
    );
    if !session.signals.wait_readable(&io::stdin()) {
        session.out.said("\n");
        return false;
    }
    let mut answer = String::new();
    let read = io::stdin().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

/// The verb: prints the sheet with its digest; asks at a terminal, and elsewhere takes the digest.
pub fn trust(session: &mut Session, mut given: Given) -> Result<u8, Refused> {
    let digest = given.digest.take();
    let run_id = given.run_id()?;
    let which = if run_id.is_none() { given.name() } else { None };
    let mut fields = given.pairs()?;
    if let Some(key) = fields.keys().find(|key| !matches!(key.as_str(), "harness" | "answer")) {
        return Err(Refused::usage(format!(
            "trust takes a name or a run, harness=NAME and answer=…, got \"{key}=\""
        )));
    }
    match (run_id, which) {
        (Some(run_id), _) => fields.insert("run_id".into(), json!(run_id)),
        (None, Some(which)) => {
            let list = session.ask("list", json!({}))?;
            let named = list.as_array().is_some_and(|all| all.iter().any(|entry| entry["name"] == *which));
            let is_id =
                !named && session.ask("status", json!({ "run_id": which })).is_ok_and(|run| run.is_object());
            fields.insert(if is_id { "run_id" } else { "name" }.into(), json!(which))
        }
        (None, None) => return Err(Refused::usage("name a superpower or a run: superpower trust NAME")),
    };
    let asked = Value::Object(fields);
    let mut shown = session.ask("trust", asked.clone())?;
    let grant = |session: &mut Session, digest: &Value| {
        let mut fields = asked.clone();
        fields["digest"] = digest.clone();
        session.ask("trust-grant", fields)
    };
    if let Some(digest) = digest {
        grant(session, &json!(digest))?;
        shown["trusted"] = json!(true);
    }
    session.show(&shown, |shown| {
        let state = if shown["trusted"] == true { "trusted" } else { "not trusted" };
        let mut lines = sheet::lines(&shown["sheet"]);
        lines.extend([
            String::new(),
            format!("{state}; digest: {}", shown["digest"].as_str().unwrap_or_default()),
        ]);
        lines
    });
    if shown["trusted"] == true {
        return Ok(0);
    }
    if session.is_attended() {
        if !yes(session) {
            return Ok(crate::REFUSED);
        }
        return grant(session, &shown["digest"]).map(|_| 0);
    }
    if !session.json {
        session.out.say("agree at a terminal, or with --digest and the digest of what you have read");
    }
    Ok(crate::REFUSED)
}
