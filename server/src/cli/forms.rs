//! Go's flag syntax, which OPA's commands accept: `--flag=false`, `-f=value`, empty values, repeated flags.

use std::borrow::Cow;

use clap::{Arg, ArgAction, Command};
use solon::bundle::{LoadError, file_path};

/// Returns the command, and every command below it, with flags that accept OPA's forms:
///
/// - a boolean flag takes a value after `=`.
/// - a flag that takes one value may be repeated, and the last value is used.
/// - the argument after a flag that takes a value is its value, even if it begins with a hyphen.
pub fn with_forms(command: Command) -> Command {
    command
        .args_override_self(true)
        .mut_args(with_form)
        .mut_subcommands(with_forms)
}

fn with_form(arg: Arg) -> Arg {
    if arg.is_positional() {
        return arg;
    }
    let is_unset = arg.get_default_values().is_empty();
    match arg.get_action() {
        ArgAction::SetTrue => arg
            .action(ArgAction::Set)
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .hide_default_value(true)
            .value_name("BOOL")
            .value_parser(boolean)
            .default_value(if is_unset { "false" } else { "true" }),
        ArgAction::Set | ArgAction::Append => arg.allow_hyphen_values(true),
        _ => arg,
    }
}

/// Parses a boolean as Go's `strconv.ParseBool` does.
fn boolean(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err("expected `true` or `false`".to_owned()),
    }
}

/// Returns the value of a flag, or `None` if the flag is absent or empty: `--input=` is equal to no `--input`.
pub fn given(value: Option<&str>) -> Option<&str> {
    value.filter(|value| !value.is_empty())
}

/// Returns the path of a file or folder that is given as a path or as a `file` URL.
pub fn path(argument: &str) -> Result<Cow<'_, str>, LoadError> {
    Ok(file_path(argument)?)
}

#[cfg(test)]
mod tests {
    use clap::{Arg, ArgAction, Command};

    use super::with_forms;

    fn command() -> Command {
        let switch = |name: &'static str, short| {
            Arg::new(name)
                .long(name)
                .short(short)
                .action(ArgAction::SetTrue)
        };
        let run = Command::new("run")
            .arg(switch("all", 'a'))
            .arg(switch("bare", 'b'))
            .arg(Arg::new("one").long("one").short('o'))
            .arg(
                Arg::new("many")
                    .long("many")
                    .short('m')
                    .action(ArgAction::Append),
            )
            .arg(Arg::new("rest").action(ArgAction::Append));
        with_forms(Command::new("test").subcommand(run))
    }

    /// Returns the parsed arguments: the two booleans, the single value, the repeated ones, and the positional arguments.
    fn read(line: &str) -> Result<String, String> {
        let arguments = ["test", "run"].into_iter().chain(line.split_whitespace());
        let matches = command().try_get_matches_from(arguments);
        let mut matches = matches.map_err(|error| error.kind().to_string())?;
        let (_, mut run) = matches.remove_subcommand().unwrap();
        let mut all = |name| {
            let values = run.remove_many::<String>(name);
            let values: Vec<String> = values.into_iter().flatten().collect();
            values.join("+")
        };
        let (single, several, rest) = (all("one"), all("many"), all("rest"));
        let switches = ["all", "bare"].map(|name| u8::from(run.get_flag(name)));
        let [all, bare] = switches;
        Ok(format!("{all}{bare} {single};{several};{rest}"))
    }

    #[test]
    fn flags_take_the_forms_of_opa() {
        for (line, expected) in [
            ("", "00 ;;"),
            ("--all", "10 ;;"),
            ("--all=true x", "10 ;;x"),
            ("--all=1", "10 ;;"),
            ("--all=t --bare=T", "11 ;;"),
            ("--all=TRUE --bare=True", "11 ;;"),
            ("--all=false --bare=0", "00 ;;"),
            ("--all=f --bare=F", "00 ;;"),
            ("--all=FALSE --bare=False", "00 ;;"),
            ("--all true", "10 ;;true"),
            ("--all --all=false", "00 ;;"),
            ("--all=false --all", "10 ;;"),
            ("-a", "10 ;;"),
            ("-ab", "11 ;;"),
            ("-aa", "10 ;;"),
            ("-a=false", "00 ;;"),
            ("-ba=false", "01 ;;"),
            ("-a x", "10 ;;x"),
            ("-abo x", "11 x;;"),
            ("-abox", "11 x;;"),
            ("-abo=x", "11 x;;"),
            ("--one=x", "00 x;;"),
            ("--one x --one=y", "00 y;;"),
            ("--one=", "00 ;;"),
            ("--one -a", "00 -a;;"),
            ("--one --all", "00 --all;;"),
            ("-o -1", "00 -1;;"),
            ("-m x -my --many=z", "00 ;x+y+z;"),
            ("-m -a", "00 ;-a;"),
            ("x -a y", "10 ;;x+y"),
            ("-- -a", "00 ;;-a"),
        ] {
            assert_eq!(read(line), Ok(expected.to_owned()), "{line}");
        }
        for line in [
            "--all=",
            "--all=x",
            "--all=yes",
            "-a=",
            "-atrue",
            "-all",
            "--al",
            "--one",
            "-o",
            "-x",
        ] {
            assert!(read(line).is_err(), "{line}: {:?}", read(line));
        }
    }
}
