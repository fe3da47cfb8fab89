//! Edits of a declaration while its run is paused: a table over the pure functions, and the resulting state of the run.

use crate::machine_dsl::{self, begun, decides, step};
use std::sync::Arc;
use superpower::outcome::{Outcome, Usage};
use superpower::plan::Plan;
use superpower::run::decide::{Verdict, decide};
use superpower::run::drift::{Drift, compare};
use superpower::run::event::{Decision, Event};
use superpower::run::replace::replace;
use superpower::run::state::{Reason, Run, Step};

const OLD: &str = "
  - {name: one, agent: a, description: First}
  - {name: two, gate: human-approval, description: Look}
  - {name: three, agent: b}
  - {name: four, gate: human-approval, when: branch.not_spike}
  - {agent: c}
";

fn plan(stages: &str) -> Arc<Plan> {
    machine_dsl::plan(&format!("inputs:\n  - {{name: x}}\nstages:{stages}"))
}

/// The effect of `edit` on a run at this position.
fn drift(position: usize, edit: impl Fn(&str) -> String) -> Drift {
    compare(&plan(OLD), &plan(&edit(OLD)), position - 1)
}

#[test]
fn an_edit_that_loses_no_finished_stage_and_no_gate_is_harmless() {
    let replace = |from: &'static str, to: &'static str| {
        move |text: &str| {
            assert!(text.contains(from), "{from}");
            text.replace(from, to)
        }
    };
    let differs =
        |differences: &[&str]| Drift::Differs(differences.iter().map(|it| (*it).to_owned()).collect());
    let harmless = Drift::Harmless;
    // Changes that do not affect a run.
    assert_eq!(drift(3, str::to_owned), Drift::None);
    assert_eq!(drift(3, |text| format!("{text}# a comment\n")), Drift::None);
    assert_eq!(drift(3, replace("agent: a,", "agent: 'a', ")), Drift::None);
    // Changes of later stages.
    assert_eq!(drift(3, replace("agent: c", "agent: cc")), harmless);
    assert_eq!(drift(3, |text| format!("{text}  - {{agent: d}}\n")), harmless);
    assert_eq!(drift(3, |text| format!("{text}  - {{gate: human-approval}}\n")), harmless);
    assert_eq!(drift(3, replace("  - {agent: c}\n", "")), harmless);
    assert_eq!(drift(3, replace(", when: branch.not_spike", "")), harmless, "it asks more often now");
    assert_eq!(
        drift(2, replace("{name: three, agent: b}", "{name: three, agent: b, max_attempts: 9}")),
        harmless
    );
    assert_eq!(drift(3, replace("  - {agent: c}\n", "  - {agent: d}\n  - {agent: c}\n")), harmless);
    // An earlier gate is removed, which is a stage that ran. A later gate is removed, or opens in fewer cases.
    assert_eq!(
        drift(3, replace("  - {name: four, gate: human-approval, when: branch.not_spike}\n", "")),
        differs(&["the gate \"four\" is gone"])
    );
    assert_eq!(
        drift(3, replace("{name: four, gate: human-approval,", "{name: four, gate: auto,")),
        differs(&["the gate \"four\" is gone"])
    );
    assert_eq!(
        drift(3, replace("when: branch.not_spike", "when: never")),
        differs(&["the gate \"four\" asks only when never"])
    );
    assert_eq!(
        drift(2, replace("gate: human-approval, description: Look", "agent: reviews, description: Look")),
        differs(&["stage 2 (Look) was changed", "the gate \"two\" is gone"])
    );
    // Changes of stages up to the current one.
    assert_eq!(
        drift(3, replace("agent: a, description: First", "agent: aa, description: First")),
        differs(&["stage 1 (First) was changed"])
    );
    assert_eq!(
        drift(3, replace("description: First", "description: 'First, {{x}}'")),
        differs(&["stage 1 (First) is now stage 1 (First,)"])
    );
    assert_eq!(
        drift(3, replace("{name: three, agent: b}", "{name: three, agent: b, when: always}")),
        differs(&["stage 3 (agent b) was changed"]),
        "the stage that the run stands at counts"
    );
    assert_eq!(
        drift(
            1,
            replace(
                "  - {name: one, agent: a, description: First}\n",
                "  - {agent: z}\n  - {name: one, agent: a, description: First}\n"
            )
        ),
        differs(&["stage 1 (First) is now stage 1 (agent z)"])
    );
    assert_eq!(
        drift(5, |_| "\n  - {name: one, agent: a, description: First}\n".into()),
        differs(&[
            "stage 2 (Look) is gone",
            "stage 3 (agent b) is gone",
            "stage 4 (human approval) is gone",
            "stage 5 (agent c) is gone"
        ])
    );
}

