//! JavaScript: harmless, wrong, and written to hold up an engine.

use rand::{RngExt, rngs::StdRng};

use super::pick;

const HOSTILE: [&str; 18] = [
    "[].reverse.call({length: 2 ** 53 - 1})",
    "new Array(2 ** 32 - 1).join('')",
    "Array.prototype.sort.call({length: 2 ** 31})",
    "('a'.repeat(900000) + 'b').includes('a'.repeat(450000) + 'c')",
    "Array.prototype.indexOf.call({length: 2 ** 53 - 1}, 1)",
    "/^(a+)+$/.test('a'.repeat(40) + 'b')",
    "'x'.padStart(2 ** 29)",
    "'x'.repeat(2 ** 30).length",
    "(2n ** 30000000n).toString().length",
    "[...Array(1e7)].map(x => [x])",
    "(() => { let s = 'x'; while (true) s += s; })()",
    "(() => { while (true); })()",
    "(function f() { return f() + f() })()",
    "JSON.stringify((() => { let a = [1]; for (let n = 0; n < 40; n++) a = [a, a]; return a })())",
    "Object.fromEntries([...Array(1e6).keys()].map(n => ['k' + n, n]))",
    "[].concat.apply([], Array(2 ** 31))",
    "new Proxy({}, { get() { throw 1 }, ownKeys() { return Array(1e9) } })",
    "'a,'.repeat(5e5).split(',').sort().reverse().join()",
];

const HARMLESS: [&str; 10] = [
    "input.a",
    "input.items.length",
    "input.items.map(x => x)",
    "({ ...input, n: 1 })",
    "input.text + input.text + input.text",
    "JSON.stringify(input)",
    "Object.keys(input).length > 3",
    "input.n * 2",
    "(input.text ?? '').slice(0, 5)",
    "input.missing.property",
];

pub fn expression(dice: &mut StdRng) -> String {
    match dice.random_range(0..10) {
        0..4 => (*pick(dice, &HOSTILE)).to_owned(),
        4..8 => (*pick(dice, &HARMLESS)).to_owned(),
        8 => format!(
            "{}1{}",
            "(".repeat(dice.random_range(1..3_000)),
            ")".repeat(2_999)
        ),
        _ => {
            let list = "input.a,".repeat(dice.random_range(1..5_000));
            format!("[{list}]")
        }
    }
}
