//! Scripts: a line that begins at the margin does something to the run, the indented lines after
//! it are what follows. `check` plays the commands and compares the whole text.
//!
//! A visit is written `step`, from the second on `step#2`, with its attempt `step/2` where it is
//! not the first. Times are milliseconds since the start.
//!
//! | command | |
//! | --- | --- |
//! | `start <input>`, `start-in <ms> <input>`, `start-at-depth <n>` | begins the run |
//! | `begin v`, `run v <output>` | begins an attempt; begins and ends it well |
//! | `ok v <output>`, `goto v step`, `end v <output>` | ends the attempt that runs |
//! | `fail v CODE`, `fail v CODE permanent`, `fail v CODE after <ms>` | |
//! | `wait v <ms>` | |
//! | `fork v p,q [failfast] [limit=n]`, `map v step <items> [failfast] [limit=n]` | |
//! | `sub v child [detached]`, `child v child <result>`, `child-failed v child CODE` | |
//! | `tick <ms>`, `due`, `lost`, `cancel`, `pause`, `resume`, `fork-here`, `fork-at <len>` | |
//! | `began v <n>` | the job of a visit begins its n-th attempt |
//! | `emit kind <data> step step=<input>`, `emit-by v …` | an event enters steps |
//! | `emits step step=<input>` | the next event of a finished visit enters steps |
//! | `await v event id [ms]`, `suspend v event id [ms]` | as the definition says; in code |
//! | `late v id <value>` | too late, with what had come of several |
//! | `settle v id <value>`, `memo v name <value>`, `journal v`, `given v` | |
//! | `set key <value>`, `delete key`, `batch <operations>`, `snapshot <state>` | from outside |
//! | `state`, `status`, `see v <template>`, `input v` | questions |

use riverrun_engine::{
    AwaitFor, Awaiting, BranchSpec, Decision, Entry, Fact, Failure, Fork, Input, Lineage, Memo,
    Outcome, Over, Parked, Queued, SubFlow, Template, VisitKey, Wait,
};
use riverrun_types::{
    Draft, EventType, Json, Millis, Name, Path, RunId, State, StepRef, TriggerType,
    event::{
        FlowFailed, FlowForked, StateBatch, StateDelete, StateSet, StepAwaitTime, StepCompleted,
        StepEntered, StepFailed,
    },
    time::NEVER,
};
use serde_json::Value;

use super::run::{Run, T0, flow, plan};

pub fn check(definition: Value, script: &str) -> Run {
    let script = dedent(script);
    let mut player = Player {
        definition,
        run: None,
    };
    let mut played = String::new();
    for command in script.lines().filter(|line| !line.starts_with(' ')) {
        played.push_str(command);
        played.push('\n');
        for line in player.play(command) {
            played.push_str(&format!("  {line}\n"));
        }
        player.run().assert_replays();
    }
    if played.trim() != script.trim() {
        panic!("expected:\n{script}\n\nplayed:\n{played}");
    }
    player.run.unwrap()
}

/// The same after a beginning that scripts share.
pub fn check_after(definition: Value, beginning: &str, script: &str) -> Run {
    let whole = format!("{}\n{}", dedent(beginning), dedent(script));
    check(definition, &whole)
}

fn dedent(script: &str) -> String {
    let lines = script.lines().filter(|line| !line.trim().is_empty());
    let margin = |line: &str| line.len() - line.trim_start().len();
    let least = lines.clone().map(margin).min().unwrap_or(0);
    lines
        .map(|line| line[least..].trim_end())
        .collect::<Vec<_>>()
        .join("\n")
}

struct Player {
    definition: Value,
    run: Option<Run>,
}

impl Player {
    fn run(&mut self) -> &mut Run {
        self.run.as_mut().expect("the script begins with start")
    }

