//! The SDKs that this program carries, with real interpreters.

use std::{path::Path, sync::Arc, time::Duration};

use riverrun_contract::Provider;
use riverrun_providers::{Language, RunnerOptions, Runners};
use serde_json::{Value, json};

use crate::harness::{invocation, invocation_with, is_alive, until, within};

struct Sdk {
    runners: Runners,
    language: Language,
    _folder: tempfile::TempDir,
}

impl Sdk {
    fn new(language: Language) -> Self {
        Self::with(language, |_| ())
    }

    fn with(language: Language, change: impl FnOnce(&mut RunnerOptions)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut options = RunnerOptions {
            sdk_folder: folder.path().to_owned(),
            ..RunnerOptions::default()
        };
        change(&mut options);
        Self {
            runners: Runners::new(language, options),
            language,
            _folder: folder,
        }
    }

    /// A module that every SDK is tested with.
    fn file(&self, name: &str) -> String {
        let (folder, ending) = match self.language {
            Language::Node => ("typescript", "mjs"),
            Language::Python => ("python", "py"),
        };
        let fixtures =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdks/conformance/fixtures");
        let file = fixtures.join(folder).join(format!("{name}.{ending}"));
        file.canonicalize().unwrap().to_str().unwrap().to_owned()
    }

    fn provider(&self, name: &str) -> Arc<dyn Provider> {
        self.runners.provider(&self.file(name), None, 1)
    }

    async fn value(&self, name: &str, input: Value) -> Value {
        let asked = invocation(input);
        let reply = within(self.provider(name).invoke(asked.invocation))
            .await
            .unwrap();
        reply.value.map_or(Value::Null, |value| value.value())
    }

    async fn works(self) {
        let loaded = within(self.runners.load(&self.file("described"), 1))
            .await
            .unwrap();
        assert_eq!(
            loaded.processes[0]
                .config
                .get("concurrency")
                .unwrap()
                .as_str(),
            "2"
        );
        assert_eq!(
            self.value("echo", json!({"a": [1, "ü"]})).await,
            json!({"a": [1, "ü"]})
        );
        assert_eq!(self.value("nothing", json!(1)).await, Value::Null);

        let throws = self.provider("throws");
        let error = within(throws.invoke(invocation(Value::Null).invocation))
            .await
            .unwrap_err();
        assert_eq!(
            (error.code.as_str(), error.message.as_str()),
            ("CARD_DECLINED", "card declined")
        );

        let refused = self.value("state_refused", Value::Null).await;
        assert_eq!(refused["code"], "STATE_INVALID");

        let asked = invocation(Value::Null);
        let unawaited = self.provider("unawaited");
        assert!(within(unawaited.invoke(asked.invocation)).await.is_ok());
        let order = asked.host.asked.lock().clone().into_iter();
        let order = order.map(|(method, asked)| match method.as_str() {
            "emit" => (asked["data"]["n"].clone(), "emit"),
            _ => (asked["value"].clone(), "set"),
        });
        let expected = (1..=20).flat_map(|n| [(json!(n), "emit"), (json!(n), "set")]);
        assert!(order.eq(expected), "{:?}", asked.host.asked.lock());

        let asked = invocation(Value::Null);
        let logs = within(self.provider("logs").invoke(asked.invocation)).await;
        assert!(logs.is_ok());
        assert_eq!(asked.host.logs().len(), 4);

        let unknown = within(self.runners.load("/nowhere/at/all.py", 1))
            .await
            .unwrap_err();
        assert_eq!(unknown.code, "MODULE_ERROR");
        assert_eq!(within(self.runners.drain(Duration::from_secs(5))).await, 0);
    }
}

#[tokio::test]
async fn the_node_sdk_works() {
    Sdk::new(Language::Node).works().await;
}

#[tokio::test]
async fn the_python_sdk_works() {
    Sdk::new(Language::Python).works().await;
}

#[tokio::test]
async fn time_is_over_in_both_languages() {
    for language in [Language::Node, Language::Python] {
        let sdk = Sdk::new(language);
        let waits = sdk.provider("cancel_obeyed");
        let late = invocation_with(Value::Null, |invoke| invoke.timeout_ms = Some(100));
        let error = within(waits.invoke(late.invocation)).await.unwrap_err();
        assert_eq!(error.code, "TIMEOUT");
    }
}

#[tokio::test]
async fn a_runner_that_is_stopped_is_ended_and_replaced_in_both_languages() {
    let node = "export default (input) => {
        if (input === 'freeze') process.kill(process.pid, 'SIGSTOP')
        return input === 'pid' ? process.pid : new Promise(() => {})
    }";
    let python = "import os, signal, time
def handler(input, ctx):
    if input == 'pid':
        return os.getpid()
    if input == 'freeze':
        os.kill(os.getpid(), signal.SIGSTOP)
    ctx.signal.wait()
";
    let folder = tempfile::tempdir().unwrap();
    for (language, name, code) in [
        (Language::Node, "freezes.mjs", node),
        (Language::Python, "freezes.py", python),
    ] {
        let file = folder.path().join(name);
        std::fs::write(&file, code).unwrap();
        let sdk = Sdk::with(language, |options| {
            options.silent = Some(Duration::from_secs(2));
            options.term_grace = Duration::from_millis(100);
        });
        let provider = sdk.runners.provider(file.to_str().unwrap(), None, 1);
        let run = |input: &str| {
            let asked = invocation_with(json!(input), |invoke| {
                invoke.timeout_ms = Some(3_600_000);
            });
            within(provider.invoke(asked.invocation))
        };
        let pid = async || run("pid").await.unwrap().value.unwrap().value().to_string();
        let first = pid().await;
        let (beside, frozen) = tokio::join!(run("wait"), run("freeze"));
        // The cause is unknown: each of the two is run again in a child of its own.
        for ended in [beside, frozen] {
            let error = ended.unwrap_err();
            assert_eq!(error.code, "RUNNER_ENDED", "{name}");
            assert!(
                error.message.contains("a signal had stopped it"),
                "{}",
                error.message
            );
        }
        assert_eq!(run("freeze").await.unwrap_err().code, "WORKER_LOST");
        // Its time is over long before it is known to say nothing.
        let asked = invocation_with(json!("freeze"), |invoke| invoke.timeout_ms = Some(100));
        let late = within(provider.invoke(asked.invocation)).await;
        assert_eq!(late.unwrap_err().code, "WORKER_LOST", "{name}");
        assert_ne!(pid().await, first, "{name}");
        until(|| !is_alive(&first)).await;
    }
}
