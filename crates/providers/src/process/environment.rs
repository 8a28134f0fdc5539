//! Selects the environment variables of a child process: an allow list, never the server's whole
//! environment.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
};

/// Names that pass from the server's environment.
const PASSED: [&str; 9] = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR",
];
/// Beginnings of names that pass.
const PASSED_PREFIXES: [&str; 3] = ["LC_", "NODE_", "PYTHON"];

/// The variables of child processes.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// Names that pass from the server's environment besides the usual ones (`PATH`, `HOME`,
    /// `LANG`, `LC_*`, `TZ`, `TMPDIR`, `NODE_*`, `PYTHON*`, …). Default none. Names that begin with
    /// `RIVERRUN_` never pass: the server's secrets are among them.
    pub pass: Vec<String>,
    /// Variables with these values. Default none.
    pub set: BTreeMap<String, String>,
}

impl Environment {
    /// All that a child gets, out of what the server has.
    pub(crate) fn variables(
        &self,
        server: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> BTreeMap<OsString, OsString> {
        let passed = server.into_iter().filter(|(name, _)| self.passes(name));
        let set = self
            .set
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        passed.chain(set).collect()
    }

    fn passes(&self, name: &OsStr) -> bool {
        let Some(name) = name.to_str() else {
            return false;
        };
        !name.starts_with("RIVERRUN_")
            && (PASSED.contains(&name)
                || PASSED_PREFIXES
                    .iter()
                    .any(|prefix| name.starts_with(prefix))
                || self.pass.iter().any(|pass| pass == name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_named_passes_and_secrets_never() {
        let environment = Environment {
            pass: vec!["DATABASE_URL".to_owned(), "RIVERRUN_TOKEN".to_owned()],
            set: BTreeMap::from([("MODE".to_owned(), "test".to_owned())]),
        };
        let server = [
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("NODE_OPTIONS", "-x"),
            ("PYTHONPATH", "/p"),
            ("DATABASE_URL", "db"),
            ("RIVERRUN_TOKEN", "secret"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("MODE", "server"),
        ];
        let server = server.map(|(name, value)| (name.into(), value.into()));
        let variables = environment.variables(server);
        let names: Vec<&str> = variables.keys().filter_map(|name| name.to_str()).collect();
        assert_eq!(
            names,
            [
                "DATABASE_URL",
                "LC_ALL",
                "MODE",
                "NODE_OPTIONS",
                "PATH",
                "PYTHONPATH"
            ]
        );
        assert_eq!(variables[OsStr::new("MODE")], "test");
    }
}