/// Moving a gate behind the stage that waited for it counts as removing it.
#[test]
fn an_edit_that_moves_work_before_its_gate_is_reported() {
    let edited = |stages: &str| compare(&plan(GUARDED), &plan(stages), 1);
    const GUARDED: &str = "
  - {name: one, agent: a}
  - {name: g1, gate: human-approval}
  - {name: two, agent: b}
  - {name: g2, gate: human-approval}
  - {name: three, agent: c}
  - {agent: c}
";
    let moved = "
  - {name: one, agent: a}
  - {name: g1, gate: human-approval}
  - {name: two, agent: b}
  - {name: three, agent: c}
  - {name: g2, gate: human-approval}
  - {agent: c}
";
    let unguarded =
        |stage: &str| Drift::Differs(vec![format!("stage {stage} no longer waits for the gate \"g2\"")]);
    assert_eq!(edited(moved), unguarded("4 (agent c)"));
    // An edited stage is recognized by its name or by its actor.
    assert_eq!(
        edited(&moved.replace("name: three, agent: c", "name: three, agent: d")),
        unguarded("4 (agent d)")
    );
    assert_eq!(edited(&moved.replace("name: three,", "name: four, when: always,")), unguarded("4 (agent c)"));
    assert_eq!(edited(&moved.replace("name: three, ", "")), unguarded("4 (agent c)"));
    // The gate becomes part of the stage that waited for it.
    let joined = GUARDED
        .replace("  - {name: g2, gate: human-approval}\n", "")
        .replace("{name: three, agent: c}", "{name: g2, agent: c, gate: human-approval}");
    assert_eq!(edited(&joined), unguarded("4 (agent c)"));
    // Without names.
    let nameless = |text: &str| text.replace("name: g1, ", "").replace("name: g2, ", "");
    assert_eq!(
        compare(&plan(&nameless(GUARDED)), &plan(&nameless(moved)), 1),
        Drift::Differs(vec!["stage 4 (agent c) no longer waits for the gate \"human approval\"".into()])
    );
    // No stage has lost its gate.
    let harmless = [
        GUARDED.replace("  - {name: g2,", "  - {agent: new}\n  - {name: g2,"),
        GUARDED.replace("  - {name: g2,", "  - {agent: c}\n  - {name: g2,"),
        GUARDED.replace("  - {name: two, agent: b}\n", "") + "  - {name: two, agent: b}\n",
        GUARDED.replace("  - {name: three, agent: c}\n", ""),
        moved.replace("  - {name: two,", "  - {name: g3, gate: human-approval}\n  - {name: two,").replace(
            "  - {name: three, agent: c}\n  - {name: g2, gate: human-approval}\n",
            "  - {name: g2, gate: human-approval}\n  - {name: three, agent: c}\n",
        ),
    ];
    for stages in &harmless {
        assert_eq!(edited(stages), Drift::Harmless, "{stages}");
    }
    // No stage waits for a gate that the run has passed.
    assert_eq!(compare(&plan(GUARDED), &plan(GUARDED), 4), Drift::None);
}

