//! One warm QuickJS engine: a runtime with its limits, a hardened context, and the functions
//! compiled in it. A realm lives on one thread.
//!
//! Evaluations share the context, which makes a warm one cost microseconds instead of the cost of
//! a new context; `prelude.js` freezes all that they could use to reach one another. Whatever an
//! evaluation breaks beyond that (time, memory, work left pending) makes the realm `spent`, and
//! the owner drops it.

mod cache;
mod call;
mod engine;

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rquickjs::context::intrinsic::{
    Date, Eval, Json, MapSet, Promise, Proxy, RegExp, RegExpCompiler, TypedArrays,
};
use rquickjs::{Context, Runtime};

use crate::expr::Arg;
use crate::{Error, Expr, Limits};
use cache::Cache;
pub(crate) use engine::Engine;

/// Evaluations after which a realm is replaced anyway, so that a slow leak stays small.
const MAX_EVALUATIONS: u32 = 10_000;

/// Garbage in cycles is collected once the heap outgrows the warm engine by this much.
const GARBAGE_BYTES: usize = 1 << 20;

/// What the engine offers. `Promise` only because the syntax of async functions needs it; weak
/// references and clocks are left out.
#[rustfmt::skip]
type Intrinsics = (
    Date, Eval, RegExpCompiler, RegExp, Json, Proxy, MapSet, TypedArrays, Promise,
);

/// The JSON text that an evaluation gives, or nothing for `undefined`.
pub(crate) type Text = Result<Option<String>, Error>;

pub(crate) struct Realm {
    // Dropped in this order: functions before their context, the context before its runtime.
    functions: Cache,
    context: Context,
    runtime: Runtime,
    clock: Rc<Clock>,
    limits: Limits,
    gc_threshold_bytes: usize,
    evaluations: u32,
    spent: bool,
}

impl Realm {
    pub(crate) fn new(limits: &Limits) -> Result<Realm, Error> {
        Self::build(limits).map_err(|error| {
            Error::thrown(format!("InternalError: engine does not start: {error}"))
        })
    }

    fn build(limits: &Limits) -> rquickjs::Result<Realm> {
        let runtime = Runtime::new()?;
        runtime.set_max_stack_size(limits.stack_bytes);
        let context = Context::custom::<Intrinsics>(&runtime)?;
        context.with(|ctx| ctx.eval::<(), _>(include_str!("prelude.js")))?;
        let clock = Rc::new(Clock::default());
        let handler = Rc::clone(&clock);
        runtime.set_interrupt_handler(Some(Box::new(move || handler.is_over())));
        let warm_bytes = usize::try_from(runtime.memory_usage().malloc_size).unwrap_or(0);
        runtime.set_memory_limit(warm_bytes.saturating_add(limits.memory_bytes));
        Ok(Realm {
            functions: Cache::default(),
            context,
            runtime,
            clock,
            limits: limits.clone(),
            gc_threshold_bytes: warm_bytes + GARBAGE_BYTES,
            evaluations: 0,
            spent: false,
        })
    }

    /// Whether the next evaluation must not use this realm.
    pub(crate) fn is_spent(&self) -> bool {
        self.spent || self.evaluations >= MAX_EVALUATIONS
    }

    /// Whether nothing was evaluated here yet, so that a failure is the expression's own.
    pub(crate) fn is_fresh(&self) -> bool {
        self.evaluations == 0
    }

    #[cfg(test)]
    pub(crate) fn eval(&mut self, expr: &Expr, args: &[Arg<'_>]) -> Text {
        self.eval_until(expr, args, self.deadline())
    }

    /// When an evaluation that starts now has used up its time.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        Instant::now().checked_add(Duration::from_millis(self.limits.time_ms))
    }

    pub(crate) fn eval_until(
        &mut self,
        expr: &Expr,
        args: &[Arg<'_>],
        deadline: Option<Instant>,
    ) -> Text {
        self.evaluations += 1;
        // The engine raises the threshold after each collection; a large evaluation would leave
        // it so high that its successors' garbage could fill the memory.
        self.runtime.set_gc_threshold(self.gc_threshold_bytes);
        self.clock.start(deadline);
        let functions = &mut self.functions;
        let answer = self
            .context
            .with(|ctx| call::evaluate(&ctx, functions, expr, args, &self.limits));
        let answer = if self.clock.rang.get() {
            Err(Error::Timeout {
                ms: self.limits.time_ms,
            })
        } else if answer.is_ok() && self.runtime.is_job_pending() {
            Err(Error::Async)
        } else {
            answer
        };
        self.spent = match &answer {
            Err(Error::Timeout { .. } | Error::Memory { .. }) => true,
            // What an expression without memory may have thrown as well.
            Err(Error::Thrown { message }) if message == "null" => true,
            _ => self.runtime.is_job_pending(),
        };
        answer
    }
}

/// The time limit of the evaluation under way, polled by the engine.
#[derive(Default)]
struct Clock {
    deadline: Cell<Option<Instant>>,
    rang: Cell<bool>,
}

impl Clock {
    fn start(&self, deadline: Option<Instant>) {
        self.deadline.set(deadline);
        self.rang.set(false);
    }

    fn is_over(&self) -> bool {
        let over = self.deadline.get().is_some_and(|at| Instant::now() >= at);
        if over {
            self.rang.set(true);
        }
        over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The engine asserts that nothing is left when it is dropped, so a reference lost on the way
    /// out of memory would end the process.
    #[test]
    fn running_out_of_memory_anywhere_is_survived() {
        let exprs = [
            "() => { const xs = []; while (true) xs.push({ xs, s: 'x' + xs.length }) }",
            "input.map(x => ({ ...x, y: [x.a, `${x.a}`] })).filter(x => /1+/.test(x.y[1]))",
            "() => { class A { #p = [1]; static s = new Map([[1, this]]) }; return [new A(), ...input] }",
            "() => { try { return JSON.stringify(input).repeat(99) } catch (e) { return [e.stack] } }",
            "[...(function* () { for (const x of input) yield { x } })()]",
            "Object.fromEntries(input.flatMap(x => [[x.a, new Proxy(x, {})], [x.a + 'b', [x]]]))",
            "input.map(x => BigInt(x.a) ** 99n).sort().map(String)",
            "input.map(x => new Date(x.a).toISOString().split('-')).flat().toSorted()",
        ]
        .map(|source| Expr::compile(source).unwrap());
        let json: Vec<_> = (0..200).map(|n| format!("{{\"a\":{n}}}")).collect();
        let json = format!("[{}]", json.join(","));
        for memory_bytes in (0..120_000).step_by(1777) {
            let limits = Limits {
                memory_bytes,
                ..Limits::default()
            };
            for expr in &exprs {
                let mut realm = Realm::new(&limits).unwrap();
                let _ = realm.eval(expr, &[Arg::new("input", &json)]);
            }
        }
    }
}
