//! Endless output of an agent: verbs are still performed at once, and memory is bounded.

use super::alone::alone;
use super::claude::PRELUDE;
use crate::world::World;
use serde_json::json;
use std::time::{Duration, Instant};

/// Scripts that print different kinds of output for a minute; they block when nothing reads them.
const FLOODS: &[(&str, &str)] = &[
    ("calls that are never closed", "tool('t%d' % i, 'Bash', command='x')"),
    ("calls that are closed", "tool('t%d' % i, 'Edit', file_path='a%d.md' % i); result_of('t%d' % i)"),
    ("to-do lists", "tool('t%d' % i, 'TodoWrite', todos=[{'content': 'x' * 1000, 'status': 'pending'}] * 5)"),
    (
        "text",
        "send(type='stream_event', event={'type': 'content_block_delta', 'delta': {'type': 'text_delta', 'text': 'word ' * 100}})",
    ),
    ("lines that cannot be read", "print('{\"type\":\"user\", nothing}')"),
    (
        "questions of its own",
        "send(type='control_request', request_id='r%d' % i, request={'subtype': 'can_use_tool', 'tool_name': 'AskUserQuestion', 'input': {'questions': 'x' * 1000}, 'tool_use_id': 't%d' % i})",
    ),
    (
        "refusals",
        "send(type='system', subtype='permission_denied', tool_name='Bash', tool_use_id='t%d' % i, message='no')",
    ),
    (
        "permissions",
        "send(type='control_request', request_id='r%d' % i, request={'subtype': 'can_use_tool', 'tool_name': 'Bash', 'input': {'command': 'x' * 1000}, 'tool_use_id': 't%d' % i})",
    ),
];

/// Resident memory of this process, in MiB.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}

fn flooded(name: &str, body: &str) {
    let world = World::new();
    let pid = world.path("pid");
    world.write(
        "bin/claude",
        &format!(
            "{PRELUDE}\nsys.stdout = open(1, 'w', buffering=1 << 16)\ndef print(text, **_): sys.stdout.write(text + '\\n')\nif True:\n    m = recv(); __builtins__.print(json.dumps({{'type': 'control_response', 'response': {{'subtype': 'success', 'request_id': m['request_id'], 'response': {{'agents': [{{'name': 'a'}}], 'commands': []}}}}}}), flush=True); recv()\nopen({pid:?}, 'w').write(str(os.getpid()))\nuntil = time.time() + 60\ni = 0\nwhile time.time() < until:\n    i += 1\n    {body}\n"
        ),
    );
    world.executable("bin/claude");
    world.configure(
        json!({ "harness": "claude", "harnesses": { "claude": { "cmd": [world.path("bin/claude")] } } }),
    );
    world.declare("one", "stages:\n  - {agent: a}\n");
    let before = memory();
    world.run("one", json!({}));
    world.until("the flood", |_| world.path("pid").exists());
    std::thread::sleep(Duration::from_secs(2));
    let since = Instant::now();
    world.ok("cancel", json!({}));
    let picture = world.settled();
    let took = since.elapsed();
    assert_eq!(picture["state"], "cancelled", "{name}");
    let pid = std::fs::read_to_string(pid).unwrap();
    world.until("the agent's end", |_| !std::path::Path::new("/proc").join(pid.trim()).exists());
    // The limit is two seconds; the machine may be busy with other tests.
    assert!(took < Duration::from_secs(6), "{name}: cancel took {took:?}");
    let grown = memory().saturating_sub(before);
    assert!(grown < 150, "{name}: {grown} MiB more");
}

#[test]
fn cancel_is_quick_during_a_flood_and_memory_is_bounded() {
    alone("flood::cancel_is_quick_during_a_flood_and_memory_is_bounded", &[], || {
        for (name, body) in FLOODS {
            flooded(name, body);
        }
    });
}
