//! Unusual behaviour of OpenCode's server: HTTP, events, timing.

use super::opencode_server::{notes, play, run};
use superpower::harness::*;
use superpower::outcome::Outcome;

#[test]
fn unusual_but_valid_http_is_read() {
    let script = r#"
def cut(data): return [data[at:at + 1] for at in range(len(data))] if len(data) < 400 else (data[:401], data[401:])
def chunk(piece): return b"0%X;name=\"a\"\r\n%s\r\n" % (len(piece), piece)
def work(body):
    events.put('{}\r\n: a comment\r\nevent: message\r\nid: 7\r\nretry: 10\r\n')
    say("Grüße, 世界 🦀 " * 40); done("Ende – gut 🦀")
"#;
    let ending = run(script).1;
    assert_eq!(
        (ending.outcome, ending.message.as_str()),
        (Outcome::Passed, "Ende – gut 🦀"),
        "{}",
        ending.tail
    );
}

#[test]
fn a_connection_closed_after_each_response_works() {
    let script = "def finish(self): self.close_connection = True\nHandler.reply_ = Handler.reply\ndef reply(self, *more): self.reply_(*more); self.close_connection = True\nHandler.reply = reply\ndef work(body): ask(); replies.get(); done()";
    for _ in 0..5 {
        let played = play(script, |_, _| {});
        played.running.answer(&played.asked().id, Answer::Once);
        assert_eq!(played.ended().1.outcome, Outcome::Passed);
    }
}

#[test]
fn an_error_without_a_session_does_not_end_ours() {
    let script = r#"
def work(body):
    status("busy")
    events.put({"type": "session.error", "properties": {"error": {"name": "UnknownError", "data": {"message": "Failed to parse skill /x/SKILL.md"}}}})
    time.sleep(4); done()
"#;
    assert_eq!(run(script).1.outcome, Outcome::Passed);
    let alone = "def work(body):\n    events.put({'type': 'session.error', 'properties': {'error': {'name': 'UnknownError', 'data': {'message': 'Failed to parse skill'}}}}); status('idle'); send('session.idle')";
    let Outcome::Failed { why } = run(alone).1.outcome else { panic!("no failure") };
    assert!(why.contains("Failed to parse skill"), "{why}");
}

#[test]
fn an_error_that_the_session_survives_does_not_end_it() {
    let script = r#"
def work(body):
    say("much"); send("session.error", error={"name": "ContextOverflowError", "data": {"message": "too long"}})
    time.sleep(0.5); status("busy"); time.sleep(3); done()
"#;
    assert_eq!(run(script).1.outcome, Outcome::Passed);
    let told = "def work(body): send('session.error', error={'name': 'ContextOverflowError', 'data': {'message': 'input exceeds the token limit of 8192'}}); status('idle'); send('session.idle')";
    let outcome = run(told).1.outcome;
    assert!(matches!(&outcome, Outcome::Failed { why } if why.contains("token limit")), "{outcome:?}");
}

/// As the real server does: both calls ask before one is denied, the first denial cancels the other request too, and an
/// answer to that one gets a 404.
#[test]
fn a_denial_that_cancels_other_calls_does_not_end_the_session() {
    let script = r#"
turns, asked, first = 0, threading.Event(), threading.Lock()
def do_POST(self):
    if not self.path.startswith("/permission/"): return post(self)
    body = json.loads(self.rfile.read(int(self.headers["content-length"])))
    self.note(body); asked.wait()
    if not first.acquire(blocking=False): return self.reply({"name": "NotFoundError"}, 404)
    self.reply(True)
    send("permission.replied", requestID=self.path.split("/")[2], reply="reject")
    send("permission.replied", requestID="per_2", reply="reject"); rest("tool-calls")
post = Handler.do_POST; Handler.do_POST = do_POST
def work(body):
    global turns
    turns += 1
    if turns > 1: return done(body["parts"][0]["text"])
    say("I ask."); ask(id="per_1"); ask(id="per_2"); asked.set()
"#;
    let played = play(script, |_, _| {});
    played.running.answer(&played.asked().id, Answer::Deny { reason: "not this".to_owned() });
    let ending = played.ended().1;
    assert_eq!(ending.outcome, Outcome::Passed, "{}", ending.tail);
    assert_eq!(played.posted("/session/ses_1/prompt_async").len(), 2);
    let played = play(script, |launch, _| launch.interactive = false);
    let nobody = played.ended().1;
    assert_eq!(played.posted("/session/ses_1/prompt_async").len(), 2);
    assert_eq!((nobody.outcome, nobody.refusals.len()), (Outcome::Passed, 1), "{}", nobody.tail);
}

