//! The lanes of a queue: one for each key that has jobs which have not ended.

use riverrun_store::{
    JobState,
    judge::{BLOCKED, LaneRow, LaneShift},
};
use rusqlite::{Connection, OptionalExtension};

use super::Queue;
use crate::error::Worked;

/// The lane of a key, created if it does not exist; 0 without a key.
pub(super) fn of(conn: &Connection, queue: &Queue, key: Option<&str>) -> Worked<i64> {
    let Some(key) = key else {
        return Ok(0);
    };
    let known: Option<i64> = conn
        .prepare_cached("SELECT no FROM lanes WHERE queue = ?1 AND key = ?2")?
        .query_row((queue.no, key), |row| row.get(0))
        .optional()?;
    if let Some(no) = known {
        return Ok(no);
    }
    conn.prepare_cached("INSERT INTO lanes (queue, key, turn) VALUES (?1, ?2, ?3)")?
        .execute((queue.no, key, queue.row.turn))?;
    Ok(conn.last_insert_rowid())
}

/// A job of the lane was added, moved or removed. [`LaneRow::shifted`] in one statement.
pub(super) fn shift(
    conn: &Connection,
    queue: &mut Queue,
    lane: i64,
    from: Option<JobState>,
    to: Option<JobState>,
) -> Worked<()> {
    queue.shift(from, to);
    if lane == 0 {
        return Ok(());
    }
    let LaneShift {
        waiting,
        active,
        held,
    } = LaneShift::of(from, to);
    conn.prepare_cached(
        "UPDATE lanes SET waiting = waiting + ?2, active = active + ?3, held = held + ?4,
                turn = iif(?3 < 0 AND turn = ?5, ?6, turn)
         WHERE no = ?1",
    )?
    .execute((lane, waiting, active, held, BLOCKED, queue.row.turn))?;
    queue.row.keyed += waiting;
    if held < 0 {
        conn.prepare_cached("DELETE FROM lanes WHERE no = ?1 AND held = 0")?
            .execute([lane])?;
    }
    Ok(())
}

/// The lanes that may be served, see [`riverrun_store::judge::ClaimRows::lanes`].
pub(super) fn ready(
    conn: &Connection,
    queue: i64,
    active_below: i64,
    most: i64,
) -> Worked<Vec<LaneRow>> {
    let mut statement = conn.prepare_cached(
        "SELECT no, turn, waiting, active, held FROM lanes
         WHERE queue = ?1 AND waiting > 0 AND turn < ?2 AND active < ?3 ORDER BY turn LIMIT ?4",
    )?;
    let lanes = statement.query_map((queue, BLOCKED, active_below, most), |row| {
        Ok(LaneRow {
            place: row.get(0)?,
            turn: row.get(1)?,
            waiting: row.get(2)?,
            active: row.get(3)?,
            held: row.get(4)?,
        })
    })?;
    Ok(lanes.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn set_turn(conn: &Connection, lane: i64, turn: i64) -> Worked<()> {
    conn.prepare_cached("UPDATE lanes SET turn = ?2 WHERE no = ?1")?
        .execute((lane, turn))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::{connection, migrate};

    /// The statement has the effect of the rule, whatever the row and the move.
    #[test]
    fn a_shift_is_the_rule() {
        let mut conn = connection::writer(None).unwrap();
        migrate::migrate(&mut conn).unwrap();
        let mut queue = Queue::default();
        (queue.no, queue.row.turn) = (1, 7);
        let states = || JobState::ALL.into_iter().map(Some).chain([None]);
        for (from, to) in states().flat_map(|from| states().map(move |to| (from, to))) {
            for (turn, held) in [(3, 2), (BLOCKED, 2), (3, 1), (BLOCKED, 1)] {
                let lane = LaneRow {
                    place: 1,
                    turn,
                    waiting: 1,
                    active: 1,
                    held,
                };
                conn.execute(
                    "INSERT OR REPLACE INTO lanes (no, queue, key, waiting, active, held, turn)
                     VALUES (1, 1, 'k', 1, 1, ?1, ?2)",
                    (held, turn),
                )
                .unwrap();
                shift(&conn, &mut queue, 1, from, to)
                    .map_err(|_| ())
                    .unwrap();
                let after = conn
                    .query_row(
                        "SELECT no, turn, waiting, active, held FROM lanes",
                        [],
                        |row| {
                            Ok(LaneRow {
                                place: row.get(0)?,
                                turn: row.get(1)?,
                                waiting: row.get(2)?,
                                active: row.get(3)?,
                                held: row.get(4)?,
                            })
                        },
                    )
                    .optional()
                    .unwrap();
                let expected = lane.shifted(LaneShift::of(from, to), &queue.row);
                assert_eq!(after, expected, "{lane:?} from {from:?} to {to:?}");
            }
        }
    }
}
