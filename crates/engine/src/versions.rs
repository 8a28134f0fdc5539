//! Versions of a flow: the newest one and their order.

use std::{cmp::Ordering, collections::BTreeMap};

use riverrun_types::Name;

/// Semantic versions in their order (1.10.0 is newer than 1.9.0), a pre-release before its release.
/// Other texts are older than all semantic versions, in the order of their text.
pub fn compare_versions(a: &str, b: &str) -> Ordering {
    match (parse(a), parse(b)) {
        (Some(a_version), Some(b_version)) => a_version.cmp(&b_version).then_with(|| a.cmp(b)),
        (Some(_), None) => Ordering::Greater,
        (None, Some(_)) => Ordering::Less,
        (None, None) => a.cmp(b),
    }
}

/// `1` and `1.2` mean `1.0.0` and `1.2.0`.
fn parse(text: &str) -> Option<semver::Version> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let dots = text
        .split(['-', '+'])
        .next()
        .unwrap_or_default()
        .matches('.')
        .count();
    let plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    match dots {
        0 if plain => semver::Version::parse(&format!("{text}.0.0")).ok(),
        1 if plain => semver::Version::parse(&format!("{text}.0")).ok(),
        _ => semver::Version::parse(text).ok(),
    }
}

/// The known flows, each with its versions.
#[derive(Debug)]
pub struct Versions<T> {
    flows: BTreeMap<Name, Vec<(Name, T)>>,
}

impl<T> Default for Versions<T> {
    fn default() -> Self {
        Self {
            flows: BTreeMap::new(),
        }
    }
}

impl<T> Versions<T> {
    /// Adds or replaces one version.
    pub fn insert(&mut self, id: Name, version: Name, value: T) {
        let versions = self.flows.entry(id).or_default();
        // Newest first.
        match versions.binary_search_by(|(known, _)| compare_versions(&version, known)) {
            Ok(at) => versions[at].1 = value,
            Err(at) => versions.insert(at, (version, value)),
        }
    }

    /// One version, or the newest: the newest release if there is one, else the newest of all.
    pub fn get(&self, id: &str, version: Option<&str>) -> Option<(&Name, &T)> {
        let versions = self.flows.get(id)?;
        let found = match version {
            Some(wanted) => versions.iter().find(|(version, _)| &**version == wanted),
            None => versions
                .iter()
                .find(|(version, _)| is_release(version))
                .or(versions.first()),
        };
        found.map(|(version, value)| (version, value))
    }

    /// All versions of a flow, newest first.
    pub fn versions(&self, id: &str) -> &[(Name, T)] {
        self.flows.get(id).map_or(&[], Vec::as_slice)
    }

    pub fn ids(&self) -> impl Iterator<Item = &Name> {
        self.flows.keys()
    }
}

fn is_release(version: &str) -> bool {
    parse(version).is_some_and(|version| version.pre.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latest_is_semver_and_versions_are_newest_first() {
        let mut versions = Versions::default();
        for version in [
            "1.9.0",
            "1.10.0",
            "0.1.0",
            "2.0.0-beta.1",
            "draft",
            "1.10.0-rc.1",
        ] {
            versions.insert("f".into(), version.into(), ());
        }
        let listed: Vec<&str> = versions.versions("f").iter().map(|(v, ())| &**v).collect();
        assert_eq!(
            listed,
            [
                "2.0.0-beta.1",
                "1.10.0",
                "1.10.0-rc.1",
                "1.9.0",
                "0.1.0",
                "draft"
            ]
        );
        assert_eq!(&**versions.get("f", None).unwrap().0, "1.10.0");
        assert_eq!(&**versions.get("f", Some("0.1.0")).unwrap().0, "0.1.0");
        assert!(versions.get("f", Some("3.0.0")).is_none());
        assert!(versions.get("g", None).is_none());
    }
}
