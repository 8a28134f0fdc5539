//! Targets, and the one rule by which they scale with the machine.

/// The machine that the targets were written for: synced 4 KiB appends a second of one thread,
/// and small POSTs a second to an empty axum server.
const REFERENCE: Machine = Machine {
    appends: 2_500.0,
    posts: 49_000.0,
};

/// A machine of less than this share of the reference is busy with something else, or of another
/// kind: machines drift by 1.7 times.
const COMPARABLE: f64 = 0.5;

/// What this machine can do at best, now.
#[derive(Clone, Copy)]
pub struct Machine {
    pub appends: f64,
    pub posts: f64,
}

/// What a figure is to reach on the reference machine.
#[derive(Clone, Copy)]
pub enum Target {
    AtLeast(f64, By),
    Below(f64, By),
}

/// Which limit of the machine a target depends on.
#[derive(Clone, Copy)]
pub enum By {
    /// None: memory, bytes, starts.
    Nothing,
    /// A sync to disk is most of it.
    Sync,
    /// The processor is most of it.
    Cpu,
    /// Throughput that needs both.
    Both,
}

impl Machine {
    /// This machine's share of the reference, at most 1: a slower machine eases a target, a
    /// faster one does not tighten it.
    fn speed(self, by: By) -> f64 {
        let appends = (self.appends / REFERENCE.appends).min(1.0);
        let posts = (self.posts / REFERENCE.posts).min(1.0);
        match by {
            By::Nothing => 1.0,
            By::Sync => appends,
            By::Cpu => posts,
            By::Both => appends.min(posts),
        }
    }
}

/// How a figure stands to its target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    Met,
    Missed,
    /// The machine was too far from the reference for the target to mean anything.
    Unjudged,
}

impl Target {
    /// The value to reach on this machine: rates are multiplied by its speed, times divided.
    pub fn on(self, machine: Machine) -> f64 {
        match self {
            Self::AtLeast(value, by) => value * machine.speed(by),
            Self::Below(value, by) => value / machine.speed(by),
        }
    }

    pub fn verdict(self, machine: Machine, value: f64) -> Verdict {
        let (is_met, by) = match self {
            Self::AtLeast(_, by) => (value >= self.on(machine), by),
            Self::Below(_, by) => (value < self.on(machine), by),
        };
        match is_met {
            _ if machine.speed(by) < COMPARABLE => Verdict::Unjudged,
            true => Verdict::Met,
            false => Verdict::Missed,
        }
    }

    pub fn sign(self) -> &'static str {
        match self {
            Self::AtLeast(..) => "≥",
            Self::Below(..) => "<",
        }
    }

    pub fn reference(self) -> f64 {
        match self {
            Self::AtLeast(value, _) | Self::Below(value, _) => value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slower_machine_eases_and_a_faster_one_does_not_tighten() {
        let check = |appends, posts, target: Target, expected: f64| {
            let here = target.on(Machine { appends, posts });
            assert!((here - expected).abs() < 1e-9, "{here}, not {expected}");
        };
        check(
            2_500.0,
            49_000.0,
            Target::AtLeast(8_000.0, By::Both),
            8_000.0,
        );
        check(
            1_250.0,
            49_000.0,
            Target::AtLeast(8_000.0, By::Both),
            4_000.0,
        );
        check(
            2_500.0,
            24_500.0,
            Target::AtLeast(8_000.0, By::Both),
            4_000.0,
        );
        check(
            5_000.0,
            98_000.0,
            Target::AtLeast(8_000.0, By::Both),
            8_000.0,
        );
        check(1_250.0, 49_000.0, Target::Below(1.0, By::Sync), 2.0);
        check(1_250.0, 24_500.0, Target::Below(1.0, By::Cpu), 2.0);
        check(1_250.0, 24_500.0, Target::Below(30.0, By::Nothing), 30.0);
    }

    #[test]
    fn a_machine_of_another_kind_is_not_judged() {
        let check = |appends, value, expected| {
            let machine = Machine {
                appends,
                posts: 49_000.0,
            };
            let verdict = Target::Below(1.0, By::Sync).verdict(machine, value);
            assert_eq!(verdict, expected);
        };
        check(2_500.0, 0.9, Verdict::Met);
        check(2_500.0, 1.0, Verdict::Missed);
        check(1_250.0, 1.9, Verdict::Met);
        check(1_000.0, 0.9, Verdict::Unjudged);
    }
}
