//! Lists of runs.

use riverrun_store::{NewRun, Parent, RunFilter};
use riverrun_types::{ErrorCode, RunId, RunStatus};

use crate::given::*;

/// Six runs that differ in everything that a filter sees.
async fn some_runs(store: &S) {
    use RunStatus::*;
    let rows = [
        ("a-1", "f", "1", Completed, None, &["x"][..], None),
        ("a-2", "f", "2", Failed, Some("acme"), &["x", "y"], None),
        ("b-1", "g", "1", Running, Some("acme"), &[], Some("a-1")),
        ("b-2", "g", "1", Waiting, None, &["y"], Some("a-1")),
        ("c_1", "f", "1", Completed, None, &[], Some("a-2")),
        ("c%1", "f", "1", Paused, Some("globex"), &["x"], None),
    ];
    for (at, (name, flow, version, status, tenant, tags, parent)) in rows.into_iter().enumerate() {
        let new = NewRun {
            flow: flow.into(),
            version: version.into(),
            created_ms: T0 + at as i64 * 10,
            projection: match status.is_ended() {
                true => ended(status, T0 + 100),
                false => projection(status),
            },
            tenant: tenant.map(Into::into),
            tags: tags.iter().map(|tag| (*tag).into()).collect(),
            parent: parent.map(|run| Parent {
                run: id(run),
                step: "s".into(),
                visit: 1,
            }),
            task: None,
            ..run(name)
        };
        create(store, new).await;
    }
}

pub async fn newest_first_and_oldest_first(store: S) {
    some_runs(&store).await;
    let newest = ["c%1", "c_1", "b-2", "b-1", "a-2", "a-1"];
    let mut oldest = newest;
    oldest.reverse();
    for limit in [1, 2, 5, 6, 100] {
        let filter = RunFilter {
            limit,
            ..RunFilter::default()
        };
        assert_eq!(ids(&store, filter.clone()).await, newest);
        let filter = RunFilter {
            oldest_first: true,
            ..filter
        };
        assert_eq!(ids(&store, filter).await, oldest);
    }
}

async fn check(store: &S, filter: RunFilter, expected: &[&str]) {
    for limit in [1, 2, 100] {
        for oldest_first in [false, true] {
            let mut found = ids(
                store,
                RunFilter {
                    limit,
                    oldest_first,
                    ..filter.clone()
                },
            )
            .await;
            if oldest_first {
                found.reverse();
            }
            assert_eq!(found, expected, "{filter:?}");
        }
    }
}

pub async fn every_filter_narrows(store: S) {
    some_runs(&store).await;
    let all = RunFilter::default;
    let status = |status| RunFilter {
        status: vec![status],
        ..all()
    };
    check(&store, status(RunStatus::Completed), &["c_1", "a-1"]).await;
    check(&store, status(RunStatus::Failed), &["a-2"]).await;
    check(&store, status(RunStatus::Running), &["b-1"]).await;
    check(&store, status(RunStatus::Pending), &[]).await;
    let flow = |flow: &str| RunFilter {
        flow: Some(flow.into()),
        ..all()
    };
    check(&store, flow("g"), &["b-2", "b-1"]).await;
    check(&store, flow("nobody's"), &[]).await;
    let version = RunFilter {
        version: Some("2".into()),
        ..all()
    };
    check(&store, version, &["a-2"]).await;
    let tag = |tag: &str| RunFilter {
        tags: vec![tag.into()],
        ..all()
    };
    check(&store, tag("x"), &["c%1", "a-2", "a-1"]).await;
    check(&store, tag("z"), &[]).await;
    let tags = |tags: &[&str]| RunFilter {
        tags: tags.iter().map(|tag| (*tag).into()).collect(),
        ..all()
    };
    check(&store, tags(&["x", "y"]), &["a-2"]).await;
    check(&store, tags(&["x", "z"]), &[]).await;
    let tenant = |tenant: &str| RunFilter {
        tenant: Some(tenant.into()),
        ..all()
    };
    check(&store, tenant("acme"), &["b-1", "a-2"]).await;
    check(&store, tenant("nobody"), &[]).await;
    let parent = |run: &str| RunFilter {
        parent: Some(id(run)),
        ..all()
    };
    check(&store, parent("a-1"), &["b-2", "b-1"]).await;
    check(&store, parent("c_1"), &[]).await;
    let times = |since_ms, until_ms| RunFilter {
        since_ms,
        until_ms,
        ..all()
    };
    check(&store, times(Some(T0 + 40), None), &["c%1", "c_1"]).await;
    check(&store, times(None, Some(T0 + 10)), &["a-1"]).await;
    check(&store, times(Some(T0 + 10), Some(T0 + 30)), &["b-1", "a-2"]).await;
}

