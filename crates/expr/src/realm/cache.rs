//! The functions compiled in a realm, least recently used out first.

use std::collections::HashMap;

use rquickjs::{Function, Persistent};

use crate::Expr;
use crate::expr::Arg;

const MAX_FUNCTIONS: usize = 256;

/// Sources are kept by the engine beside their bytecode, so long ones count for more.
const MAX_SOURCE_BYTES: usize = 1 << 20;

type Compiled = Persistent<Function<'static>>;

#[derive(Default)]
pub(super) struct Cache {
    by_expr: HashMap<u64, Entry>,
    source_bytes: usize,
    clock: u64,
}

struct Entry {
    function: Compiled,
    names: Vec<Box<str>>,
    source_bytes: usize,
    used_at: u64,
}

impl Cache {
    pub(super) fn get(&mut self, expr: &Expr, args: &[Arg<'_>]) -> Option<Compiled> {
        self.clock += 1;
        let entry = self.by_expr.get_mut(&expr.id())?;
        // The same expression under other names is another function.
        let names = args.iter().map(|arg| arg.name);
        if !entry.names.iter().map(|name| &**name).eq(names) {
            return None;
        }
        entry.used_at = self.clock;
        Some(entry.function.clone())
    }

    pub(super) fn put(&mut self, expr: &Expr, args: &[Arg<'_>], function: Compiled) {
        let entry = Entry {
            function,
            names: args.iter().map(|arg| arg.name.into()).collect(),
            source_bytes: expr.source().len(),
            used_at: self.clock,
        };
        self.source_bytes += entry.source_bytes;
        if let Some(old) = self.by_expr.insert(expr.id(), entry) {
            self.source_bytes -= old.source_bytes;
        }
        while self.by_expr.len() > MAX_FUNCTIONS || self.source_bytes > MAX_SOURCE_BYTES {
            self.evict();
        }
    }

    fn evict(&mut self) {
        let oldest = self.by_expr.iter().min_by_key(|(_, entry)| entry.used_at);
        if let Some(old) = oldest
            .map(|(id, _)| *id)
            .and_then(|id| self.by_expr.remove(&id))
        {
            self.source_bytes -= old.source_bytes;
        }
    }
}
