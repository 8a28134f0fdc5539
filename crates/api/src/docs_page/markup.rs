//! The HTML frame of every page.

use crate::html::escape;

const STYLE: &str = "
:root { color-scheme: light dark; --ink: #1c2430; --paper: #fdfdfb; --quiet: #66707e;
  --line: #dfe3e8; --tint: #f1f4f6; --link: #0b62a8; --get: #1f7a4d; --post: #9a5b00; --delete: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ee; --paper: #12161c; --quiet: #96a1b0;
  --line: #2b323c; --tint: #1b212a; --link: #7cb8f0; --get: #67c596; --post: #e3a857; --delete: #f2938c; } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 62rem; padding: 2rem 1.25rem 6rem; background: var(--paper);
  color: var(--ink); font: 16px/1.55 system-ui, sans-serif }
h1 { font-size: 1.7rem; line-height: 1.2 } h2 { margin-top: 2.5rem; font-size: 1.25rem }
a { color: var(--link) } code, pre { font: .9em ui-monospace, monospace }
pre { padding: .75rem 1rem; overflow-x: auto; background: var(--tint); border-radius: 6px }
.quiet { color: var(--quiet); font-weight: 400 }
table { width: 100%; border-collapse: collapse; font-size: .92rem }
th, td { padding: .35rem .6rem .35rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top }
th { color: var(--quiet); font-weight: 500 }
details { border-bottom: 1px solid var(--line) } details > div { padding: 0 0 1rem 1rem }
summary { padding: .5rem 0; cursor: pointer; overflow-wrap: anywhere }
summary b { display: inline-block; min-width: 4.2rem; font: 600 .85em ui-monospace, monospace }
.get { color: var(--get) } .post { color: var(--post) } .delete { color: var(--delete) }
nav a { margin-right: 1rem }
";

pub(super) fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{}</title><style>{STYLE}</style></head><body>\
         <nav><a href=\"/\">riverrun</a><a href=\"/api/docs\">API</a><a href=\"/api/docs/errors\">Errors</a></nav>\
         <main>{body}</main></body></html>",
        escape(title)
    )
}

/// Escaped text in which `words` between backticks are code.
pub(super) fn prose(text: &str) -> String {
    let mut shown = String::new();
    for (at, part) in text.split('`').enumerate() {
        match at % 2 {
            1 => shown.push_str(&format!("<code>{}</code>", escape(part))),
            _ => shown.push_str(&escape(part)),
        }
    }
    shown
}
