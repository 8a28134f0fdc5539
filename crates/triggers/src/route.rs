//! The paths of http triggers: `/orders/:id`, below one prefix for all.

use std::collections::BTreeMap;

use riverrun_types::Name;

use crate::{Error, Result};

/// The most segments of a path.
const MAX_SEGMENTS: usize = 32;

/// A path with parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pattern {
    segments: Vec<Segment>,
}

#[derive(Clone, Debug, PartialEq)]
enum Segment {
    Text(String),
    Parameter(String),
}

impl Pattern {
    pub fn parse(path: &str) -> Result<Self> {
        let refuse = |message: &str| Error::invalid("config.path", format!("{path:?} {message}"));
        let Some(rest) = path.strip_prefix('/').filter(|rest| !rest.is_empty()) else {
            return Err(refuse("must begin with a slash and name something"));
        };
        if rest == "hooks" || rest.starts_with("hooks/") {
            return Err(refuse(
                "begins with the prefix that all triggers share: leave /hooks out",
            ));
        }
        let mut segments = Vec::new();
        for segment in rest.split('/') {
            let segment = match segment.strip_prefix(':') {
                Some(name) if is_name(name) => Segment::Parameter(name.to_owned()),
                Some(_) => return Err(refuse("has a parameter that is no name")),
                None if is_plain(segment) => Segment::Text(segment.to_owned()),
                None => {
                    return Err(refuse(
                        "has a part that is empty or not made of letters, digits and -_.~",
                    ));
                }
            };
            if let Segment::Parameter(_) = &segment
                && segments.contains(&segment)
            {
                return Err(refuse("has a parameter twice"));
            }
            segments.push(segment);
        }
        if segments.len() > MAX_SEGMENTS {
            return Err(refuse("has too many parts"));
        }
        Ok(Self { segments })
    }

    /// The form in which the router takes it. Parameters are numbered, so that two patterns that
    /// take the same paths have one form.
    pub fn form(&self) -> String {
        let mut form = String::new();
        for (at, segment) in self.segments.iter().enumerate() {
            match segment {
                Segment::Text(text) => form.push_str(&format!("/{text}")),
                Segment::Parameter(_) => form.push_str(&format!("/{{p{at}}}")),
            }
        }
        form
    }

    /// The names of the parameters, in their order.
    pub fn parameters(&self) -> impl Iterator<Item = &str> {
        self.segments.iter().filter_map(|segment| match segment {
            Segment::Parameter(name) => Some(name.as_str()),
            Segment::Text(_) => None,
        })
    }
}

fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !text.starts_with(|c: char| c.is_ascii_digit())
}

fn is_plain(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~');
    (1..=128).contains(&text.len()) && text.chars().all(plain) && text != "." && text != ".."
}

/// Which trigger takes which requests: for each method its own paths, so that none hides another's.
#[derive(Default)]
pub(crate) struct Routes {
    routers: BTreeMap<&'static str, matchit::Router<Name>>,
}

/// What a path leads to.
#[derive(Debug, PartialEq)]
pub(crate) enum RouteMatch {
    Trigger {
        id: Name,
        /// As they stand in the path.
        parameters: Vec<String>,
    },
    /// The path is somebody's, with these methods.
    OtherMethods(Vec<&'static str>),
    Nothing,
}

impl Routes {
    /// Of triggers with their methods and the forms of their paths.
    pub fn new(all: impl IntoIterator<Item = (&'static str, String, Name)>) -> Self {
        let mut routes = Self::default();
        for (method, form, id) in all {
            let router = routes.routers.entry(method).or_default();
            if let Err(error) = router.insert(form.as_str(), id) {
                tracing::warn!(form, %error, "a path of a trigger has no trigger");
            }
        }
        routes
    }

    pub fn find(&self, method: &str, path: &str) -> RouteMatch {
        let router = self.routers.get(method);
        if let Some(found) = router.and_then(|router| router.at(path).ok()) {
            let parameters = found.params.iter().map(|(_, text)| text.to_owned());
            return RouteMatch::Trigger {
                id: found.value.clone(),
                parameters: parameters.collect(),
            };
        }
        let others = self.routers.iter();
        let others = others.filter(|(_, router)| router.at(path).is_ok());
        let others: Vec<&'static str> = others.map(|(method, _)| *method).collect();
        match others.is_empty() {
            true => RouteMatch::Nothing,
            false => RouteMatch::OtherMethods(others),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_plain_and_below_the_prefix() {
        for path in [
            "/a",
            "/orders/:id",
            "/orders/:id/lines/:line_no",
            "/v1.0/~x",
        ] {
            assert!(Pattern::parse(path).is_ok(), "{path}");
        }
        for path in [
            "", "/", "a", "/a/", "//a", "/a b", "/:", "/:1", "/a/:x/:x", "/hooks", "/hooks/a",
            "/{a}", "/a/*", "/a/../b", "/ä",
        ] {
            assert!(Pattern::parse(path).is_err(), "{path}");
        }
        let long = "/a".repeat(33);
        assert!(Pattern::parse(&long).is_err());
    }

    #[test]
    fn the_more_exact_path_takes_a_request() {
        let patterns = [
            ("POST", "/orders/:id", "one"),
            ("POST", "/orders/new", "new"),
            ("GET", "/orders/:order", "read"),
            ("POST", "/:any/:thing", "any"),
            ("POST", "/orders/:order/lines", "lines"),
            ("GET", "/lines/first", "first"),
            ("PUT", "/lines/:line", "line"),
        ];
        let routes = Routes::new(patterns.map(|(method, path, id)| {
            (method, Pattern::parse(path).unwrap().form(), Name::from(id))
        }));
        let check = |method: &str, path: &str, id: &str, parameters: &[&str]| {
            let expected = RouteMatch::Trigger {
                id: id.into(),
                parameters: parameters.iter().map(|text| (*text).to_owned()).collect(),
            };
            assert_eq!(routes.find(method, path), expected, "{path}");
        };
        check("POST", "/orders/7", "one", &["7"]);
        check("POST", "/orders/new", "new", &[]);
        check("GET", "/orders/7", "read", &["7"]);
        check("POST", "/orders/7/lines", "lines", &["7"]);
        check("POST", "/people/7", "any", &["people", "7"]);
        // Only among the paths of the request's own method.
        check("GET", "/orders/new", "read", &["new"]);
        check("PUT", "/lines/first", "line", &["first"]);
        assert_eq!(
            routes.find("DELETE", "/orders/new"),
            RouteMatch::OtherMethods(vec!["GET", "POST"])
        );
        assert_eq!(routes.find("POST", "/orders"), RouteMatch::Nothing);
        assert_eq!(routes.find("POST", "/orders/7/"), RouteMatch::Nothing);
    }

    #[test]
    fn patterns_that_take_the_same_paths_have_one_form() {
        let form = |path| Pattern::parse(path).unwrap().form();
        assert_eq!(form("/a/:x/b/:y"), form("/a/:y/b/:z"));
        assert_ne!(form("/a/:x"), form("/a/x"));
        let pattern = Pattern::parse("/a/:x/b/:y").unwrap();
        assert_eq!(pattern.parameters().collect::<Vec<_>>(), ["x", "y"]);
    }
}
