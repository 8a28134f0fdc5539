//! Computations whose length somebody else decides: schemas, definitions, expressions that are
//! compiled.
//!
//! They run where they are asked for, on a thread that hands its tasks to another first, so that no
//! other request, timer or signal waits for them. Only a few run at once: the rest of the processors
//! is for everybody else.

use parking_lot::{Condvar, Mutex};
use riverrun_engine::Schema;
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
    pub fn on_schema(schema: &Schema, bytes: usize) -> Self {
        match schema.is_light(bytes) {
            true => Self::Short,
            false => Self::Long,
        }
    }
}

/// Computes something.
pub fn compute<T>(work: Work, computation: impl FnOnce() -> T) -> T {
    if work == Work::Short {
        return computation();
    }
    let flavor = Handle::try_current().map(|handle| handle.runtime_flavor());
    match flavor {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(|| {
            let _turn = Turn::wait();
            computation()
        }),
        // One thread has nobody to hand its tasks to.
        _ => computation(),
    }
}

struct Turn;

impl Turn {
    fn wait() -> Self {
        let mut under_way = UNDER_WAY.lock();
        while *under_way >= MAX_AT_ONCE {
            ENDED.wait(&mut under_way);
        }
        *under_way += 1;
        Self
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *UNDER_WAY.lock() -= 1;
        ENDED.notify_one();
    }
}

#[cfg(test)]
mod tests {
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

    #[tokio::test]
    async fn one_thread_computes_itself() {
        assert_eq!(compute(Work::Long, || 1), 1);
    }
}
