//! Where requests may go: to public addresses, and to others that the operator allows.
//!
//! A host name is checked by the address to which it resolves at the moment of connecting, so a
//! name that resolves to another address after the check (DNS rebinding) has no effect.

use std::{net::IpAddr, str::FromStr, sync::Arc};

use ipnet::IpNet;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use serde::{Deserialize, Deserializer};
use url::{Host, Url};

use super::address::is_public;

/// An exception from "public addresses only".
///
/// - `10.1.0.0/16`, `10.1.2.3`, `fd00::/8`: these addresses, whether a URL names them or a host
///   name resolves to them.
/// - `intranet.example`: this host at every port, whatever it resolves to.
/// - `intranet.example:8080`, `127.0.0.1:9000`, `[::1]:9000`: this host at this port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowRule {
    Net(IpNet),
    Host { host: Host, port: Option<u16> },
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no allow rule: use a network (10.1.0.0/16), an address, a host or host:port")]
pub struct InvalidAllowRule {
    text: String,
}

impl FromStr for AllowRule {
    type Err = InvalidAllowRule;

    fn from_str(text: &str) -> Result<Self, InvalidAllowRule> {
        let invalid = || InvalidAllowRule {
            text: text.to_owned(),
        };
        let trimmed = text.trim();
        if let Ok(net) = trimmed.parse::<IpNet>() {
            return Ok(Self::Net(net.trunc()));
        }
        if let Ok(address) = trimmed.parse::<IpAddr>() {
            return Ok(Self::Net(address.into()));
        }
        let (host, port) = match trimmed.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => {
                (host, Some(port.parse().map_err(|_| invalid())?))
            }
            _ => (trimmed, None),
        };
        // A star is a legal character of a host and would look like a wildcard.
        if host.is_empty() || host.contains('*') {
            return Err(invalid());
        }
        let host = Host::parse(host).map_err(|_| invalid())?;
        Ok(Self::Host { host, port })
    }
}

impl<'de> Deserialize<'de> for AllowRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Why a request is refused. Addresses are left out: they may be a secret of the network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Forbidden {
    #[error("only http and https URLs are requested, not {0}")]
    Scheme(String),
    #[error("the URL has a user name or password; put them in an Authorization header")]
    Credentials,
    #[error("the URL names no host")]
    NoHost,
    #[error("{0} is not a public address; the server's owner can allow it (http.allow)")]
    Address(String),
}

/// How to connect to a host that a rule has judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// Only to addresses that pass.
    Guarded,
    /// The host is allowed by its name, wherever it is.
    Trusted,
}

#[derive(Debug)]
pub(super) struct Guard {
    allow: Vec<AllowRule>,
}

impl Guard {
    pub fn new(allow: Vec<AllowRule>) -> Self {
        Self { allow }
    }

    /// Judges what is known without resolving.
    pub fn judge(&self, url: &Url) -> Result<Route, Forbidden> {
        check_form(url)?;
        let host = url.host().ok_or(Forbidden::NoHost)?;
        let port = url.port_or_known_default();
        if self.allows_host(&host, port) {
            return Ok(Route::Trusted);
        }
        let address = match host {
            Host::Domain(_) => return Ok(Route::Guarded),
            Host::Ipv4(address) => IpAddr::V4(address),
            Host::Ipv6(address) => IpAddr::V6(address),
        };
        if self.admits(address) {
            Ok(Route::Guarded)
        } else {
            Err(Forbidden::Address(host.to_string()))
        }
    }

    fn admits(&self, address: IpAddr) -> bool {
        let allowed = |rule: &AllowRule| match rule {
            AllowRule::Net(net) => net.contains(&address),
            AllowRule::Host { .. } => false,
        };
        is_public(address) || self.allow.iter().any(allowed)
    }

    fn allows_host(&self, host: &Host<&str>, port: Option<u16>) -> bool {
        self.allow.iter().any(|rule| match rule {
            AllowRule::Net(_) => false,
            AllowRule::Host {
                host: allowed,
                port: at,
            } => is_same(allowed, host) && (at.is_none() || *at == port),
        })
    }
}

/// What no rule can allow.
pub(super) fn check_form(url: &Url) -> Result<(), Forbidden> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(Forbidden::Scheme(url.scheme().to_owned()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Forbidden::Credentials);
    }
    Ok(())
}

fn is_same(allowed: &Host, host: &Host<&str>) -> bool {
    match (allowed, host) {
        // `example.com.` is `example.com`.
        (Host::Domain(a), Host::Domain(b)) => a
            .trim_end_matches('.')
            .eq_ignore_ascii_case(b.trim_end_matches('.')),
        (Host::Ipv4(a), Host::Ipv4(b)) => a == b,
        (Host::Ipv6(a), Host::Ipv6(b)) => a == b,
        _ => false,
    }
}

