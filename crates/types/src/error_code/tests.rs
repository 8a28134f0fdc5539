use std::collections::BTreeSet;

use serde_json::{from_str, to_string};

use super::{Code, Disposition, ErrorCode, Seen};

#[test]
fn every_code_is_there_once_and_reads_back() {
    let texts: BTreeSet<&str> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(texts.len(), ErrorCode::ALL.len());
    for code in ErrorCode::ALL {
        assert_eq!(ErrorCode::parse(code.as_str()), Some(*code));
    }
    assert_eq!(ErrorCode::parse("run_not_found"), None);
    assert_eq!(ErrorCode::parse(""), None);
}

#[test]
fn variants_are_called_like_their_codes() {
    for code in ErrorCode::ALL {
        let squeezed = code.as_str().replace('_', "");
        assert_eq!(format!("{code:?}").to_uppercase(), squeezed);
    }
}

#[test]
fn every_code_has_three_texts_and_a_status_of_an_error() {
    for code in ErrorCode::ALL {
        for text in [code.what(), code.why(), code.fix()] {
            assert!(text.ends_with(['.', ':', '`']), "{code}: {text:?}");
            assert!(!text.contains("  "), "{code}: {text:?}");
        }
        assert!(
            code.status()
                .is_none_or(|status| (400..600).contains(&status)),
            "{code}"
        );
    }
}

/// A status that asks clients to try again, and a disposition that forbids it, would contradict
/// each other.
#[test]
fn statuses_agree_with_dispositions() {
    for code in ErrorCode::ALL {
        let Seen::Request(status) = code.seen() else {
            continue;
        };
        let may_retry = matches!(
            code.disposition(),
            Disposition::Release | Disposition::Retry
        );
        match status {
            408 | 429 | 504 => assert!(may_retry, "{code}"),
            400 | 401 | 403..=405 | 413 | 415 | 422 | 426 => assert!(!may_retry, "{code}"),
            _ => {}
        }
    }
}

#[test]
fn only_work_that_is_not_the_cause_is_released() {
    let released: Vec<&str> = ErrorCode::ALL
        .iter()
        .filter(|code| code.disposition() == Disposition::Release)
        .map(|code| code.as_str())
        .collect();
    let expected = ["NO_WORKER", "RUNNER_ENDED", "SHUTTING_DOWN", "WORKER_LOST"];
    assert_eq!(BTreeSet::from_iter(released), BTreeSet::from(expected));
}

#[test]
fn codes_are_their_text_in_json() {
    for (text, known) in [
        ("TIMEOUT", Some(ErrorCode::Timeout)),
        ("CARD_DECLINED", None),
        ("", None),
    ] {
        let code = Code::from(text);
        assert_eq!(code.known(), known);
        assert_eq!(code.as_str(), text);
        let json = to_string(&code).unwrap();
        assert_eq!(json, format!("{text:?}"));
        assert_eq!(from_str::<Code>(&json).unwrap(), code);
        assert_eq!(Code::from(text.to_owned()), code);
    }
    assert_eq!(Code::default(), Code::from(""));
}
