//! Checksums of stored payloads: CRC-32, which detects all damage of up to 32 neighbouring bits.
//!
//! They guard against disks and file systems that return other bytes than were written, not against
//! people.

/// The checksum of several pieces, as if they were one.
pub fn of(pieces: &[&[u8]]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    pieces.iter().for_each(|piece| hasher.update(piece));
    hasher.finalize()
}

/// Bytes that a seal adds.
const SEAL_BYTES: usize = 4;

/// A text followed by its checksum.
pub fn seal(text: &str) -> Vec<u8> {
    let mut sealed = Vec::with_capacity(text.len() + SEAL_BYTES);
    sealed.extend_from_slice(text.as_bytes());
    sealed.extend_from_slice(&crc32fast::hash(text.as_bytes()).to_le_bytes());
    sealed
}

/// The text inside a seal; `None` if it is not the one that was sealed.
pub fn unseal(sealed: &[u8]) -> Option<&str> {
    let (text, sum) = sealed.split_last_chunk::<SEAL_BYTES>()?;
    (crc32fast::hash(text) == u32::from_le_bytes(*sum)).then_some(())?;
    std::str::from_utf8(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_bit_anywhere_breaks_the_seal() {
        for text in ["", "null", r#"{"amount":100,"currency":"EUR"}"#] {
            let sealed = seal(text);
            assert_eq!(unseal(&sealed), Some(text));
            for bit in 0..sealed.len() * 8 {
                let mut damaged = sealed.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(unseal(&damaged), None, "{text} bit {bit}");
            }
            for len in 0..sealed.len() {
                assert_eq!(unseal(&sealed[..len]), None, "{text} cut to {len}");
            }
        }
    }

    #[test]
    fn pieces_are_summed_as_one() {
        assert_eq!(of(&[b"ab", b"c"]), of(&[b"abc"]));
        assert_ne!(of(&[b"abc"]), of(&[b"abd"]));
    }
}