    fn play(&mut self, command: &str) -> Vec<String> {
        let (verb, rest) = command.split_once(' ').unwrap_or((command, ""));
        let (first, tail) = rest.split_once(' ').unwrap_or((rest, ""));
        match verb {
            "start" => self.start(rest, None, None),
            "start-in" => self.start(tail, first.parse().ok(), None),
            "start-at-depth" => {
                let parent = Lineage {
                    run_id: RunId::new("above"),
                    step: "s".into(),
                    visit: 1,
                    depth: first.parse().unwrap(),
                    detached: false,
                };
                self.start("", None, Some(parent))
            }
            "begin" => self.decide(Input::Begin(key(first))),
            "run" => {
                let mut lines = self.decide(Input::Begin(key(first)));
                lines.extend(self.finish(first, success(tail, None)));
                lines
            }
            "ok" => self.finish(first, success(tail, None)),
            "goto" => self.finish(first, success("", Some(Some(tail.into())))),
            "end" => self.finish(first, success(tail, Some(None))),
            "fail" => self.finish(first, Outcome::Failure(failure(tail))),
            "wait" => {
                let until_ms = self.run().now + tail.parse::<Millis>().unwrap();
                self.finish(
                    first,
                    Outcome::Wait {
                        until_ms,
                        reason: None,
                        output: None,
                        next: None,
                    },
                )
            }
            "fork" => {
                let (steps, options) = tail.split_once(' ').unwrap_or((tail, ""));
                let steps = steps.split(',').filter(|step| !step.is_empty());
                let branches = steps.map(|step| BranchSpec {
                    step: step.into(),
                    item: None,
                });
                self.finish(first, fork(branches.collect(), options, false))
            }
            "map" => {
                let (step, rest) = tail.split_once(' ').unwrap();
                let (items, options) = rest.split_once(' ').unwrap_or((rest, ""));
                let items = json(items).items().unwrap().into_iter();
                let branches = items.map(|item| BranchSpec {
                    step: step.into(),
                    item: Some(item),
                });
                self.finish(first, fork(branches.collect(), options, true))
            }
            "sub" => {
                let (child, options) = tail.split_once(' ').unwrap_or((tail, ""));
                let sub = SubFlow {
                    run: RunId::new(child),
                    flow: "other".into(),
                    version: "2.0.0".into(),
                    input: json("[1]"),
                    detached: options == "detached",
                };
                self.finish(first, Outcome::SubFlow(sub))
            }
            "child" | "child-failed" => {
                let (child, result) = tail.split_once(' ').unwrap();
                let result = match verb {
                    "child" => Ok(json(result)),
                    _ => Err(Failure::new(result, "the child's words")),
                };
                let (visit, run) = (key(first), RunId::new(child));
                self.decide(Input::ChildEnded { visit, run, result })
            }
            "tick" => {
                self.run().now += first.parse::<Millis>().unwrap();
                vec![]
            }
            // `began a 1`, or some time ago: `began a 1 ago 45`
            "began" => {
                let (attempt, ago) = tail.split_once(" ago ").unwrap_or((tail, "0"));
                let at_ms = self.run().now - ago.parse::<Millis>().unwrap();
                self.decide(Input::Began {
                    visit: key(first),
                    attempt: attempt.parse().unwrap(),
                    at_ms,
                })
            }
            "emit" | "emit-by" => {
                let (by, rest) = match verb {
                    "emit-by" => (Some(first), tail),
                    _ => (None, rest),
                };
                let mut words = rest.split(' ');
                let mut event = Draft::new(0, EventType::parse(words.next().unwrap()));
                event.data = words.next().map(json);
                event.step = by.map(|visit| {
                    let visit = self.run().state.visit(&key(visit)).unwrap();
                    visit.at()
                });
                let (event, entries) = (Box::new(event), words.map(entry).collect());
                self.decide(Input::Emitted { event, entries })
            }
            "emits" => {
                let event = self.run().state.to_emit[0].draft(0);
                let words = rest.split(' ').filter(|word| !word.is_empty());
                let (event, entries) = (Box::new(event), words.map(entry).collect());
                self.decide(Input::Emitted { event, entries })
            }
            "await" => {
                let (visit, awaiting) = (key(first), self.awaiting(tail, false));
                self.decide(Input::Await { visit, awaiting })
            }
            "suspend" => {
                let awaiting = self.awaiting(tail, true);
                self.finish(first, Outcome::Await(awaiting))
            }
            "settle" => {
                let (id, value) = tail.split_once(' ').unwrap();
                self.decide(Input::Settled {
                    visit: key(first),
                    id: id.into(),
                    value: json(value),
                    reason: "it came".to_owned(),
                })
            }
            "memo" | "trigger" => {
                let (name, value) = tail.split_once(' ').unwrap();
                let at = self.run().state.visit(&key(first)).unwrap().at();
                let memo = Memo {
                    op: verb.into(),
                    name: name.into(),
                    nth: None,
                    value: Some(json(value)),
                    error: None,
                    emits: Vec::new(),
                };
                self.append(Fact::StepMemo(at, memo.into()))
            }
            "journal" => {
                let visit = self.run().state.visit(&key(first)).unwrap();
                let entry = |memo: &Memo| {
                    let answer = memo.value.as_ref().or(memo.error.as_ref());
                    let answer = answer.map_or("", Json::as_str);
                    format!("= {} {} {answer}", memo.op, memo.name)
                        .trim_end()
                        .to_owned()
                };
                visit.journal.iter().map(entry).collect()
            }
            "late" => {
                let (id, so_far) = tail.split_once(' ').unwrap();
                self.decide(Input::Late {
                    visit: key(first),
                    id: id.into(),
                    so_far: json(so_far),
                })
            }
            "given" => {
                let visit = self.run().state.visit(&key(first)).unwrap();
                let text = |json: Option<&Json>| {
                    json.map_or("nothing".to_owned(), |j| j.as_str().to_owned())
                };
                vec![format!(
                    "= {} awaited {}",
                    text(visit.input.as_ref()),
                    text(visit.brought())
                )]
            }
            "due" => self.decide(Input::Due),
            "lost" => self.decide(Input::Lost),
            "park" => self.decide(Input::Park {
                visit: key(first),
                attempt: None,
                parked: Parked::new(tail, "why"),
            }),
            "parks" => self.finish(first, Outcome::Park(Parked::new(tail, "why"))),
            "park-all" => self.decide(Input::ParkAll(Parked::new(first, "why"))),
            "release" => self.decide(Input::Release {
                visits: Some(vec![key(first)]),
                reason: "why".to_owned(),
            }),
            "cancel" => self.decide(Input::Cancel {
                source: "user",
                reason: None,
            }),
            "abandon" => self.decide(Input::Abandoned {
                reason: "it failed".to_owned(),
            }),
            "pause" => self.decide(Input::Pause { reason: None }),
            "resume" => self.decide(Input::Resume),
            "fork-here" => self.fork(usize::MAX),
            "fork-at" => self.fork(first.parse().unwrap()),
            "set" => self.append(Fact::StateSet(StateSet {
                key: Path::new(first),
                value: json(tail),
            })),
            "delete" => self.append(Fact::StateDelete(StateDelete {
                key: Path::new(first),
            })),
            "batch" => self.append(Fact::StateBatch(StateBatch {
                operations: serde_json::from_str(rest).unwrap(),
            })),
            "snapshot" => self.append(Fact::StateSnapshot(State::from_input(&json(rest)))),
            "state" => vec![format!("= {}", self.run().state.state.json().as_str())],
            "status" => vec![self.status()],
            "see" => {
                let state = &self.run().state;
                let view = state.view(state.visit(&key(first)).unwrap());
                let seen = Template::parse(&Value::from(tail))
                    .unwrap()
                    .resolve(&view, 1 << 20)
                    .unwrap();
                vec![format!(
                    "= {}",
                    seen.as_ref().map_or("nothing", Json::as_str)
                )]
            }
            "input" => {
                let Run { plan, state, .. } = self.run();
                let visit = state.visit(&key(first)).unwrap();
                let step = plan.step(&visit.key.step).unwrap();
                vec![format!("= {}", step.input(state, visit).unwrap().as_str())]
            }
            other => panic!("no command {other:?}"),
        }
    }

