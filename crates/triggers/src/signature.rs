//! Signatures of requests: HMAC-SHA256 over the body, and over a timestamp if one is sent.

use data_encoding::{BASE64, HEXLOWER_PERMISSIVE};
use hmac::{Hmac, KeyInit, Mac};
use riverrun_types::{Millis, time};
use serde::Deserialize;
use sha2::Sha256;

use crate::{Error, Result};

/// How far a signed time may be from now where the trigger does not say.
const TOLERANCE_MS: u64 = 300_000;

const MIN_SECRET_BYTES: usize = 8;

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Config {
    header: String,
    secret: Option<String>,
    /// The environment variable that holds the secret.
    secret_env: Option<String>,
    #[serde(default)]
    algorithm: Algorithm,
    #[serde(default)]
    encoding: Encoding,
    /// What stands before the signature: `sha256=`.
    #[serde(default)]
    prefix: String,
    timestamp_header: Option<String>,
    #[serde(default = "tolerance")]
    tolerance_ms: u64,
    /// What is signed: `${body}`, or with a time `${timestamp}.${body}`.
    signed: Option<String>,
}

fn tolerance() -> u64 {
    TOLERANCE_MS
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Algorithm {
    #[default]
    Sha256,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Encoding {
    #[default]
    Hex,
    Base64,
}

/// Checks signatures.
pub(crate) struct Signature {
    pub header: String,
    key: Hmac<Sha256>,
    encoding: Encoding,
    prefix: String,
    timestamp: Option<(String, Millis)>,
    /// What is signed before the body, and after it; `${timestamp}` is in the first.
    around: (String, String),
}

impl Signature {
    /// `environment` looks up a variable.
    pub fn new(config: Config, environment: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let refuse = |field: &str, message: &str| {
            Err(Error::invalid(format!("config.signature.{field}"), message))
        };
        let Algorithm::Sha256 = config.algorithm;
        let secret = match (&config.secret, &config.secret_env) {
            (Some(secret), None) => secret.clone(),
            (None, Some(name)) => match environment(name) {
                Some(secret) if secret.len() >= MIN_SECRET_BYTES => secret,
                Some(_) => {
                    let message =
                        format!("{name} has no {MIN_SECRET_BYTES} bytes, as a secret has");
                    return Err(Error::Secret(message));
                }
                None => {
                    let message = format!("the server's environment has no {name}");
                    return Err(Error::Secret(message));
                }
            },
            _ => return refuse("secret", "give either secret or secretEnv"),
        };
        if secret.len() < MIN_SECRET_BYTES {
            let message = format!("a secret has at least {MIN_SECRET_BYTES} bytes");
            return refuse("secret", &message);
        }
        let Ok(key) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else {
            return refuse("secret", "it cannot be used");
        };
        let plain = match config.timestamp_header {
            Some(_) => "${timestamp}.${body}",
            None => "${body}",
        };
        let signed = config.signed.as_deref().unwrap_or(plain);
        let Some((before, after)) = signed.split_once("${body}") else {
            return refuse("signed", "the body must be signed: ${body}");
        };
        let has_time = before.contains("${timestamp}");
        if has_time != config.timestamp_header.is_some() || after.contains("${timestamp}") {
            return refuse(
                "signed",
                "${timestamp} and timestampHeader need each other, and ${timestamp} comes before the body",
            );
        }
        for (field, name) in [
            ("header", Some(&config.header)),
            ("timestampHeader", config.timestamp_header.as_ref()),
        ] {
            if name.is_some_and(|name| !is_header(name)) {
                return refuse(field, "no header has such a name");
            }
        }
        let tolerance_ms = Millis::try_from(config.tolerance_ms).unwrap_or(Millis::MAX);
        let timestamp = config
            .timestamp_header
            .map(|name| (name.to_ascii_lowercase(), tolerance_ms));
        Ok(Self {
            header: config.header.to_ascii_lowercase(),
            key,
            encoding: config.encoding,
            prefix: config.prefix,
            timestamp,
            around: (before.to_owned(), after.to_owned()),
        })
    }

    /// Whether a request is from somebody who knows the secret. Takes as long for every signature
    /// that is wrong.
    pub fn check<'a>(
        &self,
        header: impl Fn(&str) -> Option<&'a str>,
        body: &[u8],
        now_ms: Millis,
    ) -> Result<()> {
        let refuse = |why| Err(Error::Signature(why));
        let Some(given) = header(&self.header) else {
            return refuse("the request is not signed");
        };
        let Some(given) = given.trim().strip_prefix(self.prefix.as_str()) else {
            return refuse("the signature does not begin as it should");
        };
        let decoded = match self.encoding {
            Encoding::Hex => HEXLOWER_PERMISSIVE.decode(given.as_bytes()),
            Encoding::Base64 => BASE64.decode(given.as_bytes()),
        };
        let Ok(decoded) = decoded else {
            return refuse("the signature cannot be read");
        };
        let mut time = "";
        if let Some((name, tolerance_ms)) = &self.timestamp {
            time = match header(name) {
                Some(time) => time.trim(),
                None => return refuse("the request has no time"),
            };
            let Some(ms) = read_time(time) else {
                return refuse("the time of the request cannot be read");
            };
            if now_ms.abs_diff(ms) > tolerance_ms.unsigned_abs() {
                return refuse("the request is too old, or of a time to come");
            }
        }
        let mut mac = self.key.clone();
        mac.update(self.around.0.replace("${timestamp}", time).as_bytes());
        mac.update(body);
        mac.update(self.around.1.as_bytes());
        match mac.verify_slice(&decoded) {
            Ok(()) => Ok(()),
            Err(_) => refuse("the signature is wrong"),
        }
    }
}

/// Whether a request can have a header of this name.
fn is_header(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !name.is_empty() && name.chars().all(is_part)
}

/// Seconds or milliseconds since 1970, or ISO 8601.
fn read_time(text: &str) -> Option<Millis> {
    const SECONDS_END: Millis = 100_000_000_000;
    match time::parse(text)? {
        seconds if text.parse::<i64>().is_ok() && seconds.abs() < SECONDS_END => {
            seconds.checked_mul(1_000)
        }
        ms => Some(ms),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const NOW: Millis = 1_700_000_000_000;

    fn new(config: Value) -> Result<Signature> {
        let config = serde_json::from_value(config).unwrap();
        Signature::new(config, |name| {
            (name == "HOOK").then(|| "It's a Secret to Everybody".to_owned())
        })
    }

    fn check(config: Value, headers: &[(&str, &str)], body: &str, refused: Option<&str>) {
        let signature = new(config).unwrap();
        let header = |name: &str| {
            let found = headers.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| *value)
        };
        let refusal = signature.check(header, body.as_bytes(), NOW).err();
        assert_eq!(refusal.map(|error| error.to_string()).as_deref(), refused);
    }

    #[test]
    fn a_known_signature_is_right() {
        // The example in a well-known forge's documentation of its webhooks.
        let hex = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        let config =
            json!({"header": "X-Hub-Signature-256", "secretEnv": "HOOK", "prefix": "sha256="});
        let signed = format!("sha256={hex}");
        let name = "x-hub-signature-256";
        check(config.clone(), &[(name, &signed)], "Hello, World!", None);
        check(
            config.clone(),
            &[(name, &signed.to_uppercase().replace("SHA256", "sha256"))],
            "Hello, World!",
            None,
        );
        check(
            config.clone(),
            &[(name, &signed)],
            "Hello, World",
            Some("the signature is wrong"),
        );
        check(
            config.clone(),
            &[(name, hex)],
            "Hello, World!",
            Some("the signature does not begin as it should"),
        );
        check(
            config.clone(),
            &[(name, "sha256=zz")],
            "x",
            Some("the signature cannot be read"),
        );
        check(
            config.clone(),
            &[(name, "sha256=")],
            "x",
            Some("the signature is wrong"),
        );
        check(config, &[], "x", Some("the request is not signed"));
    }

    #[test]
    fn a_signed_time_is_near() {
        let config = json!({
            "header": "s", "secret": "12345678", "encoding": "base64", "timestampHeader": "T",
            "toleranceMs": 5_000, "signed": "v0:${timestamp}:${body}",
        });
        let sign = |time: &str| {
            let mut mac = Hmac::<Sha256>::new_from_slice(b"12345678").unwrap();
            mac.update(format!("v0:{time}:{{}}").as_bytes());
            BASE64.encode(&mac.finalize().into_bytes())
        };
        let old = Some("the request is too old, or of a time to come");
        for (time, refused) in [
            ("1700000000", None),
            ("1700000005", None),
            ("1699999995", None),
            ("1700000006", old),
            ("1699999994", old),
            ("1700000000123", None),
            ("2023-11-14T22:13:20Z", None),
            ("soon", Some("the time of the request cannot be read")),
        ] {
            check(
                config.clone(),
                &[("s", &sign(time)), ("t", time)],
                "{}",
                refused,
            );
        }
        check(
            config.clone(),
            &[("s", &sign("1700000000")), ("t", "1700000001")],
            "{}",
            Some("the signature is wrong"),
        );
        check(
            config,
            &[("s", &sign("1"))],
            "{}",
            Some("the request has no time"),
        );
    }

    #[test]
    fn what_cannot_be_checked_is_refused() {
        for config in [
            json!({"header": "s"}),
            json!({"header": "s", "secret": "12345678", "secretEnv": "HOOK"}),
            json!({"header": "s", "secretEnv": "NOBODY"}),
            json!({"header": "s", "secret": "short"}),
            json!({"header": "bad header", "secret": "12345678"}),
            json!({"header": "", "secret": "12345678"}),
            json!({"header": "s", "secret": "12345678", "timestampHeader": "a:b"}),
            json!({"header": "s", "secret": "12345678", "signed": "x"}),
            json!({"header": "s", "secret": "12345678", "timestampHeader": "t", "signed": "${body}"}),
            json!({"header": "s", "secret": "12345678", "signed": "${timestamp}.${body}"}),
        ] {
            let refused = new(config.clone()).err();
            assert_eq!(
                refused.map(|error| error.code().as_str()),
                Some("TRIGGER_INVALID"),
                "{config}"
            );
        }
    }
}
