//! The stored form of events: the events of a commit are one packed chunk.
//!
//! A chunk is written once and read whole. Per event it holds a type code, the milliseconds since
//! the event before, a reference into the chunk's own table of texts for names, small numbers for
//! visit and attempt, and the payload as its text. The stream's own data (run id, flow, tenant,
//! position) is not repeated. The overhead is about ten bytes an event beside its payload.
//!
//! A checksum follows the first byte. It covers the events, their position and their time, so that
//! a chunk which was damaged, or is not where it was written, is detected.

use riverrun_types::{Draft, EventType, Json, Millis, Name, StepRef};

use crate::checksum;

/// The first byte of a chunk.
const FORMAT: u8 = 2;
/// The first byte of a chunk without a checksum, which older versions wrote.
const UNSUMMED: u8 = 1;
const SUM_BYTES: usize = 4;

const STEP: u8 = 1;
const CORRELATION: u8 = 2;
const CAUSATION: u8 = 4;
const DATA: u8 = 8;
const TENANT: u8 = 16;

/// Packs drafts whose times are already in order. `first` and `base_ms` are the position and the
/// time in the chunk's row.
pub fn encode(drafts: &[Draft], first: u64, base_ms: Millis) -> Vec<u8> {
    let payload: usize = drafts
        .iter()
        .filter_map(|d| d.data.as_ref())
        .map(Json::bytes)
        .sum();
    let mut out = Vec::with_capacity(payload + drafts.len() * 12 + 64);
    let mut names = Names::default();
    out.push(FORMAT);
    out.extend_from_slice(&[0; SUM_BYTES]);
    number(&mut out, drafts.len() as u64);
    let mut before = base_ms;
    for draft in drafts {
        let code = draft.kind.code();
        out.push(code);
        if code == 0 {
            names.write(&mut out, draft.kind.as_str());
        }
        let ms = draft.ms.max(before);
        number(&mut out, (ms - before) as u64);
        before = ms;
        out.push(flags(draft));
        if let Some(step) = &draft.step {
            names.write(&mut out, &step.name);
            number(&mut out, step.visit.into());
            number(&mut out, step.attempt.into());
        }
        if let Some(id) = &draft.correlation_id {
            names.write(&mut out, id);
        }
        if let Some(id) = &draft.causation_id {
            names.write(&mut out, id);
        }
        if let Some(id) = &draft.tenant_id {
            names.write(&mut out, id);
        }
        if let Some(data) = &draft.data {
            text(&mut out, data.as_str());
        }
    }
    if let Some((head, body)) = out.split_at_mut_checked(1 + SUM_BYTES) {
        head[1..].copy_from_slice(&sum(body, first, base_ms).to_le_bytes());
    }
    out
}

/// Unpacks a chunk. `None` if it is damaged.
pub fn decode(chunk: &[u8], first: u64, base_ms: Millis) -> Option<Vec<Draft>> {
    let mut input = Input {
        bytes: chunk,
        names: Vec::new(),
    };
    match input.byte()? {
        FORMAT => {
            let (expected, body) = input.bytes.split_first_chunk::<SUM_BYTES>()?;
            (sum(body, first, base_ms) == u32::from_le_bytes(*expected)).then_some(())?;
            input.bytes = body;
        }
        UNSUMMED => {}
        _ => return None,
    }
    let count = usize::try_from(input.number()?).ok()?;
    let mut drafts = Vec::with_capacity(count.min(chunk.len()));
    let mut ms = base_ms;
    for _ in 0..count {
        let code = input.byte()?;
        let kind = match code {
            0 => EventType::Other(input.name()?),
            // A newer riverrun wrote a type that this one does not know.
            code => EventType::from_code(code)
                .unwrap_or_else(|| EventType::Other(format!("unknown.{code}").into())),
        };
        ms = ms.checked_add(i64::try_from(input.number()?).ok()?)?;
        let flags = input.byte()?;
        let mut draft = Draft::new(ms, kind);
        if flags & STEP != 0 {
            draft.step = Some(StepRef {
                name: input.name()?,
                visit: input.number()?.try_into().ok()?,
                attempt: input.number()?.try_into().ok()?,
            });
        }
        if flags & CORRELATION != 0 {
            draft.correlation_id = Some(input.name()?);
        }
        if flags & CAUSATION != 0 {
            draft.causation_id = Some(input.name()?);
        }
        if flags & TENANT != 0 {
            draft.tenant_id = Some(input.name()?);
        }
        if flags & DATA != 0 {
            draft.data = Some(Json::stored(input.text()?.to_owned()).ok()?);
        }
        drafts.push(draft);
    }
    input.bytes.is_empty().then_some(drafts)
}

/// Whether a chunk was written with a checksum.
pub fn has_checksum(chunk: &[u8]) -> bool {
    chunk.first() != Some(&UNSUMMED)
}

fn sum(body: &[u8], first: u64, base_ms: Millis) -> u32 {
    checksum::of(&[&first.to_le_bytes(), &base_ms.to_le_bytes(), body])
}