    fn start(
        &mut self,
        input: &str,
        delay_ms: Option<Millis>,
        parent: Option<Lineage>,
    ) -> Vec<String> {
        let input = if input.is_empty() {
            Json::null()
        } else {
            json(input)
        };
        let run = Run::start(plan(flow(self.definition.clone())), input, delay_ms, parent);
        let mut lines: Vec<_> = run.stream.iter().map(line).collect();
        let to_await = run.plan.to_await(&run.state);
        lines.extend(orders(&run.begun.queued, &[], &to_await, &[]));
        self.run = Some(run);
        lines
    }

    fn fork(&mut self, len: usize) -> Vec<String> {
        let run = self.run();
        *run = run.fork(len.min(run.stream.len()));
        self.decide(Input::Forked)
    }

    fn decide(&mut self, input: Input) -> Vec<String> {
        let Decision {
            events,
            children,
            abandoned,
            queued,
            dequeued,
            parked,
            settled,
        } = self.run().decide(input);
        let dequeued: Vec<VisitKey> = dequeued.into_iter().chain(parked).collect();
        let mut lines: Vec<_> = events.iter().map(line).collect();
        let run = self.run();
        let to_await = run.plan.to_await(&run.state);
        lines.extend(orders(&queued, &dequeued, &to_await, &settled));
        let to_emit = run.state.to_emit.iter();
        lines.extend(to_emit.map(|due| format!("^ {}", due.kind)));
        for child in children {
            let Lineage {
                run_id,
                step,
                visit,
                depth,
                detached,
            } = child.parent;
            let detached = if detached { " detached" } else { "" };
            let of = visit_text(&step, visit, 1);
            let (run, flow, version, input) = (
                child.run,
                child.flow,
                child.version,
                child.input.as_str().to_owned(),
            );
            lines.push(format!(
                "+ {run} {flow}@{version} {input} of {run_id} {of} depth {depth}{detached}"
            ));
        }
        lines.extend(abandoned.iter().map(|run| format!("- {run}")));
        lines
    }

