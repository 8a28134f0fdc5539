//! The only retry decision: again at a time, or not.

use riverrun_types::{Millis, Retry, time::MAX_WAIT_MS};

use crate::Failure;

/// How many attempts may be lost with their worker in a row before the visit is parked: work that
/// kills its worker must not kill workers for ever.
pub const MAX_LOSSES: u32 = 10;

/// When to try again after the visit's `failures`-th failure; `None` for never. `jitter` is a
/// number from 0 to 1 that came in with the input.
pub fn after_failure(
    policy: Option<&Retry>,
    failure: &Failure,
    failures: u32,
    jitter: f64,
) -> Option<Millis> {
    let policy = policy?;
    if failure.retriable == Some(false) || failures >= policy.max_attempts {
        return None;
    }
    let is_named = |errors: &Vec<String>| {
        let name = failure.thrown.as_ref().and_then(|one| one.name.as_deref());
        let mut names = [Some(failure.code.as_str()), name].into_iter();
        names.any(|name| errors.iter().any(|error| Some(error.as_str()) == name))
    };
    if policy
        .retry_on
        .as_ref()
        .is_some_and(|errors| !is_named(errors))
    {
        return None;
    }
    let delay = match failure.retry_after_ms {
        Some(ms) => ms as f64,
        None => {
            let full = backoff_ms(policy, failures);
            full * (1.0 - policy.jitter.clamp(0.0, 1.0) * jitter.clamp(0.0, 1.0))
        }
    };
    Some(delay.clamp(0.0, MAX_WAIT_MS as f64) as Millis)
}

/// `min(backoffMs * backoffMultiplier^(n-1), maxBackoffMs)`
fn backoff_ms(policy: &Retry, failures: u32) -> f64 {
    let exponent = i32::try_from(failures.saturating_sub(1)).unwrap_or(i32::MAX);
    // Kept finite: zero times infinity is not a number, and a backoff of zero stays zero.
    let factor = policy.backoff_multiplier.powi(exponent).min(f64::MAX);
    (policy.backoff_ms as f64 * factor).min(policy.max_backoff_ms as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> Retry {
        Retry {
            max_attempts: 4,
            backoff_ms: 100,
            backoff_multiplier: 2.0,
            max_backoff_ms: 300,
            retry_on: None,
            jitter: 0.0,
        }
    }

    fn check(policy: Retry, failure: Failure, failures: u32, expected: Option<Millis>) {
        assert_eq!(
            after_failure(Some(&policy), &failure, failures, 0.5),
            expected
        );
    }

    #[test]
    fn delays_grow_to_the_cap_and_end_with_the_attempts() {
        let failure = || Failure::new("E", "e");
        for (failures, expected) in [
            (1, Some(100)),
            (2, Some(200)),
            (3, Some(300)),
            (4, None),
            (5, None),
        ] {
            check(policy(), failure(), failures, expected);
        }
        assert_eq!(after_failure(None, &failure(), 1, 0.0), None);
        check(
            Retry {
                jitter: 1.0,
                ..policy()
            },
            failure(),
            1,
            Some(50),
        );
        check(
            Retry {
                backoff_ms: 0,
                ..policy()
            },
            failure(),
            1,
            Some(0),
        );
        check(
            Retry {
                backoff_ms: u64::MAX,
                max_attempts: u32::MAX,
                max_backoff_ms: u64::MAX,
                ..policy()
            },
            failure(),
            4_000_000,
            Some(MAX_WAIT_MS),
        );
    }

    #[test]
    fn no_backoff_stays_none_after_any_number_of_failures() {
        let policy = Retry {
            backoff_ms: 0,
            max_attempts: u32::MAX,
            ..policy()
        };
        check(policy, Failure::new("E", "e"), 4_000_000, Some(0));
    }

    #[test]
    fn only_what_may_be_retried_is() {
        let only = || Retry {
            retry_on: Some(vec!["A".into()]),
            ..policy()
        };
        check(only(), Failure::new("A", ""), 1, Some(100));
        check(only(), Failure::new("B", ""), 1, None);
        let named = |name: &str| Failure::new("B", "").thrown(Some(name.into()), None);
        check(only(), named("A"), 1, Some(100));
        check(only(), named("C"), 1, None);
        check(policy(), Failure::new("A", "").permanent(), 1, None);
        check(
            policy(),
            Failure {
                retry_after_ms: Some(7),
                ..Failure::new("A", "")
            },
            3,
            Some(7),
        );
    }
}