#[test]
fn a_server_that_answers_with_a_page_is_not_used() {
    let page = "def do_GET(self):\n    if self.path == '/event': return get(self)\n    data = b'<!doctype html><title>OpenCode</title>'; self.send_response(200); self.send_header('content-length', str(len(data))); self.end_headers(); self.wfile.write(data)\nget = Handler.do_GET; Handler.do_GET = do_GET";
    let said = notes(&run(page).0);
    assert!(
        said.contains("cannot use OpenCode's server (this release does not ask for a password"),
        "{said}"
    );
    let locked = page.replace("if self.path == '/event'", "if self.path in ('/event', '/permission')");
    let said = notes(&run(&locked).0);
    assert!(said.contains("cannot use OpenCode's server (unexpected response to \"agents\")"), "{said}");
}

#[test]
fn a_release_without_permission_replies_is_run_once() {
    for status in ["404", "200", "500"] {
        let old = format!(
            "def do_GET(self):\n    if self.path == '/permission': return self.reply([], {status})\n    get(self)\nget = Handler.do_GET; Handler.do_GET = do_GET"
        );
        let said = notes(&run(&old).0);
        assert!(
            said.contains("cannot use OpenCode's server (this release does not ask for a password"),
            "{said}"
        );
    }
}

#[test]
fn a_reply_that_does_not_arrive_does_not_wait_forever() {
    let script = "def do_POST(self):\n    if self.path.startswith('/permission/'): self.note(); return self.reply({}, 500)\n    post(self)\npost = Handler.do_POST; Handler.do_POST = do_POST\ndef work(body): say('hm'); tool('running', input={}); ask(); time.sleep(600)";
    let played = play(script, |_, _| {});
    played.running.answer(&played.asked().id, Answer::Once);
    let outcome = played.ended().1.outcome;
    assert!(matches!(&outcome, Outcome::Transient { why } if why.contains("500")), "{outcome:?}");
}

#[test]
fn the_port_is_found_in_a_decorated_line() {
    for line in [
        "opencode server listening on http://127.0.0.1:{port}/",
        "\\x1b[1m> opencode server listening on http://127.0.0.1:{port}\\x1b[0m",
        "12:00 INFO listening on http://127.0.0.1:{port} (press ctrl-c to stop)",
    ] {
        let script = format!(
            "def print(*_, **__): port = server.server_address[1]; sys.stdout.write(f\"{line}\\n\"); sys.stdout.flush()\ndef serve():\n    global server\n    server = ThreadingHTTPServer(('127.0.0.1', 0), Handler); server.daemon_threads = True; print(); server.serve_forever()\ndef work(body): done()"
        );
        assert_eq!(run(&script).1.outcome, Outcome::Passed, "{line}");
    }
}

