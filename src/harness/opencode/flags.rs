//! Translates the user's arguments, which are those of `opencode run`, to what the server offers.

use serde_json::{Value, json};

/// The argument that chooses a single run without a server.
const RUN: &str = "run";

/// The user's arguments, as the server needs them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Whether everything is allowed.
    pub auto: bool,
    /// The provider and the model.
    pub model: Option<(String, String)>,
    pub variant: Option<String>,
    /// Arguments that the server accepts too.
    pub own: Vec<String>,
}

impl Flags {
    /// Reads the arguments, and returns them for `opencode run`. If the server has no equivalent for one, the result is an
    /// error with a note (`None` if the user chose `run`).
    pub fn read(args: Vec<String>) -> (Result<Self, Option<String>>, Vec<String>) {
        if args.first().is_some_and(|arg| arg == RUN) {
            return (Err(None), args[1..].to_vec());
        }
        let mut flags = Self::default();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let (name, given) = match arg.split_once('=') {
                Some((name, value)) if arg.starts_with("--") => (name, Some(value.to_owned())),
                _ => (arg.as_str(), None),
            };
            let mut value = || given.clone().or_else(|| rest.next().cloned());
            let known = match name {
                "--auto" => {
                    flags.auto = true;
                    true
                }
                "--model" | "-m" => {
                    flags.model = value().and_then(|value| {
                        value.split_once('/').map(|(provider, model)| (provider.to_owned(), model.to_owned()))
                    });
                    flags.model.is_some()
                }
                "--variant" => {
                    flags.variant = value();
                    flags.variant.is_some()
                }
                "--print-logs" | "--pure" => {
                    flags.own.push(arg.clone());
                    true
                }
                "--log-level" => {
                    flags.own.push(name.to_owned());
                    flags.own.extend(value());
                    true
                }
                _ => false,
            };
            if !known {
                let what = match name {
                    "--model" | "-m" => "needs PROVIDER/MODEL",
                    "--variant" => "needs a value",
                    _ => "is an option of `opencode run` only",
                };
                let why = format!("\"{arg}\" {what}: running OpenCode once, without asking for permissions");
                return (Err(Some(why)), args);
            }
        }
        (Ok(flags), args)
    }

    /// Adds them to the body of a prompt request.
    pub fn add_to(&self, body: &mut Value, command: bool) {
        if let Some((provider, model)) = &self.model {
            body["model"] = if command {
                json!(format!("{provider}/{model}"))
            } else {
                json!({"providerID": provider, "modelID": model})
            };
        }
        if let Some(variant) = &self.variant {
            body["variant"] = json!(variant);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(args: &[&str]) -> (Result<Flags, Option<String>>, Vec<String>) {
        Flags::read(args.iter().map(|&arg| arg.to_owned()).collect())
    }

    #[test]
    fn arguments_that_the_server_knows_are_translated() {
        let flags = read(&["--auto", "-m", "a/b/c", "--variant=high", "--log-level", "DEBUG"]).0.unwrap();
        assert!(flags.auto);
        let mut body = json!({});
        flags.add_to(&mut body, false);
        assert_eq!(body, json!({"model": {"providerID": "a", "modelID": "b/c"}, "variant": "high"}));
        flags.add_to(&mut body, true);
        assert_eq!(body["model"], "a/b/c");
        assert_eq!(flags.own, ["--log-level", "DEBUG"]);
    }

    #[test]
    fn other_arguments_choose_a_single_run_with_a_note() {
        let (why, args) = read(&["--auto", "--thinking"]);
        assert!(why.unwrap_err().unwrap().starts_with("\"--thinking\" is an option"));
        assert_eq!(args, ["--auto", "--thinking"]);
        assert_eq!(read(&["run", "--auto"]), (Err(None), vec!["--auto".to_owned()]));
    }
}
