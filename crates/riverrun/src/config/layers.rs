//! Merges defaults, file, environment and flags, in this order; each value keeps its source.

use riverrun_types::ErrorCode;
use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    path::{Path, PathBuf},
};

use figment::{
    Figment, Metadata, Profile, Provider,
    providers::{Format, Serialized, Toml},
    value::{Dict, Map, Value},
};
use serde_json::Value as Json;

use super::{
    Config, check,
    keys::{Kind, check_keys, env_name, invalid, keys, known, leaves, unknown_key},
};
use crate::{
    failure::{Failure, Result},
    files,
};

const FILE: &str = "riverrun.toml";
const MAX_FILE_BYTES: usize = 1 << 20;
const PREFIX: &str = "RIVERRUN_";

/// Variables of ours that are no settings: for the commands, and for processes that we start.
const NO_SETTINGS: [&str; 6] = ["URL", "CONFIG", "JOB_ID", "HANDLER", "INPUT", "TOKEN"];

/// Where a value is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    Default,
    File(PathBuf),
    Env(String),
    Flag(String),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "file {}", path.display()),
            Self::Env(name) => write!(f, "env {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

/// What was given on the command line.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// The file to read instead of the project's own.
    pub file: Option<PathBuf>,
    /// The project's folder, with the name of the flag that gave it.
    pub project: Option<(PathBuf, String)>,
    /// Keys with their values as text, and the name of the flag.
    pub values: Vec<(String, String, String)>,
}

/// The configuration in effect.
#[derive(Clone, Debug)]
pub struct Settings {
    pub config: Config,
    pub sources: BTreeMap<String, Source>,
    /// The file that was read.
    pub file: Option<PathBuf>,
    /// What looks like a mistake and may be none.
    pub warnings: Vec<String>,
}

impl Settings {
    /// Every key with its value and where it is from, in the order of the fields.
    pub fn rows(&self) -> Vec<(String, Json, Source)> {
        let shown = serde_json::to_value(&self.config).unwrap_or_default();
        let source = |key: &str| self.sources.get(key).cloned().unwrap_or(Source::Default);
        leaves(&shown, &keys())
            .into_iter()
            .map(|(key, value)| {
                let source = source(&key);
                (key, value, source)
            })
            .collect()
    }
}

/// Puts the layers together. `env` is handed in so that tests need not change their own.
pub fn load(flags: &Flags, env: impl IntoIterator<Item = (String, String)>) -> Result<Settings> {
    let known = known();
    let env: HashMap<String, String> = env
        .into_iter()
        .filter_map(|(name, value)| Some((name.strip_prefix(PREFIX)?.to_owned(), value)))
        .collect();
    let mut layers = Layers {
        figment: Figment::from(Serialized::defaults(Config::default())),
        sources: HashMap::new(),
    };
    let file = find_file(flags, &env);
    if let Some(path) = &file {
        layers.file(path, &known)?;
    }
    let warnings = layers.environment(&env, &known)?;
    if let Some((folder, flag)) = &flags.project {
        let folder = Value::from(folder.display().to_string());
        layers.one("project", folder, Source::Flag(flag.clone()));
    }
    for (key, text, flag) in &flags.values {
        let source = Source::Flag(flag.clone());
        let kind = known
            .get(key)
            .ok_or_else(|| unknown_key(key, &known, &source))?;
        let value = kind
            .read(text)
            .map_err(|rule| invalid(key, &rule, &source))?;
        layers.one(key, value, source);
    }
    let settings = layers.finish(file, &known)?;
    Ok(Settings {
        warnings,
        ..settings
    })
}

/// `--config`, else the project's own file, else the one in the current folder.
fn find_file(flags: &Flags, env: &HashMap<String, String>) -> Option<PathBuf> {
    let named = flags
        .file
        .clone()
        .or_else(|| env.get("CONFIG").map(PathBuf::from));
    let project = flags.project.as_ref().map(|(folder, _)| folder.clone());
    let project = project.or_else(|| env.get("PROJECT").map(PathBuf::from));
    named.or_else(|| {
        let file = project.map_or_else(|| PathBuf::from(FILE), |folder| folder.join(FILE));
        file.exists().then_some(file)
    })
}

struct Layers {
    figment: Figment,
    /// The sources by the name under which figment knows them.
    sources: HashMap<String, Source>,
}