#[test]
fn pruned_and_subagent_parts_are_not_shown_as_ours() {
    let script = r#"
def work(body):
    say("I look."); tool("running", call="t1", name="todowrite", input={"todos": [{"content": "new", "status": "pending"}]})
    tool("completed", call="t1", name="todowrite", input={"todos": [{"content": "new", "status": "pending"}]})
    tool("completed", call="t0", name="todowrite", input={"todos": [{"content": "old", "status": "pending"}]}, time={"start": 1, "end": 2, "compacted": 3})
    tool("running", call="t2", name="todowrite", session="ses_2", input={})
    tool("completed", call="t2", name="todowrite", session="ses_2", input={"todos": [{"content": "theirs", "status": "pending"}]})
    done()
"#;
    let (signals, ending) = run(script);
    assert_eq!(ending.outcome, Outcome::Passed);
    let lists: Vec<&str> = signals
        .iter()
        .filter_map(|signal| match signal {
            Signal::Progress(Progress::Todo { items }) => Some(items[0].text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(lists, ["new"]);
}

#[test]
fn a_subagents_long_wait_is_a_limit() {
    let script = "def work(body):\n    say('hm'); tool('running', call='call_task', name='task', input={}, metadata={'sessionId': 'ses_2'})\n    send('session.status', sessionID='ses_2', status={'type': 'retry', 'attempt': 1, 'message': 'Rate limit exceeded', 'next': int(time.time() * 1000) + 7200000})";
    let outcome = run(script).1.outcome;
    assert!(matches!(outcome, Outcome::Limited { until: Some(_), .. }), "{outcome:?}");
}

#[test]
fn a_question_reported_twice_is_asked_once() {
    let played = play("def work(body): ask(); ask(); replies.get(); done()", |_, _| {});
    played.running.answer(&played.asked().id, Answer::Once);
    let (signals, ending) = played.ended();
    assert_eq!(ending.outcome, Outcome::Passed);
    assert!(!signals.iter().any(|signal| matches!(signal, Signal::Asked(_))));
}

#[test]
fn commands_need_permission_unless_the_user_has_rules_for_them() {
    let rules = |users: &str, auto: bool| {
        let script =
            format!("rules = {users}\ndef work(body): done(os.environ.get('OPENCODE_PERMISSION', 'none'))");
        play(&script, |_, args| args.extend(auto.then(|| "--auto".to_owned()))).ended().1.message
    };
    assert_eq!(rules("{}", false), r#"{"bas?":"ask"}"#);
    assert_eq!(rules("{'edit': 'ask'}", false), r#"{"bas?":"ask"}"#);
    assert_eq!(rules("{'bash': {'git *': 'allow'}}", false), "none");
    assert_eq!(rules("{'*': 'allow'}", false), "none");
    assert_eq!(rules("{}", true), "none");
}

#[test]
fn an_answer_that_ends_early_says_why() {
    let outcome = run("def work(body): say('half of'); rest('length')").1.outcome;
    assert_eq!(outcome, Outcome::Failed { why: "the answer ended early (length)".to_owned() });
}

#[test]
fn an_unknown_price_is_not_zero() {
    let script = "def work(body): say('hm'); part('step-finish', reason='stop', cost=0, tokens={'input': 5}); status('idle')";
    let usage = run(script).1.usage;
    assert_eq!((usage.tokens, usage.cost), (Some(5), None));
}

#[test]
fn a_stop_during_a_restart_ends_the_launch() {
    let script = r#"
import signal
rules = {"bash": "allow"}
def leave(*_): open("leaving", "w").close(); time.sleep(0.3); os._exit(0)
signal.signal(signal.SIGTERM, leave)
def work(body): say("hm")
"#;
    let stops: [fn(&Running); 2] =
        [Running::stop, |running| running.kill_now(std::time::Duration::from_millis(300))];
    for stop in stops {
        let played = play(script, |_, _| {});
        let leaving = played.requests.with_file_name("leaving");
        while !leaving.exists() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        stop(&played.running);
        assert_eq!(played.ended().1.outcome, Outcome::Failed { why: "stopped".to_owned() });
        assert!(played.posted("/session").is_empty());
    }
}

#[test]
fn events_that_end_within_one_are_a_lost_connection() {
    let script = r#"
def cut(data):
    if b"half" in data: raise SystemExit
    return (data,)
def work(body): say("hm"); send("half")
"#;
    let outcome = run(script).1.outcome;
    assert!(
        matches!(&outcome, Outcome::Transient { why } if why.contains("lost the connection")),
        "{outcome:?}"
    );
}

#[test]
fn requests_during_a_stop_are_ignored() {
    let script = "def work(body): say('hm')\ndef abort(): ask(); time.sleep(0.5); status('idle')";
    let played = play(script, |_, _| {});
    played.until_text();
    played.running.stop();
    assert!(!played.ended().0.iter().any(|signal| matches!(signal, Signal::Asked(_))));
}

#[test]
fn responses_are_read_in_every_form_of_http() {
    let raw = |form: &str| {
        format!(
            "def reply(self, value, status=200):\n    data = b'' if value is None else json.dumps(value).encode()\n    head = b'HTTP/1.1 %d OK\\r\\n' % status\n    self.wfile.write({form}); self.wfile.flush(); self.close_connection = True\nHandler.reply = reply\ndef work(body): ask(); replies.get(); done()"
        )
    };
    for form in [
        r"b'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n' + head + b'content-length: %d\r\n\r\n%s' % (len(data), data)",
        r"head + b'connection: close\r\n\r\n' + data",
        r"(head + b'\r\n') if status == 204 else head + b'Transfer-Encoding: Chunked\r\n\r\n%x;x=y\r\n%s\r\n0\r\nx-trailer: 1\r\n\r\n' % (max(len(data), 1), data or b' ')",
        r"head.replace(b'1.1', b'1.0') + b'\r\n' + data",
        r"head + b'x-long: ' + b'y' * 6000 + b'\r\ncontent-length:   %d  \r\n\r\n%s' % (len(data), data)",
    ] {
        let played = play(&raw(form), |_, _| {});
        played.running.answer(&played.asked().id, Answer::Once);
        let ending = played.ended().1;
        assert_eq!(ending.outcome, Outcome::Passed, "{form}: {}", ending.tail);
    }
}

#[test]
fn a_server_that_answers_nonsense_is_not_used() {
    for form in [
        "b'nonsense\\r\\n\\r\\n'",
        "b'HTTP/1.1 302 Found\\r\\nlocation: http://127.0.0.1:9/\\r\\ncontent-length: 0\\r\\n\\r\\n'",
        "b''",
    ] {
        let script = format!(
            "def do_GET(self): self.wfile.write({form}); self.wfile.flush(); self.close_connection = True\nHandler.do_GET = do_GET"
        );
        let said = notes(&run(&script).0);
        assert!(said.contains("cannot use OpenCode's server ("), "{form}: {said}");
        assert!(
            !said.contains("password"),
            "what was not answered asks for no password, and is not without: {said}"
        );
    }
}

#[test]
fn the_session_is_found_in_the_messages_of_old_releases() {
    let script = r#"
put = events.put
def older(event):
    told = event["properties"]
    inner = told.get("part") or told.get("info") if event["type"] in ("message.updated", "message.part.updated") else None
    if inner: inner["sessionID"] = told.pop("sessionID")
    put(event)
events.put = older
def work(body): say("I look."); tool("running", input={}); tool("completed", input={}); done()
"#;
    let (signals, ending) = run(script);
    assert_eq!((ending.outcome, ending.message.as_str()), (Outcome::Passed, "All done."), "{}", ending.tail);
    assert!(
        signals.iter().any(|signal| matches!(signal, Signal::Progress(Progress::Tool { parent: None, .. })))
    );
}

#[test]
fn a_release_that_retries_endlessly_is_stopped() {
    let script = "def work(body):\n    for n in range(1, 99): status('retry', attempt=n, message='Too Many Requests', next=int(time.time() * 1000) + 50); time.sleep(0.05)";
    let outcome = run(script).1.outcome;
    assert!(matches!(outcome, Outcome::Limited { until: None, .. }), "{outcome:?}");
}

#[test]
fn a_turn_that_ends_with_a_cut_stream_is_retried() {
    let outcome = run("def work(body): say('half'); rest('unknown')").1.outcome;
    assert_eq!(outcome, Outcome::Transient { why: "the model's stream was cut".to_owned() });
}
