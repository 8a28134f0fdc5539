//! Rules that the types cannot express. Each error names its key, the rule and the value.

use std::time::Duration;

use super::Config;

const MAX_DRIVERS: usize = riverrun::Options::MAX_DRIVERS;
const MAX_EXPR_THREADS: usize = 1_024;

/// More child processes than any machine has use for.
const MAX_RUNNERS: usize = 1_024;

type Check = Result<(), (&'static str, String)>;

pub fn check(config: &Config) -> Check {
    listen(&config.listen)?;
    at_least("lease", config.lease.0, Duration::from_secs(1))?;
    at_least(
        "worker_reconnect",
        config.worker_reconnect.0,
        Duration::from_millis(100),
    )?;
    at_least(
        "attempt_timeout",
        config.attempt_timeout.0,
        Duration::from_millis(1),
    )?;
    at_least("expr.time", config.expr.time.0, Duration::from_millis(1))?;
    let second = Duration::from_secs(1);
    at_least(
        "limits.request_timeout",
        config.limits.request_timeout.0,
        second,
    )?;
    at_least("limits.max_wait", config.limits.max_wait.0, second)?;
    at_least(
        "limits.stall_timeout",
        config.limits.stall_timeout.0,
        second,
    )?;
    at_least(
        "runners.load_timeout",
        config.runners.load_timeout.0,
        second,
    )?;
    if let Some(silent) = config.runners.silent_timeout.0 {
        at_least("runners.silent_timeout", silent, second)?;
    }
    positive("max_drivers", config.max_drivers)?;
    at_most("max_drivers", config.max_drivers, MAX_DRIVERS)?;
    positive("limits.body_bytes", config.limits.body_bytes)?;
    positive(
        "limits.bodies_total_bytes",
        config.limits.bodies_total_bytes,
    )?;
    positive("limits.live_reader_bytes", config.limits.live_reader_bytes)?;
    positive("limits.live_total_bytes", config.limits.live_total_bytes)?;
    positive("limits.flow_steps", config.limits.flow_steps)?;
    at_most(
        "limits.flow_steps",
        config.limits.flow_steps,
        riverrun::Options::MAX_FLOW_STEPS,
    )?;
    positive("expr.memory_bytes", config.expr.memory_bytes)?;
    positive("expr.output_bytes", config.expr.output_bytes)?;
    positive("expr.threads", config.expr.threads)?;
    positive("runners.node_processes", config.runners.node_processes)?;
    positive("runners.python_processes", config.runners.python_processes)?;
    at_most(
        "runners.node_processes",
        config.runners.node_processes,
        MAX_RUNNERS,
    )?;
    at_most(
        "runners.python_processes",
        config.runners.python_processes,
        MAX_RUNNERS,
    )?;
    at_most("expr.threads", config.expr.threads, MAX_EXPR_THREADS)?;
    let is_none = |name: &&String| !riverrun_api::Hosts::is_name(name);
    if let Some(name) = config.allowed_hosts.iter().find(is_none) {
        let rule = format!("must be names without scheme and port, not {name:?}");
        return Err(("allowed_hosts", rule));
    }
    if let Some(url) = &config.public_url {
        public_url(url)?;
    }
    for rule in &config.http.allow {
        let rule = rule.parse::<riverrun::AllowRule>();
        rule.map_err(|error| ("http.allow", error.to_string()))?;
    }
    log(&config.log)
}

fn listen(text: &str) -> Check {
    let port = text.rsplit_once(':').filter(|(host, _)| !host.is_empty());
    match port.map(|(_, port)| port.parse::<u16>()) {
        Some(Ok(_)) => Ok(()),
        _ => Err((
            "listen",
            format!("must be host:port, as in 127.0.0.1:4600, not {text:?}"),
        )),
    }
}

fn public_url(text: &str) -> Check {
    let read = url::Url::parse(text).ok();
    let is_plain = |url: &url::Url| {
        let is_web = matches!(url.scheme(), "http" | "https") && url.has_host();
        is_web && url.query().is_none() && url.fragment().is_none() && url.username().is_empty()
    };
    match read.filter(is_plain) {
        Some(_) => Ok(()),
        None => {
            let rule = format!(
                "must be an address such as https://flows.example.org, without user, query and fragment, not {text:?}"
            );
            Err(("public_url", rule))
        }
    }
}

fn log(filter: &str) -> Check {
    match tracing_subscriber::EnvFilter::builder().parse(filter) {
        Ok(_) => Ok(()),
        Err(error) => Err((
            "log",
            format!(
                "must be error, warn, info, debug, trace, off or a filter, not {filter:?}: {error}"
            ),
        )),
    }
}

fn at_least(key: &'static str, value: Duration, least: Duration) -> Check {
    if value >= least {
        return Ok(());
    }
    let show = super::show_duration;
    Err((
        key,
        format!("must be {} or more, not {}", show(least), show(value)),
    ))
}

fn positive(key: &'static str, value: usize) -> Check {
    match value {
        0 => Err((key, "must be 1 or more, not 0".to_owned())),
        _ => Ok(()),
    }
}

fn at_most(key: &'static str, value: usize, most: usize) -> Check {
    if value <= most {
        return Ok(());
    }
    Err((key, format!("must be {most} or less, not {value}")))
}
