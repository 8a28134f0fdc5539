//! The executable specification of [`riverrun_store::Store`]. Every adapter passes all of it
//! against the real server.
//!
//! Each check is a named function over a fresh, empty store. [`exercise`] runs all of them;
//! [`conformance_tests!`] makes each a test of its own:
//!
//! ```ignore
//! riverrun_store_conformance::conformance_tests!(async || Fixture::from(my_store().await));
//! ```
//!
//! [`through`] is a store for tests of code on top of one: it can reject and delay calls and
//! [die](mortal::Mortal).

pub mod awaits;
pub mod definitions;
pub mod given;
mod list;
pub mod mortal;
pub mod queues;
pub mod runs;
pub mod shared;
pub mod streams;
pub mod through;
pub mod whole;

use std::{any::Any, future::Future, panic::AssertUnwindSafe, pin::Pin, sync::Arc};

use futures::FutureExt;
use riverrun_store::Store;

/// A fresh, empty store, and its guards, such as its folder.
pub struct Fixture {
    pub store: Arc<dyn Store>,
    another: Arc<dyn Store>,
    keep: Vec<Box<dyn Any + Send>>,
}

impl Fixture {
    /// Gives a second handle on the same data, as another instance would have it. Without one, and
    /// for a store with one owner, it is the first handle again.
    pub fn shared_with<S: Store>(mut self, another: Arc<S>) -> Self {
        self.another = another;
        self
    }

    /// A second handle on the same data.
    pub fn another(&self) -> Arc<dyn Store> {
        self.another.clone()
    }

    pub fn keeping(mut self, guard: impl Any + Send) -> Self {
        self.keep.push(Box::new(guard));
        self
    }
}

impl<S: Store> From<Arc<S>> for Fixture {
    fn from(store: Arc<S>) -> Self {
        Self {
            another: store.clone(),
            store,
            keep: Vec::new(),
        }
    }
}

type Checked = Pin<Box<dyn Future<Output = ()> + Send>>;

/// One promise of the trait.
pub struct Check {
    pub name: &'static str,
    /// Given two handles on the same data. Most checks need only the first.
    pub run: fn(Arc<dyn Store>, Arc<dyn Store>) -> Checked,
}

/// Runs every check against a store of its own and panics with the names of those that failed.
pub async fn exercise<F, Fut>(factory: F)
where
    F: Fn() -> Fut,
    Fut: Future<Output = Fixture>,
{
    let mut failed = Vec::new();
    for check in checks() {
        let fixture = factory().await;
        let run = AssertUnwindSafe((check.run)(fixture.store.clone(), fixture.another()));
        if run.catch_unwind().await.is_err() {
            failed.push(check.name);
        }
    }
    assert!(failed.is_empty(), "these checks failed: {failed:#?}");
}

/// Makes every check a test. The factory is an expression of type `Fn() -> Future<Fixture>`.
#[macro_export]
macro_rules! conformance_tests {
    ($factory:expr) => {
        $crate::with_checks! { as_tests $factory }
        $crate::with_shared_checks! { as_shared_tests $factory }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! as_tests {
    ([$factory:expr] $($area:ident { $($file:ident { $($check:ident,)* })* })*) => {
        $(
            mod $area {
                #[allow(unused_imports)]
                use super::*;
                $(
                    mod $file {
                        #[allow(unused_imports)]
                        use super::*;
                        $(
                            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                            async fn $check() {
                                let fixture: $crate::Fixture = ($factory)().await;
                                $crate::$area::$file::$check(fixture.store.clone()).await;
                            }
                        )*
                    }
                )*
            }
        )*
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! as_shared_tests {
    ([$factory:expr] $($check:ident,)*) => {
        mod shared {
            #[allow(unused_imports)]
            use super::*;
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $check() {
                    let fixture: $crate::Fixture = ($factory)().await;
                    $crate::shared::$check(fixture.store.clone(), fixture.another()).await;
                }
            )*
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! as_shared_list {
    ([] $($check:ident,)*) => {
        vec![$(
            Check {
                name: concat!("shared::", stringify!($check)),
                run: |store, another| Box::pin(shared::$check(store, another)),
            },
        )*]
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! as_list {
    ([] $($area:ident { $($file:ident { $($check:ident,)* })* })*) => {
        vec![$($($(
            Check {
                name: concat!(
                    stringify!($area), "::", stringify!($file), "::", stringify!($check)
                ),
                run: |store, _| Box::pin($area::$file::$check(store)),
            },
        )*)*)*]
    };
}

/// Every check, by name.
pub fn checks() -> Vec<Check> {
    let mut checks = crate::with_checks! { as_list };
    checks.extend(crate::with_shared_checks! { as_shared_list });
    checks
}
