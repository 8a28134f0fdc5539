//! The host names that the server answers to. A DNS name of an attacker can resolve to this
//! machine. For the browser, a page of that name has the same origin as the server; only the name
//! in `Host` differs.

use riverrun_types::ErrorCode;
use std::net::IpAddr;

use axum::{extract::Request, http::header};

use crate::errors::ApiError;

/// The names that requests may be for.
#[derive(Clone, Debug, Default)]
pub struct Hosts {
    /// None lets every name pass.
    names: Option<Vec<String>>,
}

impl Hosts {
    /// Any name: for servers that others reach by names which they alone know.
    pub fn any() -> Self {
        Self::default()
    }

    /// The names of this machine for itself (`localhost`, `*.localhost`, loopback addresses) and
    /// these. `*.example.org` stands for every name below `example.org`.
    pub fn local_and(names: impl IntoIterator<Item = String>) -> Self {
        let names = names.into_iter().map(|name| name.to_ascii_lowercase());
        Self {
            names: Some(names.collect()),
        }
    }

    /// Whether a text can be one of the names: without scheme, port or path.
    pub fn is_name(text: &str) -> bool {
        let name = text.strip_prefix("*.").unwrap_or(text);
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let address = name.strip_prefix('[').and_then(|n| n.strip_suffix(']'));
        match address {
            Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
            None => !name.is_empty() && name.chars().all(plain),
        }
    }

    pub(crate) fn check(&self, request: &Request) -> Result<(), ApiError> {
        let Some(names) = &self.names else {
            return Ok(());
        };
        // What has no name at all comes from no browser.
        let headers = request.headers().get_all(header::HOST).iter();
        let given = headers.map(|host| host.to_str().unwrap_or("?"));
        let target = request.uri().authority().map(|name| name.as_str());
        match given.chain(target).find(|host| !allows(names, host)) {
            None => Ok(()),
            Some(host) => Err(refusal(host)),
        }
    }
}

fn refusal(host: &str) -> ApiError {
    let host: String = host.chars().take(64).collect();
    let message = format!(
        "this server does not answer under the name {host:?}: add it to allowed_hosts if it should"
    );
    ApiError::new(ErrorCode::ForbiddenHost, message)
}

fn allows(names: &[String], host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let host = without_port(&host).trim_end_matches('.');
    let below = |name: &str| host.strip_suffix(name).is_some_and(|h| h.ends_with('.'));
    is_local(host)
        || names.iter().any(|name| match name.strip_prefix("*.") {
            Some(name) => below(name),
            None => host == name,
        })
}

fn is_local(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.ends_with(".localhost")
        || address.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn without_port(host: &str) -> &str {
    let end = host.rfind(':').filter(|at| !host[*at..].contains(']'));
    let digits = |at: &usize| host[at + 1..].bytes().all(|b| b.is_ascii_digit());
    end.filter(digits).map_or(host, |at| &host[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_this_machine_and_those_that_were_given() {
        let names = ["flows.example.org", "*.lan", "[fd00::1]"].map(str::to_owned);
        for host in [
            "localhost",
            "LOCALHOST:4600",
            "a.localhost:1",
            "localhost.:80",
            "127.0.0.1:4600",
            "127.8.0.1",
            "[::1]:4600",
            "[::1]",
            "Flows.Example.org:443",
            "pi.lan",
            "[fd00::1]:80",
        ] {
            assert!(allows(&names, host), "{host}");
        }
        for host in [
            "",
            "?",
            "evil.example",
            "evil.example:4600",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "notlocalhost",
            "10.0.0.1",
            "lan",
            "evillan",
            "x.flows.example.org",
            "localhost:80@evil.example",
            "[::1].evil.example",
            "0.0.0.0",
        ] {
            assert!(!allows(&names, host), "{host}");
        }
    }

    #[test]
    fn what_is_a_name() {
        for name in ["a", "a.b-c_d", "*.lan", "10.0.0.1", "[::1]"] {
            assert!(Hosts::is_name(name), "{name}");
        }
        for name in [
            "", "*", "*.", "http://a", "a:80", "a/b", "a b", "::1", "[x]",
        ] {
            assert!(!Hosts::is_name(name), "{name}");
        }
    }
}