    /// `time|event|trigger id [ms]`
    fn awaiting(&mut self, words: &str, in_code: bool) -> Awaiting {
        let mut words = words.split(' ');
        let what = match words.next().unwrap() {
            "time" => AwaitFor::Time,
            "trigger" => AwaitFor::Trigger {
                trigger_type: TriggerType::Webhook,
            },
            _ => AwaitFor::Event {
                event_kind: "paid".into(),
                condition: None,
            },
        };
        let id = words.next().unwrap().into();
        let ms = words.next().map(|ms| ms.parse::<Millis>().unwrap());
        let until_ms = ms.map(|ms| self.run().now + ms);
        Awaiting {
            id,
            what,
            until_ms,
            in_code,
        }
    }

    /// `attempt` is the one that runs unless the visit is written with one.
    fn finish(&mut self, visit: &str, outcome: Outcome) -> Vec<String> {
        let key = key(visit);
        let attempt = match visit.split_once('/') {
            Some((_, attempt)) => attempt.parse().unwrap(),
            None => self
                .run()
                .state
                .visit(&key)
                .map_or(1, |visit| visit.attempt),
        };
        self.decide(Input::Finished {
            visit: key,
            attempt,
            outcome,
            jitter: 0.0,
            retry: None,
        })
    }

    fn append(&mut self, fact: Fact) -> Vec<String> {
        self.run().append(fact);
        vec![]
    }

