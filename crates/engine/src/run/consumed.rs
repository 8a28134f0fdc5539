//! Events that the awaits of a run have consumed, so that none is consumed twice.
//!
//! The run keeps references to the latest events of each kind. Earlier ones are summed up as a time:
//! every event of the kind before it counts as consumed. So the state of a run that waits for ever
//! stays small, at the price that an await does not find an event that arrived before the latest
//! [`MAX_KEPT`] / 2 that the run has consumed of its kind.

use std::collections::BTreeMap;

use riverrun_types::{
    Json, Millis, Name,
    event::{before, before_ms, reference, reference_ms},
};

/// References of one kind that a run keeps, unless more events than that have the same time. The
/// same number of kinds. No run with the default `limits.maxAwaits` consumes more.
const MAX_KEPT: usize = 10_000;

/// Under this name are the times that hold for all kinds.
const ALL: &str = "";

/// Records that an await has consumed an event.
pub(super) fn add(consumed: &mut BTreeMap<Name, Vec<Json>>, kind: &Name, event: &Json) {
    let given = consumed.entry(kind.clone()).or_default();
    given.push(reference(event));
    // Rarely, if few of many can be dropped.
    if given.len() >= MAX_KEPT && given.len().is_multiple_of(MAX_KEPT / 2) {
        forget_events(given);
    }
    if consumed.len() > MAX_KEPT {
        forget_kinds(consumed);
    }
}

/// The consumed events of a kind.
pub(super) fn of(consumed: &BTreeMap<Name, Vec<Json>>, kind: &str) -> Vec<Json> {
    let lists = [ALL, kind]
        .into_iter()
        .filter_map(|kind| consumed.get(kind));
    lists.flatten().cloned().collect()
}

/// Sums up the earlier half.
fn forget_events(given: &mut Vec<Json>) {
    let Some(middle_ms) = middle(given.iter().filter_map(reference_ms).collect()) else {
        return;
    };
    let known_ms = given.iter().filter_map(before_ms).max();
    given.retain(|event| {
        let is_late = reference_ms(event).is_none_or(|ms| ms >= middle_ms);
        is_late && before_ms(event).is_none()
    });
    let before_ms = known_ms.unwrap_or(Millis::MIN).max(middle_ms);
    given.insert(0, before(before_ms));
}

/// Sums up the kinds of which the run consumed the last event earlier than of the other half.
fn forget_kinds(consumed: &mut BTreeMap<Name, Vec<Json>>) {
    let times = consumed.values().filter_map(|given| last_ms(given));
    let Some(middle_ms) = middle(times.collect()) else {
        return;
    };
    consumed.retain(|_, given| last_ms(given).is_none_or(|ms| ms >= middle_ms));
    let all = consumed.entry(Name::from(ALL)).or_default();
    let known_ms = all.iter().filter_map(before_ms).max();
    *all = vec![before(known_ms.unwrap_or(Millis::MIN).max(middle_ms))];
}

fn last_ms(given: &[Json]) -> Option<Millis> {
    given.iter().filter_map(reference_ms).max()
}

fn middle(mut times: Vec<Millis>) -> Option<Millis> {
    let middle = times.len() / 2;
    if times.is_empty() {
        return None;
    }
    Some(*times.select_nth_unstable(middle).1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(ms: Millis) -> Json {
        Json::of(&json!({"id": format!("{ms}-0"), "runId": "r", "flowName": "f", "data": ms}))
    }

    fn is_given(given: &[Json], event: &Json) -> bool {
        let ms = reference_ms(&reference(event)).unwrap();
        let is_before = given.iter().filter_map(before_ms).any(|before| ms < before);
        is_before || given.contains(&reference(event))
    }

    #[test]
    fn a_run_that_consumes_for_ever_keeps_little_and_forgets_no_event() {
        let (mut consumed, paid) = (BTreeMap::new(), Name::from("paid"));
        for ms in 0..25_000 {
            add(&mut consumed, &paid, &event(ms));
            assert!(consumed[&paid].len() <= MAX_KEPT + 1);
        }
        let given = of(&consumed, "paid");
        let mut some = (0..25_000).step_by(97);
        assert!(some.all(|ms| is_given(&given, &event(ms))));
        assert!(!is_given(&given, &event(25_000)));
        // Another kind has a past of its own.
        assert!(of(&consumed, "sent").is_empty());
    }

    /// As many as the default `limits.maxAwaits`, in whatever order they came.
    #[test]
    fn an_event_that_was_not_consumed_is_never_taken_for_one_that_was() {
        let (mut consumed, paid) = (BTreeMap::new(), Name::from("paid"));
        for ms in (1..10_000).rev() {
            add(&mut consumed, &paid, &event(ms));
        }
        assert!(!is_given(&of(&consumed, "paid"), &event(0)));
    }

    #[test]
    fn events_of_one_moment_are_all_kept() {
        let (mut consumed, paid) = (BTreeMap::new(), Name::from("paid"));
        let same =
            |n: u32| Json::of(&json!({"id": format!("7-{n}"), "runId": "r", "flowName": "f"}));
        for n in 0..25_000 {
            add(&mut consumed, &paid, &same(n));
        }
        let given = of(&consumed, "paid");
        let mut some = (0..25_000).step_by(97);
        assert!(some.all(|n| is_given(&given, &same(n))));
        assert!(!is_given(&given, &same(25_000)), "it was not given yet");
    }

    #[test]
    fn a_run_that_waits_for_ever_new_kinds_keeps_few_of_them() {
        let mut consumed = BTreeMap::new();
        for ms in 0..25_000 {
            add(&mut consumed, &Name::from(format!("paid-{ms}")), &event(ms));
            assert!(consumed.len() <= MAX_KEPT + 1);
        }
        for ms in (0..25_000).step_by(97) {
            assert!(is_given(&of(&consumed, &format!("paid-{ms}")), &event(ms)));
        }
        assert!(!is_given(&of(&consumed, "other"), &event(25_000)));
    }
}
