//! Long computations: schemas, definitions, compiling expressions.
//!
//! They run in place, on a thread that first hands its tasks to another thread, so that no request,
//! timer or signal waits for them. Only a few run at once; the other processors stay free.

use std::{
    cell::Cell,
    sync::atomic::{AtomicBool, Ordering},
};

use parking_lot::{Condvar, Mutex};
use riverrun_engine::{Schema, SchemaIssue};
use riverrun_expr::Expr;
use riverrun_types::{Json, State};
use tokio::runtime::{Handle, RuntimeFlavor};

/// Long computations that run at once.
const MAX_AT_ONCE: usize = 4;

static UNDER_WAY: Mutex<usize> = Mutex::new(0);
static ENDED: Condvar = Condvar::new();

/// How long a computation may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// About a millisecond at most: it is not worth the way to another thread.
    Short,
    Long,
}

impl Work {
    /// Of reading, checking or compiling a text.
    pub fn on_text(bytes: usize) -> Self {
        match bytes > 16 << 10 {
            true => Self::Long,
            false => Self::Short,
        }
    }

    /// Of holding a value against a schema.
    fn on_schema(schema: &Schema, value: &Json) -> Self {
        Self::if_light(schema.is_light(value), value.bytes())
    }

    /// Of holding any value of so many bytes against a schema.
    pub fn on_schema_bytes(schema: &Schema, bytes: usize) -> Self {
        Self::if_light(schema.is_light_for(bytes), bytes)
    }

    fn if_light(is_light: bool, bytes: usize) -> Self {
        if is_light {
            return Self::Short;
        }
        if bytes <= SMALL {
            HAS_COSTLY_SCHEMA.store(true, Ordering::Relaxed);
        }
        Self::Long
    }
}

/// Bytes of a value that is usually not long to compute with.
pub const SMALL: usize = 32 << 10;

/// Whether a small value took long.
static HAS_COSTLY_SCHEMA: AtomicBool = AtomicBool::new(false);

/// Whether this server has a schema for which a small value takes long to evaluate, as far as that is
/// known.
pub fn has_costly_schema() -> bool {
    HAS_COSTLY_SCHEMA.load(Ordering::Relaxed)
}

/// Holds a value against a schema.
pub fn schema_issues(schema: &Schema, value: &Json) -> Vec<SchemaIssue> {
    compute(Work::on_schema(schema, value), || schema.issues_of(value))
}

/// Holds a state against its schema, which may ask for members that are still to come.
pub fn state_issues(schema: &Schema, state: &State) -> Vec<SchemaIssue> {
    let work = Work::on_schema_bytes(schema, state.bytes());
    compute(work, || schema.state_issues(state))
}

/// Compiles an expression. A source that is not small is checked by another process, for which this
/// thread waits; a small one with Unicode properties takes long to parse.
pub fn compile_expr(source: &str) -> Result<Expr, riverrun_expr::Error> {
    let is_short = source.len() <= 1 << 10 && !source.contains("\\p{") && !source.contains("\\P{");
    let work = match is_short {
        true => Work::Short,
        false => Work::Long,
    };
    compute(work, || Expr::compile(source))
}

thread_local! {
    /// Whether this thread has its turn already: it does not wait for a second one.
    static HAS_SLOT: Cell<bool> = const { Cell::new(false) };
}

/// Computes something.
pub fn compute<T>(work: Work, computation: impl FnOnce() -> T) -> T {
    if work == Work::Short || HAS_SLOT.get() {
        return computation();
    }
    let flavor = Handle::try_current().map(|handle| handle.runtime_flavor());
    match flavor {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(|| {
            let _slot = Slot::wait();
            computation()
        }),
        // A runtime with one thread has no other thread for its tasks.
        _ => computation(),
    }
}

struct Slot;

impl Slot {
    fn wait() -> Self {
        let mut under_way = UNDER_WAY.lock();
        while *under_way >= MAX_AT_ONCE {
            ENDED.wait(&mut under_way);
        }
        *under_way += 1;
        HAS_SLOT.set(true);
        Self
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        HAS_SLOT.set(false);
        *UNDER_WAY.lock() -= 1;
        ENDED.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// Two threads, and two computations that do not end before others were served.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn others_are_served_meanwhile() {
        let (send, receive) = std::sync::mpsc::channel::<()>();
        let receive = std::sync::Arc::new(Mutex::new(receive));
        let computing: Vec<_> = (0..3)
            .map(|_| {
                let receive = receive.clone();
                tokio::spawn(async move { compute(Work::Long, || receive.lock().recv().is_ok()) })
            })
            .collect();
        for _ in 0..3 {
            tokio::spawn(tokio::task::yield_now()).await.unwrap();
            send.send(()).unwrap();
        }
        for computing in computing {
            assert!(computing.await.unwrap());
        }
    }

    /// More computations than may run at once, each with another one inside.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_computation_inside_another_does_not_wait_for_a_turn() {
        let computing: Vec<_> = (0..20)
            .map(|_| tokio::spawn(async { compute(Work::Long, || compute(Work::Long, || 1)) }))
            .collect();
        for computing in computing {
            assert_eq!(computing.await.unwrap(), 1);
        }
    }

    /// One async thread: the clock's task runs only if the parser does not hold it. The source takes
    /// the parser about a hundred milliseconds, and is small.
    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn others_are_served_while_an_expression_is_compiled() {
        let source = format!("/{}/u.test(input)", "\\p{L}".repeat(60));
        let served = Arc::new(AtomicBool::new(false));
        let compiling = tokio::spawn({
            let served = served.clone();
            async move {
                tokio::spawn(async move { served.store(true, Ordering::SeqCst) });
                (0..50).try_for_each(|_| compile_expr(&source).map(drop))
            }
        });
        while !served.load(Ordering::SeqCst) {
            assert!(!compiling.is_finished());
            std::thread::yield_now();
        }
        compiling.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn one_thread_computes_itself() {
        assert_eq!(compute(Work::Long, || 1), 1);
    }
}