    fn status(&mut self) -> String {
        let run = self.run();
        let visit = |key: &VisitKey| visit_text(&key.step, key.visit, 1);
        let visits = run.state.visits.iter().map(|v| {
            let wait = match &v.wait {
                Some(Wait::Time { .. }) => " time",
                Some(Wait::Backoff { .. }) => " backoff",
                Some(Wait::Branches(_)) => " branches",
                Some(Wait::Run { .. }) => " run",
                Some(Wait::Job { .. }) => " job",
                Some(Wait::Await(_)) => " await",
                Some(Wait::Parked(_)) => " parked",
                None => "",
            };
            format!("; {} {}{wait}", visit(&v.key), v.status)
        });
        let visits: String = visits.collect();
        let wake = match run.state.wake_ms() {
            NEVER => "never".to_owned(),
            0 => "now".to_owned(),
            ms => (ms - T0).to_string(),
        };
        let runnable: String = run
            .state
            .runnable(run.now)
            .map(|v| format!(" {}", visit(&v.key)))
            .collect();
        let runnable = if runnable.is_empty() {
            " nothing"
        } else {
            &runnable
        };
        format!(
            "= {}{visits}; wakes {wake}; runs{runnable}",
            run.state.status
        )
    }
}

/// What the runtime has to do beside storing events.
fn orders(
    queued: &[Queued],
    dequeued: &[VisitKey],
    to_await: &[VisitKey],
    settled: &[Over],
) -> Vec<String> {
    let visit = |key: &VisitKey| visit_text(&key.step, key.visit, 1);
    let at =
        |at: Option<Millis>| at.map_or_else(String::new, |ms| format!(" at {}", ms.max(T0) - T0));
    let queue = |queued: &Queued| {
        let before = match queued.before {
            0 => String::new(),
            n => format!(" after {n}"),
        };
        format!("> {}{before}{}", visit(&queued.visit), at(queued.at_ms))
    };
    let mut lines: Vec<String> = queued.iter().map(queue).collect();
    lines.extend(dequeued.iter().map(|key| format!("x {}", visit(key))));
    lines.extend(to_await.iter().map(|key| format!("? {}", visit(key))));
    lines.extend(settled.iter().map(|over| format!("! {}", over.id)));
    lines
}

fn entry(word: &str) -> Entry {
    let (step, input) = word.split_once('=').unwrap_or((word, ""));
    Entry {
        step: step.into(),
        input: (!input.is_empty()).then(|| json(input)),
    }
}

