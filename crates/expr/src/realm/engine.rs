//! A sequence of realms: when a realm can no longer be used, a fresh one replaces it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{Realm, Text};
use crate::expr::Arg;
use crate::{Error, Expr, Limits};

/// Evaluates one expression at a time. Holds no realm until the first one comes.
pub(crate) struct Engine {
    limits: Limits,
    realm: Option<Realm>,
}

impl Engine {
    pub(crate) fn new(limits: Limits) -> Engine {
        Engine {
            limits,
            realm: None,
        }
    }

    /// Makes the realm that the first evaluation would have to wait for.
    #[cfg(unix)]
    pub(crate) fn warm(&mut self) -> Result<(), Error> {
        self.realm().map(drop)
    }

    /// Evaluates within the limits. The engine's bindings assert; a realm that panicked is dropped
    /// with its evaluation.
    pub(crate) fn eval(&mut self, expr: &Expr, args: &[Arg<'_>]) -> Text {
        let guarded = AssertUnwindSafe(|| self.try_twice(expr, args));
        catch_unwind(guarded).unwrap_or_else(|_| {
            self.realm = None;
            Err(Error::thrown("InternalError: the engine panicked"))
        })
    }

    /// Replaces a realm that the next evaluation must not use. Called after an answer was given, so
    /// that no caller waits for it.
    pub(crate) fn renew_if_spent(&mut self) {
        if self.realm.as_ref().is_none_or(Realm::is_spent) {
            // The old one is dropped first: two would need twice the memory.
            self.realm = None;
            // One that cannot be made now is tried again by the next evaluation.
            self.realm = Realm::new(&self.limits).ok();
        }
    }

    /// Memory can be short because of what earlier evaluations left, and expressions have no
    /// effects: one that ran out is tried again in a fresh realm, in the time that is left, and only
    /// then is it the expression's fault.
    fn try_twice(&mut self, expr: &Expr, args: &[Arg<'_>]) -> Text {
        let used = self.realm()?;
        let (fresh, deadline) = (used.is_fresh(), used.deadline());
        let answer = used.eval_until(expr, args, deadline);
        if fresh || !matches!(answer, Err(Error::Memory { .. })) {
            return answer;
        }
        self.realm = None;
        self.realm()?.eval_until(expr, args, deadline)
    }

    fn realm(&mut self) -> Result<&mut Realm, Error> {
        if self.realm.is_none() {
            self.realm = Some(Realm::new(&self.limits)?);
        }
        // It was just put there.
        self.realm.as_mut().ok_or(Error::Closed)
    }
}