pub async fn filters_combine(store: S) {
    some_runs(&store).await;
    let all = RunFilter::default;
    let filter = RunFilter {
        flow: Some("f".into()),
        status: vec![RunStatus::Completed, RunStatus::Paused],
        ..all()
    };
    check(&store, filter.clone(), &["c%1", "c_1", "a-1"]).await;
    let filter = RunFilter {
        tags: vec!["x".into()],
        ..filter
    };
    check(&store, filter.clone(), &["c%1", "a-1"]).await;
    let filter = RunFilter {
        tenant: Some("globex".into()),
        id_prefix: Some("c".into()),
        since_ms: Some(T0),
        until_ms: Some(T0 + 1_000),
        version: Some("1".into()),
        ..filter
    };
    check(&store, filter.clone(), &["c%1"]).await;
    let filter = RunFilter {
        parent: Some(id("a-1")),
        ..filter
    };
    check(&store, filter, &[]).await;
    let filter = RunFilter {
        parent: Some(id("a-1")),
        status: vec![RunStatus::Waiting],
        tenant: None,
        id_prefix: Some("b".into()),
        ..all()
    };
    check(&store, filter, &["b-2"]).await;
    let filter = RunFilter {
        tenant: Some("acme".into()),
        status: vec![RunStatus::Running, RunStatus::Failed],
        ..all()
    };
    check(&store, filter, &["b-1", "a-2"]).await;
}

pub async fn pages_follow_each_other_without_gap_or_repeat(store: S) {
    for at in 0..53 {
        let new = NewRun {
            tags: names(["t"]),
            ..run(&format!("r{at:02}"))
        };
        create(&store, new).await;
    }
    let expected: Vec<String> = (0..53).rev().map(|at| format!("r{at:02}")).collect();
    for tags in [Vec::new(), vec!["t".into()]] {
        for limit in [1, 7, 52, 53, 54] {
            let filter = RunFilter {
                limit,
                tags: tags.clone(),
                ..RunFilter::default()
            };
            assert_eq!(ids(&store, filter).await, expected);
        }
    }
}

pub async fn pages_hold_while_runs_are_added(store: S) {
    for at in 0..6 {
        create(&store, run(&format!("old{at}"))).await;
    }
    let filter = RunFilter {
        limit: 3,
        ..RunFilter::default()
    };
    let first = must(store.list_runs(&filter).await);
    for at in 0..4 {
        create(&store, run(&format!("new{at}"))).await;
    }
    let rest = RunFilter {
        cursor: first.next,
        limit: 10,
        ..filter
    };
    let rest = must(store.list_runs(&rest).await);
    let rest: Vec<_> = rest.items.iter().map(|run| run.id.to_string()).collect();
    assert_eq!(rest, ["old2", "old1", "old0"]);
}

pub async fn several_statuses_are_one_list(store: S) {
    for at in 0..30 {
        let status = RunStatus::ALL[at % RunStatus::ALL.len()];
        let new = NewRun {
            projection: match status.is_ended() {
                true => ended(status, T0 + 1),
                false => projection(status),
            },
            task: None,
            ..run(&format!("r{at:02}"))
        };
        create(&store, new).await;
    }
    let wanted = vec![
        RunStatus::Failed,
        RunStatus::Completed,
        RunStatus::Waiting,
        RunStatus::Failed,
    ];
    let expected: Vec<String> = (0..30usize)
        .rev()
        .filter(|at| wanted.contains(&RunStatus::ALL[at % RunStatus::ALL.len()]))
        .map(|at| format!("r{at:02}"))
        .collect();
    for limit in [1, 4, 100] {
        let filter = RunFilter {
            status: wanted.clone(),
            limit,
            ..RunFilter::default()
        };
        assert_eq!(ids(&store, filter).await, expected);
    }
}

pub async fn a_prefix_is_not_a_pattern(store: S) {
    some_runs(&store).await;
    for (prefix, expected) in [
        ("a", &["a-2", "a-1"][..]),
        ("a-1", &["a-1"]),
        ("c_", &["c_1"]),
        ("c%", &["c%1"]),
        ("%", &[]),
        ("a-1x", &[]),
        ("", &["c%1", "c_1", "b-2", "b-1", "a-2", "a-1"]),
        ("A", &[]),
    ] {
        let filter = RunFilter {
            id_prefix: Some(prefix.to_owned()),
            ..RunFilter::default()
        };
        check(&store, filter, expected).await;
    }
}

pub async fn nonsense_is_no_cursor(store: S) {
    some_runs(&store).await;
    for text in ["", "x", "-1", "1.5", "1 OR 1", "99999999999999999999999"] {
        let filter = RunFilter {
            cursor: Some(text.to_owned()),
            limit: 1,
            ..RunFilter::default()
        };
        assert_eq!(
            refusal(store.list_runs(&filter).await),
            ErrorCode::BadCursor,
            "{text:?}"
        );
    }
}

pub async fn an_empty_list_is_empty(store: S) {
    let filter = RunFilter {
        limit: 10,
        ..RunFilter::default()
    };
    let page = must(store.list_runs(&filter).await);
    assert!(page.items.is_empty() && page.next.is_none());
    let filter = RunFilter {
        limit: usize::MAX,
        ..filter
    };
    assert!(must(store.list_runs(&filter).await).items.is_empty());
}

pub async fn many_runs_by_id(store: S) {
    some_runs(&store).await;
    let asked: Vec<RunId> = ["a-1", "nobody", "b-2"].into_iter().map(id).collect();
    let mut found: Vec<String> = must(store.runs(&asked).await)
        .into_iter()
        .map(|run| run.id.to_string())
        .collect();
    found.sort();
    assert_eq!(found, ["a-1", "b-2"]);
    assert!(must(store.runs(&[]).await).is_empty());
}
