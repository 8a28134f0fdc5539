//! Where the columns of stored rows are in a database file: the least of SQLite's file format.

use std::path::Path;

/// The bytes that one column of one row takes: those of its type, and those of its value.
#[derive(Debug)]
pub struct Cell {
    pub table: String,
    pub column: String,
    pub bytes: Vec<usize>,
}

struct Table {
    name: String,
    root: usize,
    /// In the order in which they are stored.
    columns: Vec<String>,
}

/// The columns of every row that is whole in its page.
pub fn cells(file: &Path) -> Vec<Cell> {
    let tables = tables(file);
    let bytes = std::fs::read(file).unwrap();
    let page = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    let page = if page == 1 { 1 << 16 } else { page };
    let mut found = Vec::new();
    for table in &tables {
        walk(&bytes, page, table, table.root, &mut found);
    }
    found
}

fn tables(file: &Path) -> Vec<Table> {
    let conn = rusqlite::Connection::open(file).unwrap();
    let mut list = conn
        .prepare("SELECT name, rootpage, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        .unwrap();
    let list = list.query_map([], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?))
    });
    let list: Vec<(String, usize, String)> = list.unwrap().map(Result::unwrap).collect();
    let table = |(name, root, sql): (String, usize, String)| {
        let is_keyed = sql.contains("WITHOUT ROWID");
        // The columns of such a key come first. Otherwise a number that is the key is the row's own,
        // and what is stored in its place is never read.
        let order = if is_keyed { "pk = 0, pk, cid" } else { "cid" };
        let shown = "iif(pk = 1 AND type = 'INTEGER' AND NOT ?1, '', name)";
        let sql = format!("SELECT {shown} FROM pragma_table_info('{name}') ORDER BY {order}");
        let mut columns = conn.prepare(&sql).unwrap();
        let columns = columns.query_map([is_keyed], |row| row.get(0)).unwrap();
        Table {
            columns: columns.map(Result::unwrap).collect(),
            name,
            root,
        }
    };
    list.into_iter().map(table).collect()
}

fn walk(bytes: &[u8], page: usize, table: &Table, number: usize, found: &mut Vec<Cell>) {
    let start = (number - 1) * page;
    let head = start + if number == 1 { 100 } else { 0 };
    let kind = bytes[head];
    let short = |at: usize| usize::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]));
    let child = |at: usize| {
        let number = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        u32::from_be_bytes(number) as usize
    };
    let is_leaf = kind & 8 != 0;
    let pointers = head + if is_leaf { 8 } else { 12 };
    for at in 0..short(head + 3) {
        let cell = start + short(pointers + 2 * at);
        if is_leaf {
            row(bytes, page, table, kind, cell, found);
        } else {
            walk(bytes, page, table, child(cell), found);
        }
    }
    if !is_leaf {
        walk(bytes, page, table, child(head + 8), found);
    }
}

fn row(bytes: &[u8], page: usize, table: &Table, kind: u8, cell: usize, found: &mut Vec<Cell>) {
    let (len, mut at) = varint(bytes, cell);
    if kind == 13 {
        at = varint(bytes, at).1;
    }
    // A longer one goes on in another page.
    if len as usize > page / 8 {
        return;
    }
    let (head, mut types) = varint(bytes, at);
    let end = at + head as usize;
    let mut value = end;
    for column in &table.columns {
        if types >= end {
            return;
        }
        let (code, next) = varint(bytes, types);
        let size = match code {
            0 | 8 | 9 => 0,
            1..=4 => code as usize,
            5 => 6,
            6 | 7 => 8,
            code => (code as usize - 12) / 2,
        };
        if !column.is_empty() {
            found.push(Cell {
                table: table.name.clone(),
                column: column.clone(),
                bytes: (types..next).chain(value..value + size).collect(),
            });
        }
        types = next;
        value += size;
    }
}

fn varint(bytes: &[u8], mut at: usize) -> (u64, usize) {
    let mut value = 0;
    loop {
        value = value << 7 | u64::from(bytes[at] & 0x7f);
        at += 1;
        if bytes[at - 1] < 0x80 {
            return (value, at);
        }
    }
}
