//! The second process of the engine's tests: `test-child JOB [ARGUMENT...]`. `tests/engine/child.rs` starts it.

mod checkpoint;
mod connect;
mod crash;
mod launch;
mod nested;
mod programs;
mod race;
mod secrets;

// Modules of the tests, of which this program uses only parts.
#[allow(dead_code)]
#[path = "../engine/counted.rs"]
mod counted;
#[allow(dead_code)]
#[path = "../engine/launched.rs"]
mod launched;
#[allow(dead_code)]
#[path = "../engine/world.rs"]
mod world;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["checkpoint-hold", dir] => checkpoint::hold(dir),
        ["checkpoint-write", dir] => checkpoint::write(dir),
        ["connect", socket] => connect::reads_the_first_line(socket),
        ["crash", root, state] => crash::drives_to_the_end(root, state),
        ["drive", arguments @ ..] => {
            let arguments: Vec<std::ffi::OsString> = arguments.iter().map(Into::into).collect();
            std::process::exit(
                if superpower::server::driver::main(&arguments) == std::process::ExitCode::SUCCESS {
                    0
                } else {
                    1
                },
            );
        }
        ["launch", tool, folder, cmd @ ..] => launch::starts(tool, folder, cmd),
        ["nested", root] => nested::tries_to_decide(root),
        ["programs", root] => programs::looks_for_programs(root),
        ["race-decide", root, state] => race::decides(root, state),
        ["race-drive", root, state] => race::drives(root, state),
        ["secrets-hidden", verb, root, state] => secrets::hidden(verb, root, state),
        ["secrets-words", verb, root, state] => secrets::worded(verb, root, state),
        other => panic!("no such job: {other:?}"),
    }
}
