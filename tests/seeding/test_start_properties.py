"""The start table is total, and depends on nothing but what it is given."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from seeding_strategies import JSON, OBJECTS, states
from thread_facts import Phase, checkpoint_fact, run_fact

from seeding.decisions import Adopt, Open, Restore, StartDecision
from seeding.errors import StartRefused
from seeding.facts import BranchFact, CheckpointFact, RunFact, ThreadFacts, is_elsewhere
from seeding.request import RunRequest
from seeding.start import resolve_start

PHASES: st.SearchStrategy[Phase] = st.sampled_from(["running", "awaiting", "ended"])


@st.composite
def requests(draw: st.DrawFn) -> dict[str, Any]:
    """The JSON of a request that its own validation passes, in any order of keys."""
    fields: dict[str, Any] = {
        "graph": "g",
        "threadId": "alice",
        "initialSnapshot": draw(st.none() | states() | JSON),
        "checkpointId": draw(st.sampled_from([None, "", "nope", "R1:3", "R2:6"])),
        "forkFrom": draw(st.sampled_from([None, "R1:6"])),
        "recover": draw(st.booleans()),
        "abandon": draw(st.booleans()),
        "message": draw(st.sampled_from([None, "hi"])),
        "data": draw(OBJECTS),
        "config": {
            "onUnknownCheckpoint": draw(st.sampled_from(["fresh", "refuse"])),
            "onBusy": draw(st.sampled_from(["reject", "queue", "supersede"])),
        },
    }
    names = draw(st.permutations(list(fields)))
    return {name: fields[name] for name in names}


@st.composite
def known_facts(draw: st.DrawFn) -> ThreadFacts:
    """Facts that a log can hold: only the run opened last may not have ended."""
    latest = draw(
        st.none()
        | st.builds(
            run_fact,
            st.just("R2"),
            PHASES,
            takeovers=st.integers(0, 6),
            namespace=st.sampled_from([None, "", "default", "elsewhere"]),
        )
    )
    elsewhere = run_fact("R9", draw(PHASES), thread_id="bob")
    points: list[CheckpointFact | None] = [None, checkpoint_fact(elsewhere, draw(ordinals()))]
    if latest is not None:
        points += [
            checkpoint_fact(run_fact("R1"), draw(ordinals())),
            checkpoint_fact(latest, draw(ordinals())),
        ]
    lonely = BranchFact(name="main", point=checkpoint_fact(elsewhere, 6))
    branch = draw(st.sampled_from([None, lonely])) if latest is None else None
    chain: RunFact | None = draw(st.sampled_from([None, None, None, latest]))
    return ThreadFacts(
        thread_id="alice",
        namespace=draw(st.sampled_from([None, "default"])),
        version=draw(st.integers(0, 99)),
        highest_epoch=0 if latest is None else draw(st.integers(latest.run_epoch, 9)),
        branch_count=draw(st.integers(1, 4)) if latest or branch else 0,
        latest=latest,
        branch_without_run=branch,
        chain_run=chain,
        checkpoint=draw(st.sampled_from(points)),
        fork=draw(st.sampled_from(points)),
        requested_graph=draw(st.sampled_from([None, "g@0123456789abcdef"])),
    )


def ordinals() -> st.SearchStrategy[int]:
    return st.integers(0, 6)


def outcome(asked: dict[str, Any], known: ThreadFacts) -> StartDecision | tuple[type, str]:
    try:
        return resolve_start(RunRequest.model_validate(asked), known)
    except StartRefused as refusal:
        return type(refusal), refusal.message


@given(requests(), known_facts())
def test_every_start_is_a_decision_or_a_named_refusal(
    asked: dict[str, Any], known: ThreadFacts
) -> None:
    decision = outcome(asked, known)
    if isinstance(decision, tuple):
        assert decision[1]
        return
    assert isinstance(decision, Restore | Adopt | Open)


@given(requests(), known_facts(), st.randoms())
def test_the_order_of_keys_makes_no_difference(
    asked: dict[str, Any], known: ThreadFacts, random: Any
) -> None:
    names = list(asked)
    random.shuffle(names)
    reordered = ThreadFacts.model_validate(dict(reversed(known.to_json().items())))
    assert outcome({name: asked[name] for name in names}, reordered) == outcome(asked, known)


@given(requests(), known_facts())
def test_a_decision_survives_its_own_json(asked: dict[str, Any], known: ThreadFacts) -> None:
    decision = outcome(asked, known)
    if not isinstance(decision, tuple):
        assert type(decision).model_validate(decision.to_json()) == decision


@given(requests(), known_facts())
def test_no_new_run_opens_beside_one_that_has_not_ended(
    asked: dict[str, Any], known: ThreadFacts
) -> None:
    decision = outcome(asked, known)
    if isinstance(decision, Open):
        still_open = known.latest is not None and not known.latest.has_ended
        assert [ending.run_id for ending in decision.ends] == (["R2"] if still_open else [])
        assert decision.run_epoch == known.highest_epoch + 1


@given(requests(), known_facts())
def test_what_another_namespace_owns_is_neither_adopted_nor_ended(
    asked: dict[str, Any], known: ThreadFacts
) -> None:
    decision = outcome(asked, known)
    latest = known.latest
    if latest is None or latest.has_ended or not is_elsewhere(latest.namespace, known.namespace):
        return
    assert not isinstance(decision, Adopt)
    assert not isinstance(decision, Open)


@given(requests(), known_facts())
def test_a_branch_is_opened_wherever_the_threads_latest_state_is_left(
    asked: dict[str, Any], known: ThreadFacts
) -> None:
    decision = outcome(asked, known)
    if isinstance(decision, Open) and decision.opens_branch:
        assert decision.base.kind != "thread"
        count = known.branch_count
        assert decision.branch == ("main" if count == 0 else f"b{count + 1}")
    elif isinstance(decision, Open):
        forked = None if known.latest else known.branch_without_run
        existing = known.latest.branch if known.latest else forked.name if forked else "main"
        assert decision.branch == existing
        # Only a branch that a fork left without a run is there and stands on a point.
        assert (decision.stands_on is None) == (forked is None)