/// Steps until the run pauses: facts are true, agents pass.
fn walk(run: &mut Run) {
    while run.phase.reason().is_none() && !run.phase.ended() {
        let stage = run.current().unwrap();
        let event = match run.stages[stage].step {
            Step::Deciding => match decide(run, stage) {
                Verdict::Needs(fact) => {
                    Event::FactDecided { fact, value: true, reason: String::new(), stage }
                }
                Verdict::Decided { run, why } => Event::StageDecided { stage, run, why },
            },
            _ => Event::AttemptEnded {
                launch: run.launches,
                outcome: Outcome::Passed,
                message: "done".into(),
                tail: String::new(),
                usage: Usage::default(),
            },
        };
        step(run, event);
    }
}

fn decided(run: &mut Run, decision: Decision) {
    let (stage, visit) = run.open_gate().unwrap();
    step(run, decides(stage, visit, decision));
}

/// A run that was sent back from the gate at stage 4 to stage 1, and was interrupted there.
fn sent_back() -> Run {
    let old = OLD.replace("when: branch.not_spike}", "when: branch.not_spike, rework: one}");
    let mut run = begun(plan(&old));
    walk(&mut run);
    decided(&mut run, Decision::Approve);
    walk(&mut run);
    assert_eq!(run.open_gate(), Some((3, 1)));
    decided(&mut run, Decision::Changes);
    step(&mut run, Event::Interrupted { why: "left".into() });
    assert_eq!((run.current(), run.phase.reason()), (Some(0), Some(Reason::Interrupted)));
    run
}

#[test]
fn an_edit_during_a_rework_keeps_gates_and_visit_numbers() {
    let mut run = sent_back();
    assert!(run.stages[3].pinned, "the gate that asked keeps its verdict");
    let edited = OLD
        .replace("when: branch.not_spike}", "when: branch.not_spike, rework: one}")
        .replace("{agent: c}", "{agent: cc}");
    assert_eq!(compare(&run.plan, &plan(&edited), run.cursor), Drift::Harmless);
    let at = run.updated_at;
    replace(&mut run, plan(&edited), at);
    assert!(run.stages[3].pinned, "an edit elsewhere does not take it away");
    step(&mut run, Event::Resumed { by: "ann".into(), how: None });
    walk(&mut run);
    assert_eq!(run.open_gate(), Some((1, 2)), "gate 2.1 was decided");
    decided(&mut run, Decision::Approve);
    walk(&mut run);
    assert_eq!(run.open_gate(), Some((3, 2)), "gate 4.1 was decided");
}

#[test]
fn a_moved_stage_keeps_its_state_and_a_new_one_has_none() {
    let mut run = sent_back();
    // A gate is inserted before the one at 2, which becomes 3. No decided visit is decided again.
    let edited = OLD.replace("  - {name: two,", "  - {name: new, gate: human-approval}\n  - {name: two,");
    let at = run.updated_at;
    replace(&mut run, plan(&edited), at);
    assert_eq!(run.stages.iter().map(|stage| stage.visit.number).collect::<Vec<_>>(), [2, 1, 1, 1, 1, 0]);
    assert_eq!(run.decisions.iter().map(|it| it.stage).collect::<Vec<_>>(), [2, 4]);
    assert!(!run.stages[1].pinned && run.stages[2].pinned && run.stages[4].pinned);
    assert_eq!(run.stages[3].result.as_deref(), Some("done"));
    step(&mut run, Event::Resumed { by: "ann".into(), how: None });
    walk(&mut run);
    assert_eq!(run.open_gate(), Some((1, 2)));
}

#[test]
fn a_stage_of_another_kind_at_the_cursor_starts_again() {
    let mut run = sent_back();
    step(&mut run, Event::Resumed { by: "ann".into(), how: None });
    walk(&mut run);
    assert_eq!(run.open_gate(), Some((1, 2)));
    let edited = OLD.replace("{name: two, gate: human-approval", "{name: two, agent: reviews");
    let at = run.updated_at;
    replace(&mut run, plan(&edited), at);
    assert_eq!((run.phase.reason(), run.open_gate()), (Some(Reason::User), None));
    step(&mut run, Event::Resumed { by: "ann".into(), how: None });
    walk(&mut run);
    assert_eq!(run.stages[1].visit.number, 3);
    assert_eq!(run.open_gate(), Some((3, 2)));
}
