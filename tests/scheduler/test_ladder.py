"""ORC-11, FD-28: what goes first where several things are true after one completion.

A cancel, then a failure that nothing routes, then work within the budget of passes, then the pause
of a spent budget, then an open question, then the natural end. A question holds nothing up but the
end; a pause stands beside it.
"""

from typing import Literal, NamedTuple

import pytest

from seeding.commits import EndCause
from workflows.endings import reason_to_end
from workflows.inbox_model import CancelRequest
from workflows.scheduler import Ending

from .budgeted import Budgeted
from .graphs import graph

Left = Literal["nothing", "work", "past", "both"]
CANCEL = CancelRequest(reason="enough")


class Stands(NamedTuple):
    """What is so: a failure, an open question, and what is left to call."""

    failure: bool
    question: bool
    left: Left


LADDER: dict[Stands, str] = {
    Stands(failure=True, question=True, left="both"): "Error",
    Stands(failure=True, question=True, left="work"): "Error",
    Stands(failure=True, question=True, left="past"): "Error",
    Stands(failure=True, question=True, left="nothing"): "Error",
    Stands(failure=True, question=False, left="both"): "Error",
    Stands(failure=True, question=False, left="work"): "Error",
    Stands(failure=True, question=False, left="past"): "Error",
    Stands(failure=True, question=False, left="nothing"): "Error",
    Stands(failure=False, question=True, left="both"): "calls soon",
    Stands(failure=False, question=True, left="work"): "calls soon",
    Stands(failure=False, question=True, left="past"): "pauses beside a question",
    Stands(failure=False, question=True, left="nothing"): "waits for an answer",
    Stands(failure=False, question=False, left="both"): "calls soon",
    Stands(failure=False, question=False, left="work"): "calls soon",
    Stands(failure=False, question=False, left="past"): "pauses",
    Stands(failure=False, question=False, left="nothing"): "NaturalEnd",
}
"""What follows, by what is so."""

AFTER: dict[Left, tuple[str, ...]] = {
    "nothing": (),
    "work": ("one.out -> soon.in",),
    "past": ("two.out -> late.in",),
    "both": ("one.out -> soon.in", "two.out -> late.in"),
}
PASSES: dict[Left, int | None] = {"nothing": 1, "work": 2, "past": 1, "both": 2}


def brought_to(stands: Stands) -> Budgeted:
    """Return a run in which all of that came to be so by what was in flight at the same time."""
    first = ("bad", "question", "one", "two")
    run = Budgeted(graph(*AFTER[stands.left], alone=first), PASSES[stands.left])
    assert run.in_flight == sorted(first)
    run.finish_with(
        fails=["bad"] if stands.failure else [],
        asks=["question"] if stands.question else [],
        ends=[
            *(["one", "two"]),
            *([] if stands.failure else ["bad"]),
            *([] if stands.question else ["question"]),
        ],
    )
    return run


def followed_by(run: Budgeted) -> str:
    ended = run.why_end()
    if ended is not None:
        return ended
    if run.is_paused:
        asked = [ticket for ticket in run.held.tickets if not ticket.is_pause]
        return "pauses beside a question" if asked else "pauses"
    if run.in_flight:
        return f"calls {' and '.join(run.in_flight)}"
    return "waits for an answer"


@pytest.mark.parametrize("stands", LADDER, ids=lambda stands: "-".join(map(str, stands)))
def test_the_first_of_the_ladder_that_is_so_is_what_follows(stands: Stands) -> None:
    run = brought_to(stands)
    assert followed_by(run) == LADDER[stands]
    assert "late" not in run.called


def test_every_way_these_can_meet_is_in_the_table() -> None:
    met = {Stands(failure, question, left) for failure, question, left in LADDER}
    assert len(met) == 2 * 2 * len(AFTER)


@pytest.mark.parametrize("stands", LADDER, ids=lambda stands: "-".join(map(str, stands)))
def test_a_cancel_comes_before_all_of_them(stands: Stands) -> None:
    assert brought_to(stands).why_end(CANCEL) == "Cancelled"


def test_a_failure_leaves_the_pause_of_its_run_and_its_questions_behind() -> None:
    """The pause was made first; what was in flight fails afterwards."""
    run = Budgeted(graph("one.out -> late.in", alone=["question"]), 1)
    run.ask("question").finish("one")
    assert followed_by(run) == "pauses beside a question"
    run.answer("question").lift()
    assert run.in_flight == ["question", "late"]
    run.fail("late")
    assert (followed_by(run), run.in_flight) == ("Error", ["question"])


def test_an_end_that_took_the_place_of_a_commit_comes_before_a_verdict_and_after_a_cancel() -> None:
    """SG-14: the count past its maximum was not applied, so nothing else of it is either."""
    run = brought_to(Stands(failure=True, question=True, left="both"))
    spent = Ending(cause=EndCause(kind="MaxIterations", message="too many"), report={})
    ending = reason_to_end(run.plan, run.held, None, spent)
    assert ending is not None
    assert ending.cause.kind == "MaxIterations"
    cancelled = reason_to_end(run.plan, run.held, CANCEL, spent)
    assert cancelled is not None
    assert cancelled.cause.kind == "Cancelled"


def test_a_run_with_open_tickets_does_not_end_by_itself() -> None:
    """A pause alone holds it, too: what is left may be nothing at all."""
    run = Budgeted(graph(alone=["one"]), None).pause().finish("one")
    assert (run.due, run.is_paused, run.why_end()) == ([], True, None)
    assert run.lift().why_end() == "NaturalEnd"


def test_a_question_that_comes_after_the_failure_opens_no_ticket() -> None:
    """FD-28, the other way round: the node comes to its end and nobody is asked."""
    run = Budgeted(graph(alone=["bad", "question"]), None).fail("bad")
    assert (followed_by(run), run.in_flight) == ("Error", ["question"])
    run.ask("question")
    assert (followed_by(run), run.in_flight, run.held.tickets) == ("Error", [], ())