fn json(text: &str) -> Json {
    Json::parse_text(text.to_owned()).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

fn key(text: &str) -> VisitKey {
    let text = text.split_once('/').map_or(text, |(visit, _)| visit);
    let (step, visit) = text.split_once('#').unwrap_or((text, "1"));
    VisitKey {
        step: step.into(),
        visit: visit.parse().unwrap(),
    }
}

fn success(output: &str, next: Option<Option<Name>>) -> Outcome {
    let output = (!output.is_empty()).then(|| json(output));
    Outcome::Success { output, next }
}

fn failure(words: &str) -> Failure {
    let (code, how) = words.split_once(' ').unwrap_or((words, ""));
    let failure = Failure::new(code, "why");
    match how.split_once(' ') {
        Some(("after", ms)) => Failure {
            retry_after_ms: ms.parse().ok(),
            ..failure
        },
        _ if how == "permanent" => failure.permanent(),
        _ => failure,
    }
}

fn fork(branches: Vec<BranchSpec>, options: &str, is_map: bool) -> Outcome {
    let limit = options
        .split(' ')
        .find_map(|option| option.strip_prefix("limit="));
    Outcome::Fork(Fork {
        branches,
        concurrency: limit.map_or(0, |limit| limit.parse().unwrap()),
        fail_fast: options.split(' ').any(|option| option == "failfast"),
        as_list: is_map,
        scoped: is_map,
    })
}

fn visit_text(step: &str, visit: u32, attempt: u32) -> String {
    let visit = if visit == 1 {
        String::new()
    } else {
        format!("#{visit}")
    };
    let attempt = if attempt == 1 {
        String::new()
    } else {
        format!("/{attempt}")
    };
    format!("{step}{visit}{attempt}")
}

/// An event as a script writes it.
pub fn line(draft: &Draft) -> String {
    let kind = draft.kind.as_str();
    let of = |at: &StepRef| visit_text(&at.name, at.visit, at.attempt);
    let place = draft
        .step
        .as_ref()
        .map_or_else(String::new, |at| format!(" {}", of(at)));
    let what = match Fact::try_read(draft).expect("what the engine wrote reads back") {
        Fact::FlowStarted(started) => {
            let time = |name, ms: Option<Millis>| {
                ms.map_or_else(String::new, |ms| format!(" {name} {}", ms - T0))
            };
            time("from", started.not_before) + &time("until", started.deadline)
        }
        Fact::FlowCompleted(completed) => format!(" {}", completed.result.as_str()),
        Fact::FlowFailed(FlowFailed { error, .. }) => {
            let at = error
                .step_id
                .as_ref()
                .map_or_else(String::new, |step| format!(" at {step}"));
            format!(" {}{at}", error.code)
        }
        Fact::FlowCancelled(cancelled) => format!(" by {}", cancelled.source),
        Fact::FlowForked(FlowForked { deadline: Some(ms) }) => format!(" until {}", ms - T0),
        Fact::StepCompleted(_, StepCompleted { next, result, .. }) => {
            let result = result.map_or_else(String::new, |result| format!(" {}", result.as_str()));
            result + &next.map_or_else(String::new, |next| format!(" -> {next}"))
        }
        Fact::StepFailed(_, failed) => {
            let StepFailed {
                error,
                retry_at,
                next,
                ..
            } = failed;
            let retry = retry_at.map_or_else(String::new, |ms| format!(" again at {}", ms - T0));
            let next = next.map_or_else(String::new, |next| format!(" -> {next}"));
            format!(" {}{retry}{next}", error.code)
        }
        Fact::StepCancelled(_, cancelled) => format!(" by {}", cancelled.source),
        Fact::StepRetry(_, retry) if retry.lost => " lost".to_owned(),
        Fact::StepParked(_, parked) => format!(" {}", parked.code),
        Fact::StepReleased(_, released) => format!(" after {}", released.waited_ms),
        Fact::StepResumed(_, resumed) => format!(" after {}", resumed.waited_ms),
        Fact::StepAwaitTime(
            _,
            StepAwaitTime {
                await_id: None,
                until_ms,
                ..
            },
        ) => {
            format!(" until {}", until_ms.unwrap() - T0)
        }
        fact
        @ (Fact::StepAwaitTime(..) | Fact::StepAwaitEvent(..) | Fact::StepAwaitTrigger(..)) => {
            let (_, awaiting) = Awaiting::of(&fact).unwrap();
            let until = awaiting.until_ms;
            let until = until.map_or_else(String::new, |ms| format!(" until {}", ms - T0));
            format!(" {}{until}", awaiting.id)
        }
        Fact::StepAwaitTimeout(_, timeout) => {
            let (waited_ms, next) = (timeout.waited_ms, timeout.next);
            let next = next.map_or_else(String::new, |next| format!(" -> {next}"));
            format!(" after {waited_ms}{next}")
        }
        Fact::StepEntered(_, entered) if entered.joined => " joined".to_owned(),
        Fact::StepEntered(
            _,
            StepEntered {
                undoes: Some(undone),
                ..
            },
        ) => format!(" undoes {}", visit_text(&undone.step, undone.visit, 1)),
        Fact::StepJoined(joined) => format!(" {}", joined.kind),
        Fact::FlowCompensating(failed) => format!(" {}", failed.error.code),
        Fact::StepAwaitRun(_, child) => format!(" {}", child.run),
        Fact::StepAwaitBranches(_, fork) => format!(" {}", fork.branches.len()),
        _ => String::new(),
    };
    format!("{kind}{place}{what}")
}