/// Resolves names to those of their addresses that pass; a name with none is forbidden.
pub(super) struct GuardedResolver(pub Arc<Guard>);

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = Arc::clone(&self.0);
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let passed: Vec<_> = found.filter(|found| guard.admits(found.ip())).collect();
            if passed.is_empty() {
                return Err(Forbidden::Address(name.as_str().to_owned()).into());
            }
            Ok(Box::new(passed.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(allow: &str) -> Guard {
        Guard::new(
            allow
                .split_whitespace()
                .map(|rule| rule.parse().unwrap())
                .collect(),
        )
    }

    fn check(allow: &str, url: &str, expected: Result<Route, &str>) {
        let judged = guard(allow).judge(&Url::parse(url).unwrap());
        let judged = judged.map_err(|forbidden| match forbidden {
            Forbidden::Scheme(_) => "scheme",
            Forbidden::Credentials => "credentials",
            Forbidden::NoHost => "host",
            Forbidden::Address(_) => "address",
        });
        assert_eq!(judged, expected, "{url}");
    }

    #[test]
    fn literal_addresses_in_every_spelling() {
        for url in [
            "http://127.0.0.1/",
            "http://127.1/",
            "http://2130706433/",
            "http://0x7f000001/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://017700000001/",
            "http://127.0.0.1./",
            "http://１２７.0.0.1/",
            "http://%31%32%37.0.0.1/",
            "http://0/",
            "http://[::1]/",
            "http://[::]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:7f00:1]/",
            "http://[0:0:0:0:0:ffff:169.254.169.254]/",
            "http://[64:ff9b::10.0.0.1]/",
            "http://[fe80::1]/",
            "http://169.254.169.254/latest/meta-data",
            "http://192.168.0.1:8080/",
            "https://10.0.0.1/",
            "http:\\\\10.0.0.1\\x",
        ] {
            check("", url, Err("address"));
        }
        check("", "https://1.1.1.1/", Ok(Route::Guarded));
        check("", "https://[2606:4700::1111]/", Ok(Route::Guarded));
        // Judged when it is resolved.
        check("", "http://localhost/", Ok(Route::Guarded));
    }

    #[test]
    fn schemes_and_credentials() {
        for url in [
            "file:///etc/passwd",
            "ftp://1.1.1.1/",
            "gopher://1.1.1.1/",
            "data:,x",
        ] {
            check("0.0.0.0/0", url, Err("scheme"));
        }
        for url in [
            "http://user@1.1.1.1/",
            "http://u:p@1.1.1.1/",
            "http://:p@1.1.1.1/",
        ] {
            check("", url, Err("credentials"));
        }
    }

    #[test]
    fn rules_open_exceptions() {
        check("127.0.0.0/8", "http://127.9.9.9/", Ok(Route::Guarded));
        check("127.0.0.0/8", "http://10.0.0.1/", Err("address"));
        check("127.0.0.0/8", "http://[::ffff:127.0.0.1]/", Err("address"));
        check("10.0.0.5", "http://10.0.0.5:99/", Ok(Route::Guarded));
        check("10.0.0.5", "http://10.0.0.6/", Err("address"));
        check("10.0.0.5:99", "http://10.0.0.5:99/", Ok(Route::Trusted));
        check("10.0.0.5:99", "http://10.0.0.5/", Err("address"));
        check("10.0.0.5:80", "http://10.0.0.5/", Ok(Route::Trusted));
        check("[::1]:443", "https://[::1]/", Ok(Route::Trusted));
        check("fd00::/8", "http://[fd12::1]/", Ok(Route::Guarded));
        check(
            "intra.example",
            "http://INTRA.example.:81/",
            Ok(Route::Trusted),
        );
        check(
            "intra.example:81",
            "http://intra.example/",
            Ok(Route::Guarded),
        );
        check(
            "intra.example",
            "http://x.intra.example/",
            Ok(Route::Guarded),
        );
    }

    #[test]
    fn rules_are_checked() {
        for text in [
            "",
            "*.example",
            "a:b",
            "a:99999",
            "10.0.0.0/33",
            "a b",
            ":80",
            "http://x",
        ] {
            assert!(text.parse::<AllowRule>().is_err(), "{text}");
        }
    }

    #[tokio::test]
    async fn names_are_judged_by_what_they_resolve_to() {
        let resolve = |allow: &str| {
            let resolver = GuardedResolver(Arc::new(guard(allow)));
            resolver.resolve("localhost".parse().unwrap())
        };
        let error = resolve("").await.err().unwrap();
        assert!(error.downcast_ref::<Forbidden>().is_some(), "{error}");
        let found = resolve("127.0.0.0/8 ::1").await.unwrap();
        assert!(found.count() > 0);
    }
}
