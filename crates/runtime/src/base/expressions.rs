//! Expressions whose answer decides what becomes of an event.

use std::time::Duration;

use riverrun_expr::{Arg, Error, Evaluated, Expr};

use crate::runtime::Runtime;

/// Between two tries. Each of them waits for an engine by itself.
const PAUSE: Duration = Duration::from_millis(200);

impl Runtime {
    /// Evaluates, and waits for as long as there is no engine to do it: an event must not be passed
    /// over because the server was short of something. `/readyz` shows that it is.
    pub(crate) async fn evaluate(&self, expr: &Expr, args: &[Arg<'_>]) -> Evaluated {
        loop {
            match self.services().sandbox.eval(expr, args).await {
                Err(Error::Unavailable { .. }) if !self.is_stopping() => {
                    tokio::time::sleep(PAUSE).await;
                }
                answer => return answer,
            }
        }
    }
}
