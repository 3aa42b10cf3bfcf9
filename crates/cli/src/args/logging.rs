//! The options about logs, for every verb, and Istio's and Kyma's spelling of them, which charts and scripts use.
//! An option counts more than the environment; a variable that is wrong is wrong usage, told with its name.

use crate::{
    failure::{Hint, Usage},
    logging::{BadFilter, Filter, Form, Settings},
};
use clap::{Args, ValueEnum};

const LEVEL: &str = "MIZZEN_LOG";
const FORMAT: &str = "MIZZEN_LOG_FORMAT";

#[derive(Args)]
#[group(skip)]
#[command(next_help_heading = "Logs, on standard error")]
pub(crate) struct Typed {
    /// What to log: error, warn, info, debug, trace or off, also per target: `info,mizzen_xds=debug` [default:
    /// info] [env: MIZZEN_LOG]
    #[arg(long, global = true, value_name = "FILTER", value_parser = Filter::read)]
    log_level: Option<Filter>,

    /// How to log: text or json [default: text] [env: MIZZEN_LOG_FORMAT]
    #[arg(long, global = true, value_name = "FORMAT", hide_possible_values = true)]
    log_format: Option<Word>,

    /// Istio's `--log-level`
    #[arg(long = "log_output_level", global = true, hide = true, value_name = "SCOPE:LEVEL,…")]
    #[arg(value_parser = Filter::read_istio, conflicts_with = "log_level")]
    log_output_level: Option<Filter>,

    /// Istio's `--log-format json`
    #[arg(
        long = "log_as_json",
        global = true,
        hide = true,
        value_name = "BOOL",
        conflicts_with = "log_format"
    )]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    log_as_json: Option<bool>,

    /// Kyma's `--log-level`
    #[arg(long = "zap-log-level", global = true, hide = true, value_name = "LEVEL")]
    #[arg(value_parser = Filter::read_zap, conflicts_with_all = ["log_level", "log_output_level"])]
    zap_log_level: Option<Filter>,

    /// Kyma's `--log-format`
    #[arg(long = "zap-encoder", global = true, hide = true, value_name = "ENCODER")]
    #[arg(conflicts_with_all = ["log_format", "log_as_json"])]
    zap_encoder: Option<Encoder>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Encoder {
    Console,
    Json,
}

#[derive(Clone, Copy, ValueEnum)]
enum Word {
    Text,
    Json,
}

impl From<Word> for Form {
    fn from(word: Word) -> Self {
        match word {
            Word::Text => Self::Text,
            Word::Json => Self::Json,
        }
    }
}

impl Typed {
    /// `environment` answers with the value of a variable; an empty one counts as not set.
    pub(crate) fn meant(self, environment: impl Fn(&str) -> Option<String>) -> anyhow::Result<Settings> {
        let variable = |name: &str| environment(name).filter(|value| !value.is_empty());
        let filter = match self.log_level.or(self.log_output_level).or(self.zap_log_level) {
            Some(filter) => filter,
            None => variable(LEVEL)
                .map(|text| Filter::read(&text).map_err(|error| wrong(LEVEL, &text, &error)))
                .transpose()?
                .unwrap_or_default(),
        };
        let as_json = self.log_as_json.map(|json| if json { Form::Json } else { Form::Text });
        let encoder = self.zap_encoder.map(|encoder| match encoder {
            Encoder::Console => Form::Text,
            Encoder::Json => Form::Json,
        });
        let form = match self.log_format.map(Form::from).or(as_json).or(encoder) {
            Some(form) => form,
            None => variable(FORMAT).map(|text| form_named(&text)).transpose()?.unwrap_or_default(),
        };
        Ok(Settings { filter, form })
    }
}

fn wrong(variable: &str, text: &str, error: &BadFilter) -> anyhow::Error {
    Usage(format!("invalid value '{text}' in the environment variable {variable}: {error}"))
        .hint("unset it, or give --log-level")
}

fn form_named(text: &str) -> anyhow::Result<Form> {
    Word::from_str(text, false).map(Form::from).map_err(|_| {
        Usage(format!("invalid value '{text}' in the environment variable {FORMAT}"))
            .hint("it is `text` or `json`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Command, FromArgMatches};

    fn meant(words: &str, environment: &[(&str, &str)]) -> anyhow::Result<Settings> {
        let command = Typed::augment_args(Command::new("test").no_binary_name(true));
        let typed = Typed::from_arg_matches(&command.try_get_matches_from(words.split_whitespace())?)?;
        typed.meant(|name| {
            environment.iter().find(|(variable, _)| *variable == name).map(|(_, value)| (*value).to_string())
        })
    }

    fn filter(text: &str) -> Filter {
        Filter::read(text).unwrap()
    }

    #[test]
    fn options_count_more_than_the_environment_and_that_more_than_the_default() {
        let environment = [(LEVEL, "warn"), (FORMAT, "json")];
        let all = |words, environment| meant(words, environment).unwrap();
        assert_eq!(all("", &[]), Settings { filter: filter("info"), form: Form::Text });
        assert_eq!(all("", &[(LEVEL, ""), (FORMAT, "")]), all("", &[]));
        assert_eq!(all("", &environment), Settings { filter: filter("warn"), form: Form::Json });
        let given = Settings { filter: filter("debug"), form: Form::Text };
        assert_eq!(all("--log-level debug --log-format text", &environment), given);
        assert_eq!(all("--log_output_level default:debug --log_as_json=false", &environment), given);
        assert_eq!(all("--log_as_json", &[]).form, Form::Json);
        assert_eq!(all("--zap-log-level debug --zap-encoder console", &environment), given);
        assert_eq!(all("--zap-log-level=1 --zap-encoder=console", &environment), given);
        assert!(meant("--zap-log-level loud", &[]).is_err());
    }

    #[test]
    fn a_wrong_variable_is_named_unless_an_option_replaces_it() {
        let environment = [(LEVEL, "loud")];
        let error = meant("", &environment).unwrap_err();
        assert!(error.to_string().contains("MIZZEN_LOG:"), "{error}");
        assert!(error.chain().any(|cause| cause.is::<Usage>()));
        assert!(meant("--log-level warn", &environment).is_ok());
        assert!(meant("", &[(FORMAT, "xml")]).unwrap_err().to_string().contains(FORMAT));
    }

    #[test]
    fn both_spellings_at_once_are_refused() {
        assert!(meant("--log-level warn --log_output_level info", &[]).is_err());
        assert!(meant("--log-format text --log_as_json", &[]).is_err());
    }
}