fn flags(draft: &Draft) -> u8 {
    let flag = |there: bool, bit: u8| if there { bit } else { 0 };
    flag(draft.step.is_some(), STEP)
        | flag(draft.correlation_id.is_some(), CORRELATION)
        | flag(draft.causation_id.is_some(), CAUSATION)
        | flag(draft.tenant_id.is_some(), TENANT)
        | flag(draft.data.is_some(), DATA)
}

/// Little-endian base 128.
fn number(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

fn text(out: &mut Vec<u8>, text: &str) {
    number(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Names already written: each is spelled out once and then referred to by its number.
#[derive(Default)]
struct Names<'a> {
    known: Vec<&'a str>,
}

impl<'a> Names<'a> {
    fn write(&mut self, out: &mut Vec<u8>, name: &'a str) {
        // A chunk has few names: a scan is faster than a map. Past a handful, spelling out is
        // cheaper.
        match self.known.iter().take(64).position(|known| *known == name) {
            Some(at) => number(out, at as u64 + 1),
            None => {
                number(out, 0);
                text(out, name);
                self.known.push(name);
            }
        }
    }
}

struct Input<'a> {
    bytes: &'a [u8],
    names: Vec<Name>,
}

impl<'a> Input<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<u64> {
        let mut n = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            n |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(n);
            }
        }
        None
    }

    fn text(&mut self) -> Option<&'a str> {
        let len = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.bytes.split_at_checked(len)?;
        self.bytes = rest;
        std::str::from_utf8(text).ok()
    }

    fn name(&mut self) -> Option<Name> {
        match self.number()? {
            0 => {
                let name = Name::from(self.text()?);
                self.names.push(name.clone());
                Some(name)
            }
            at => self.names.get(usize::try_from(at).ok()? - 1).cloned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn draft() -> impl Strategy<Value = Draft> {
        let kind = prop_oneof![
            (0..EventType::KNOWN.len()).prop_map(|at| EventType::KNOWN[at].clone()),
            "[a-z]{1,6}\\.[a-z]{1,6}".prop_map(|text| EventType::parse(&text)),
        ];
        let step = proptest::option::of(("[a-c]{1,2}", 1..300u32, 0..300u32));
        let name = || proptest::option::of("[a-z0-9]{1,9}");
        let data = proptest::option::of("\\PC{0,40}");
        let ids = (name(), name(), name());
        (kind, 0..1_000_000i64, step, ids, data).prop_map(
            |(kind, ms, step, (correlation, causation, tenant), data)| Draft {
                ms,
                kind,
                step: step.map(|(name, visit, attempt)| StepRef {
                    name: name.into(),
                    visit,
                    attempt,
                }),
                correlation_id: correlation.map(Name::from),
                causation_id: causation.map(Name::from),
                tenant_id: tenant.map(Name::from),
                data: data.map(|text| Json::from(text.as_str())),
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_packed_unpacks(mut drafts in proptest::collection::vec(draft(), 0..90), base in 0..1000i64) {
            drafts.sort_by_key(|draft| draft.ms);
            let mut expected = drafts.clone();
            expected.iter_mut().for_each(|draft| draft.ms = draft.ms.max(base));
            prop_assert_eq!(decode(&encode(&drafts, 7, base), 7, base), Some(expected));
        }

        #[test]
        fn damage_is_detected(drafts in proptest::collection::vec(draft(), 1..5), at in any::<prop::sample::Index>(), bit in 0..8u32) {
            let chunk = encode(&drafts, 3, 0);
            prop_assert_eq!(decode(&chunk, 4, 0), None);
            prop_assert_eq!(decode(&chunk, 3, 1), None);
            let at = at.index(chunk.len());
            prop_assert_eq!(decode(&chunk[..at], 3, 0), None);
            let mut damaged = chunk;
            damaged[at] ^= 1 << bit;
            prop_assert_eq!(decode(&damaged, 3, 0), None);
        }

        #[test]
        fn chunks_of_older_versions_unpack(mut drafts in proptest::collection::vec(draft(), 0..9)) {
            drafts.sort_by_key(|draft| draft.ms);
            let mut chunk = encode(&drafts, 3, 0);
            chunk.drain(1..=SUM_BYTES);
            chunk[0] = UNSUMMED;
            prop_assert_eq!(decode(&chunk, 3, 0), Some(drafts));
        }
    }

    #[test]
    fn an_event_costs_about_ten_bytes_beside_its_payload() {
        let step = |name: &str| StepRef {
            name: name.into(),
            visit: 1,
            attempt: 1,
        };
        let drafts: Vec<Draft> = ["first", "second", "third"]
            .into_iter()
            .flat_map(|name| {
                [EventType::StepStarted, EventType::StepCompleted]
                    .map(|kind| Draft::new(5, kind).step(step(name)))
            })
            .collect();
        assert!(encode(&drafts, 0, 0).len() < 64);
    }
}
