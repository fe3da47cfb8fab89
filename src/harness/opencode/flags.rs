//! The user's own arguments, which are those of `opencode run`: as the server is asked for the same.

use serde_json::{Value, json};

/// The argument that asks for one run, without a server.
const RUN: &str = "run";

/// What the user's arguments ask of the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Whatever it asks for is allowed.
    pub auto: bool,
    /// The provider and its model.
    pub model: Option<(String, String)>,
    /// The model's variant.
    pub variant: Option<String>,
    /// Arguments that the server has too.
    pub own: Vec<String>,
}

impl Flags {
    /// Reads the arguments, and gives those back that `opencode run` gets. Where the server has nothing for one of
    /// them, one run it is, with what is to be said of that.
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
                    _ => "is for `opencode run` only",
                };
                let why = format!("\"{arg}\" {what}: one run, without asking for permissions");
                return (Err(Some(why)), args);
            }
        }
        (Ok(flags), args)
    }

    /// Adds them to what is posted with a prompt.
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
    fn what_the_server_can_be_asked_for_is_asked_of_it() {
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
    fn what_only_one_run_has_is_one_run_and_said() {
        let (why, args) = read(&["--auto", "--thinking"]);
        assert!(why.unwrap_err().unwrap().starts_with("\"--thinking\" is for"));
        assert_eq!(args, ["--auto", "--thinking"]);
        assert_eq!(read(&["run", "--auto"]), (Err(None), vec!["--auto".to_owned()]));
    }
}