impl Layers {
    fn file(&mut self, path: &Path, known: &BTreeMap<String, Kind>) -> Result<()> {
        let source = Source::File(path.to_owned());
        let text = files::read_text("the configuration", path, MAX_FILE_BYTES)?;
        let read = Toml::string(&text).data().map_err(|error| {
            Failure::usage(
                ErrorCode::ConfigInvalid,
                format!("{} is not TOML", path.display()),
            )
            .note(error.to_string())
        })?;
        let dict = read
            .into_iter()
            .next()
            .map(|(_, dict)| dict)
            .unwrap_or_default();
        check_keys("", &dict, known, &source)?;
        self.merge(dict, source);
        Ok(())
    }

    /// Takes the variables of settings in, and says which others look as if they were meant.
    fn environment(
        &mut self,
        env: &HashMap<String, String>,
        known: &BTreeMap<String, Kind>,
    ) -> Result<Vec<String>> {
        for (key, kind) in known {
            let name = env_name(key);
            let Some(text) = env.get(&name) else { continue };
            let source = Source::Env(format!("{PREFIX}{name}"));
            let value = kind
                .read(text)
                .map_err(|rule| invalid(key, &rule, &source))?;
            self.one(key, value, source);
        }
        let names: Vec<String> = known.keys().map(|key| env_name(key)).collect();
        let is_unknown = |name: &&String| {
            !names.contains(name) && !NO_SETTINGS.contains(&name.as_str()) && !is_of_a_service(name)
        };
        let mut unknown: Vec<&String> = env.keys().filter(is_unknown).collect();
        unknown.sort();
        unknown.iter().map(|name| misspelt(name, &names)).collect()
    }

    fn one(&mut self, key: &str, value: Value, source: Source) {
        let dict = figment::util::nest(key, value)
            .into_dict()
            .unwrap_or_default();
        self.merge(dict, source);
    }

    fn merge(&mut self, dict: Dict, source: Source) {
        let name = source.to_string();
        self.sources.insert(name.clone(), source);
        let figment = std::mem::replace(&mut self.figment, Figment::new());
        self.figment = figment.merge(Layer { name, dict });
    }

    fn source(&self, key: &str) -> Source {
        self.figment
            .find_metadata(key)
            .and_then(|metadata| self.sources.get(metadata.name.as_ref()))
            .cloned()
            .unwrap_or(Source::Default)
    }

    fn finish(self, file: Option<PathBuf>, known: &BTreeMap<String, Kind>) -> Result<Settings> {
        let mut config: Config = self.figment.extract().map_err(|error| {
            let key = error.path.join(".");
            invalid(&key, &error.kind.to_string(), &self.source(&key))
        })?;
        let sources: BTreeMap<String, Source> = known
            .keys()
            .map(|key| (key.clone(), self.source(key)))
            .collect();
        resolve_paths(&mut config, &sources);
        check::check(&config).map_err(|(key, rule)| {
            let source = sources.get(key).cloned().unwrap_or(Source::Default);
            invalid(key, &rule, &source)
        })?;
        Ok(Settings {
            config,
            sources,
            file,
            warnings: Vec::new(),
        })
    }
}

/// Kubernetes makes such variables in every container for a service that is called riverrun.
fn is_of_a_service(name: &str) -> bool {
    let is_port = |rest: &str| rest.is_empty() || rest.starts_with('_');
    name == "SERVICE_HOST"
        || name.strip_prefix("SERVICE_PORT").is_some_and(is_port)
        || name.strip_prefix("PORT").is_some_and(is_port)
}

/// A slip of the pen is refused; what may be somebody else's is only spoken of.
fn misspelt(name: &str, names: &[String]) -> Result<String> {
    let near = |known: &&String| strsim::damerau_levenshtein(known, name) <= 2;
    if let Some(near) = names.iter().find(near) {
        let message = format!("{PREFIX}{name} is not a setting");
        return Err(Failure::usage(ErrorCode::ConfigUnknownKey, message)
            .note(format!("the nearest one is {PREFIX}{near}"))
            .next("riverrun config"));
    }
    let likeness = |known: &String| strsim::jaro_winkler(known, name);
    let nearest = names
        .iter()
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))
        .filter(|known| likeness(known) > 0.7);
    let meant = nearest.map(|known| format!("; did you mean {PREFIX}{known}?"));
    let meant = meant.unwrap_or_default();
    Ok(format!("{PREFIX}{name} is not a setting{meant}"))
}

