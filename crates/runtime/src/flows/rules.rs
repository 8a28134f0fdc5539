//! The expressions in a flow's definition, compiled once.

use std::collections::HashMap;

use riverrun_expr::Expr;
use riverrun_types::{Flow, Name};

use super::named::may_name_id;

/// The event rules of a flow's definition.
#[derive(Default)]
pub(crate) struct Rules {
    subscriptions: HashMap<(Name, usize), Subscription>,
}

#[derive(Default)]
pub(crate) struct Subscription {
    pub when: Option<Expr>,
    pub map: Option<Expr>,
    /// Whether one of them may look at the event's id.
    pub names_id: bool,
}

impl Rules {
    pub fn of(&self, place: &(Name, usize)) -> Option<&Subscription> {
        self.subscriptions.get(place)
    }

    /// Definitions were validated when they were registered: an expression that does not compile
    /// now, in a later version of this program, never holds.
    pub fn compile(flow: &Flow) -> Self {
        let expr = |source: &Option<String>| {
            let source = source.as_deref()?;
            Some(Expr::compile(source).unwrap_or_else(|_| never()))
        };
        let mut rules = Self::default();
        for (name, step) in &flow.steps {
            for (number, subscription) in step.subscriptions.iter().enumerate() {
                let (when, map) = (expr(&subscription.when), expr(&subscription.map));
                if when.is_some() || map.is_some() {
                    let key = (Name::from(name.as_str()), number);
                    let mut sources = when.iter().chain(&map).map(Expr::source);
                    let names_id = sources.any(may_name_id);
                    let rule = Subscription {
                        when,
                        map,
                        names_id,
                    };
                    rules.subscriptions.insert(key, rule);
                }
            }
        }
        rules
    }
}

fn never() -> Expr {
    Expr::compile("false").unwrap_or_else(|_| unreachable!("a literal compiles"))
}
