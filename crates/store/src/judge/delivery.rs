//! Delivery of an emitted event to the awaits of its kind: which of them it fires in its own
//! commit, and whether it goes into the outbox.
//!
//! The adapter finds awaits by shape and key ([`crate::equality`]).

use riverrun_types::{Json, Millis};

use crate::{Signal, equality::Keys};

/// The awaits of a kind that name the same paths, with or without a filter.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeRow {
    pub place: i64,
    pub paths: String,
    pub has_filter: bool,
    /// Awaits of it that are open.
    pub open: i64,
    /// From when on the adapter knows the keys of all events of the kind under this shape, for
    /// awaits that look back.
    pub logged_ms: Option<Millis>,
}

/// The rows of one event and of the awaits of its kind.
pub trait DeliveryRows {
    type Error;
    /// An await, as the adapter finds it.
    type Await;

    /// Remembers the key of the event under a shape.
    fn remember(&mut self, shape: i64, key: &str) -> Result<(), Self::Error>;

    /// Up to `limit` open awaits of a shape and a key whose time is not over and that are for the
    /// tenant of the event.
    fn open(
        &mut self,
        shape: i64,
        key: &str,
        limit: usize,
    ) -> Result<Vec<Self::Await>, Self::Error>;

    /// Whether an earlier event of the kind is in the outbox because it fires more awaits than a
    /// commit may.
    fn is_behind(&mut self) -> Result<bool, Self::Error>;

    /// Fires awaits of a shape with the event ([`crate::AwaitRecord::fire`]).
    fn fire(&mut self, shape: i64, awaits: &[Self::Await]) -> Result<(), Self::Error>;
}

/// The result of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// No work is left.
    Done,
    /// No await took the event; it is counted.
    Unheard,
    /// It goes into the outbox: an expression or a listener decides.
    Outbox,
    /// It goes into the outbox: matching awaits are left over, and later events of its kind wait
    /// until it is done.
    Rest,
}

/// Delivers an event to the awaits of these shapes.
pub fn deliver<R: DeliveryRows>(
    rows: &mut R,
    signal: &Signal,
    event: &Json,
    shapes: &[ShapeRow],
    is_listened: bool,
) -> Result<Delivery, R::Error> {
    let mut keys = Keys::new(event);
    let mut room = Signal::MAX_FIRED;
    let (mut is_left, mut is_over) = (is_listened, false);
    for shape in shapes {
        let Some(key) = keys.key(&shape.paths) else {
            continue;
        };
        if shape.logged_ms.is_some_and(|ms| signal.now_ms >= ms) {
            rows.remember(shape.place, &key)?;
        }
        if shape.open == 0 {
            continue;
        }
        if shape.has_filter {
            is_left |= !rows.open(shape.place, &key, 1)?.is_empty();
            continue;
        }
        let found = rows.open(shape.place, &key, room + 1)?;
        // Awaits that an earlier event has yet to fire are not this one's.
        if !found.is_empty() && !is_over && rows.is_behind()? {
            (is_over, room) = (true, 0);
        }
        is_over |= found.len() > room;
        let fired = found.get(..room).unwrap_or(&found);
        rows.fire(shape.place, fired)?;
        room -= fired.len();
    }
    let is_heard = signal.has_subscriber || room < Signal::MAX_FIRED;
    Ok(match (is_over, is_left) {
        (true, _) => Delivery::Rest,
        (false, true) => Delivery::Outbox,
        (false, false) if is_heard => Delivery::Done,
        (false, false) => Delivery::Unheard,
    })
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use riverrun_types::StreamName;

    use super::*;

    /// This many open awaits for each shape.
    struct Open {
        of: Vec<usize>,
        is_behind: bool,
        fired: usize,
    }

    impl DeliveryRows for Open {
        type Error = Infallible;
        type Await = ();

        fn remember(&mut self, _shape: i64, _key: &str) -> Result<(), Infallible> {
            Ok(())
        }

        fn open(&mut self, shape: i64, _key: &str, limit: usize) -> Result<Vec<()>, Infallible> {
            let open = usize::try_from(shape).ok().and_then(|at| self.of.get(at));
            Ok(vec![(); open.copied().unwrap_or_default().min(limit)])
        }

        fn is_behind(&mut self) -> Result<bool, Infallible> {
            Ok(self.is_behind)
        }

        fn fire(&mut self, _shape: i64, awaits: &[()]) -> Result<(), Infallible> {
            self.fired += awaits.len();
            Ok(())
        }
    }

    #[test]
    fn an_event_fires_what_it_equals_up_to_a_bound() {
        let check = |of: &[(usize, bool)], is_behind, is_listened, expected: (usize, Delivery)| {
            let shapes: Vec<ShapeRow> = (0..)
                .zip(of)
                .map(|(place, (open, has_filter))| ShapeRow {
                    place,
                    paths: "[]".to_owned(),
                    has_filter: *has_filter,
                    open: *open as i64,
                    logged_ms: None,
                })
                .collect();
            let mut rows = Open {
                of: of.iter().map(|(open, _)| *open).collect(),
                is_behind,
                fired: 0,
            };
            let signal = Signal {
                kind: "k".into(),
                event: Json::null(),
                place: None,
                tenant: None,
                now_ms: 0,
                stream: StreamName::new("s", "s"),
                has_subscriber: false,
            };
            let Ok(delivery) = deliver(&mut rows, &signal, &Json::null(), &shapes, is_listened);
            assert_eq!((rows.fired, delivery), expected, "{of:?}");
        };
        let most = Signal::MAX_FIRED;
        check(&[], false, false, (0, Delivery::Unheard));
        check(&[], false, true, (0, Delivery::Outbox));
        check(&[(2, false)], false, false, (2, Delivery::Done));
        check(&[(1, true)], false, false, (0, Delivery::Outbox));
        check(
            &[(1, true), (2, false)],
            false,
            false,
            (2, Delivery::Outbox),
        );
        check(&[(most, false)], false, false, (most, Delivery::Done));
        check(&[(most + 3, false)], false, false, (most, Delivery::Rest));
        check(
            &[(most, false), (1, false)],
            false,
            false,
            (most, Delivery::Rest),
        );
        check(&[(2, false)], true, false, (0, Delivery::Rest));
        check(&[(0, false)], true, false, (0, Delivery::Unheard));
    }
}