/// Paths in a file are relative to the file; the default data folder lies in the project.
fn resolve_paths(config: &mut Config, sources: &BTreeMap<String, Source>) {
    let base = |key: &str| match sources.get(key) {
        Some(Source::File(file)) => file.parent().map(Path::to_owned),
        _ => None,
    };
    if let (Some(project), Some(base)) = (&config.project, base("project")) {
        config.project = Some(base.join(project));
    }
    let data_base = match sources.get("data") {
        Some(Source::Default) | None => config.project.clone(),
        _ => base("data"),
    };
    if let Some(base) = data_base {
        config.data = base.join(&config.data);
    }
}

/// One layer under the name of its source.
struct Layer {
    name: String,
    dict: Dict,
}

impl Provider for Layer {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.name.clone())
    }

    fn data(&self) -> std::result::Result<Map<Profile, Dict>, figment::Error> {
        Ok(Profile::Default.collect(self.dict.clone()))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::config::{Keep, LogFormat, Span};

    fn env(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect()
    }

    fn with_file(text: &str) -> (tempfile::TempDir, Flags) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), text).unwrap();
        let flags = Flags {
            project: Some((folder.path().to_owned(), "--project".to_owned())),
            ..Flags::default()
        };
        (folder, flags)
    }

    fn flag(key: &str, value: &str) -> (String, String, String) {
        (key.to_owned(), value.to_owned(), format!("--{key}"))
    }

    #[test]
    fn later_layers_win_and_every_value_knows_its_source() {
        let (folder, mut flags) = with_file(
            "listen = '127.0.0.1:1'\nlease = '10s'\nlog = 'warn'\n[retention]\ncompleted = '1d'\n[dev]\nrun = 'hello'\ninput = {name = 'Ada', n = 3}\n",
        );
        flags.values = vec![flag("listen", "127.0.0.1:3")];
        let env = env(&[
            ("RIVERRUN_LISTEN", "127.0.0.1:2"),
            ("RIVERRUN_LOG", "debug"),
            ("RIVERRUN_RETENTION_FAILED", "off"),
            ("RIVERRUN_HTTP_ALLOW", "10.0.0.0/8, localhost:80"),
            ("RIVERRUN_LIMITS_BODY_BYTES", "100"),
            ("RIVERRUN_URL", "http://elsewhere"),
            ("RIVERRUN_SERVICE_HOST", "10.1.1.1"),
            ("HOME", "/"),
        ]);
        let settings = load(&flags, env).unwrap();
        let (config, source) = (&settings.config, |key: &str| {
            settings.sources[key].to_string()
        });
        assert_eq!(config.listen, "127.0.0.1:3");
        assert_eq!(source("listen"), "flag --listen");
        assert_eq!(config.log, "debug");
        assert_eq!(source("log"), "env RIVERRUN_LOG");
        assert_eq!(config.lease, Span(Duration::from_secs(10)));
        assert!(source("lease").starts_with("file "));
        assert_eq!(
            config.retention.completed,
            Keep(Some(Duration::from_secs(86_400)))
        );
        assert_eq!(config.retention.failed, Keep(None));
        assert_eq!(source("retention.cancelled"), "default");
        assert_eq!(config.http.allow, ["10.0.0.0/8", "localhost:80"]);
        assert_eq!(config.limits.body_bytes, 100);
        assert_eq!(config.log_format, LogFormat::Text);
        assert_eq!(
            config.dev.input,
            Some(serde_json::json!({"name": "Ada", "n": 3}))
        );
        assert_eq!(config.data, folder.path().join(".riverrun"));
        assert!(
            settings
                .rows()
                .iter()
                .any(|(key, value, _)| key == "dev.input" && value.is_object())
        );
    }

    #[test]
    fn what_may_be_off_is_none() {
        let (_folder, flags) = with_file("[runners]\nsilent_timeout = 'off'");
        let config = load(&flags, []).unwrap().config;
        assert_eq!(config.process_settings().node.silent, None);
    }

    #[test]
    fn paths_in_a_file_are_relative_to_it_and_others_to_here() {
        let (folder, mut flags) = with_file("data = 'd'");
        assert_eq!(
            load(&flags, []).unwrap().config.data,
            folder.path().join("d")
        );
        flags.values = vec![flag("data", "here")];
        assert_eq!(load(&flags, []).unwrap().config.data, Path::new("here"));
    }

    fn refused(text: &str, vars: &[(&str, &str)], code: &str, says: &[&str]) {
        let (_folder, flags) = with_file(text);
        let failure = load(&flags, env(vars)).unwrap_err();
        let shown = failure.to_string();
        assert_eq!(failure.code, code, "{shown}");
        for part in says {
            assert!(shown.contains(part), "{part:?} is not in {shown}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_rule_and_value() {
        refused(
            "lisen = 'x'",
            &[],
            "CONFIG_UNKNOWN_KEY",
            &["\"lisen\"", "\"listen\"", "riverrun.toml"],
        );
        refused(
            "[retention]\ncomplete = '1d'",
            &[],
            "CONFIG_UNKNOWN_KEY",
            &["retention.completed"],
        );
        refused(
            "",
            &[("RIVERRUN_LISTEM", "x")],
            "CONFIG_UNKNOWN_KEY",
            &["RIVERRUN_LISTEN"],
        );
        refused(
            "lease = 30",
            &[],
            "CONFIG_INVALID",
            &["lease", "30 has no unit", "riverrun.toml"],
        );
        refused(
            "lease = 'x'",
            &[],
            "CONFIG_INVALID",
            &["lease", "\"x\" is not a duration"],
        );
        refused(
            "log_format = 'xml'",
            &[],
            "CONFIG_INVALID",
            &["log_format", "xml"],
        );
        refused(
            "retention = 1",
            &[],
            "CONFIG_INVALID",
            &["retention", "table"],
        );
        refused(
            "[runners]\nsilent_timeout = '10ms'",
            &[],
            "CONFIG_INVALID",
            &["runners.silent_timeout", "1s or more"],
        );
        refused(
            "max_drivers = 0",
            &[],
            "CONFIG_INVALID",
            &["max_drivers", "0"],
        );
        refused(
            "max_drivers = 9223372036854775807",
            &[],
            "CONFIG_INVALID",
            &["max_drivers", "1000000 or less"],
        );
        refused(
            "expr.threads = 100000",
            &[],
            "CONFIG_INVALID",
            &["expr.threads", "1024 or less"],
        );
        refused("listen = 'x'", &[], "CONFIG_INVALID", &["listen", "\"x\""]);
        for url in [
            "flows.example.org",
            "ftp://example.org",
            "https://me@example.org",
            "https://example.org?x=1",
        ] {
            refused(
                "",
                &[("RIVERRUN_PUBLIC_URL", url)],
                "CONFIG_INVALID",
                &["public_url", url],
            );
        }
        refused(
            "",
            &[("RIVERRUN_MAX_DRIVERS", "many")],
            "CONFIG_INVALID",
            &["max_drivers", "many", "env RIVERRUN_MAX_DRIVERS"],
        );
        refused("listen = ", &[], "CONFIG_INVALID", &["not TOML"]);
    }

    #[test]
    fn a_variable_that_is_no_setting_is_spoken_of() {
        let vars = env(&[
            ("RIVERRUN_BOGUS", "1"),
            ("RIVERRUN_MAX_DRIVER_COUNT", "1"),
            ("RIVERRUN_URL", "http://elsewhere"),
            ("RIVERRUN_SERVICE_HOST", "10.1.1.1"),
            ("RIVERRUN_SERVICE_PORT_HTTP", "4600"),
            ("RIVERRUN_PORT_4600_TCP_ADDR", "10.1.1.1"),
            ("RIVERRUNNER", "x"),
        ]);
        assert_eq!(
            load(&Flags::default(), vars).unwrap().warnings,
            [
                "RIVERRUN_BOGUS is not a setting",
                "RIVERRUN_MAX_DRIVER_COUNT is not a setting; did you mean RIVERRUN_MAX_DRIVERS?",
            ]
        );
    }

    #[test]
    fn a_file_that_was_named_must_be_there() {
        let flags = Flags {
            file: Some(PathBuf::from("/nowhere/riverrun.toml")),
            ..Flags::default()
        };
        assert_eq!(load(&flags, []).unwrap_err().code, "FILE_UNUSABLE");
    }
}
