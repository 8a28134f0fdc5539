//! A visit begins to wait.

use riverrun_store::{Awaited, Given, Matcher, NewAwait, equality::Shape};
use rusqlite::params;

use super::{CALLBACKS, OPEN, Wakes, fire, lookback, record, shapes};
use crate::{columns::Sealed, core::Core, error::Worked};

/// Writes an await whose id is known to be free, of the run with this number.
pub(crate) fn add(core: &Core, new: &NewAwait, run: i64, wakes: &mut Wakes) -> Worked<()> {
    match &new.what {
        Awaited::Callback { .. } => {
            core.conn
                .prepare_cached("UPDATE shapes SET open = open + 1, held = held + 1 WHERE no = 0")?
                .execute([])?;
            insert(core, new, run, CALLBACKS, None)?;
        }
        Awaited::Event {
            kind,
            matcher,
            lookback_ms,
        } => {
            let shape = Shape::of(matcher.equal());
            let class = shapes::class(matcher);
            core.quiet.unlearn(kind);
            let (no, logged_ms) = shapes::join(&core.conn, kind, class, &shape.paths)?;
            let place = insert(core, new, run, no, Some(&shape.key))?;
            if let Some(lookback_ms) = lookback_ms {
                let from_ms = new.created_ms.saturating_sub(*lookback_ms);
                let window = lookback::Window {
                    kind,
                    shape: no,
                    paths: &shape.paths,
                    key: &shape.key,
                    tenant: new.tenant.as_deref(),
                    from_ms,
                };
                window.open(&core.conn, logged_ms, new.created_ms)?;
                look_back(core, new, run, place, matcher, &window, wakes)?;
            }
        }
    }
    Ok(())
}

fn insert(core: &Core, new: &NewAwait, run: i64, shape: i64, key: Option<&str>) -> Worked<i64> {
    let body = record::body(new);
    core.conn
        .prepare_cached(
            "INSERT INTO awaits (id, run, step, visit, tenant, state, shape, key, born, created_ms,
                                 expires_ms, body)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, coalesce((SELECT max(seq) FROM emits), 0), ?9,
                     ?10, ?11)",
        )?
        .execute(params![
            &*new.id,
            run,
            &*new.step,
            new.visit,
            new.tenant.as_deref(),
            OPEN,
            shape,
            key,
            new.created_ms,
            new.expires_ms,
            body.as_ref().map(Sealed::json),
        ])?;
    Ok(core.conn.last_insert_rowid())
}

fn look_back(
    core: &Core,
    new: &NewAwait,
    run: i64,
    place: i64,
    matcher: &Matcher,
    window: &lookback::Window<'_>,
    wakes: &mut Wakes,
) -> Worked<()> {
    let conn = &core.conn;
    let given = Given::of(&new.given);
    if matcher.filter().is_some() {
        wakes.signalled |= window.post(conn, &new.id, given, None)?;
        return Ok(());
    }
    let Some(event) = window.earliest(conn, given)? else {
        return Ok(());
    };
    let target = fire::Target {
        no: place,
        run,
        run_id: new.run.clone(),
        fired: 0,
    };
    fire::give(core, &target, &event, new.created_ms, wakes)?;
    shapes::shut(conn, window.shape, 1)
}
