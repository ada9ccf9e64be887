"""Operations for the machine: sound ones for any state of the model, and ways to spoil them."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from seeding.commits import (
    BranchPoint,
    CommitOperation,
    Disposition,
    EndCause,
    RunPoint,
    StateCommand,
    ThreadCommit,
    commit_hash,
    operation,
)
from seeding.tickets import Ticket, TicketClosing
from tests.model.content import (
    CAUSES,
    THREADS,
    Draw,
    draw_closing,
    draw_content,
    draw_opening,
    draw_tickets,
    with_parts,
)
from tests.model.log_fold import owned_entries
from tests.model.log_model import Entry, LogModel, RunNow

STEPS = ("step", "step", "wait", "answer", "end")
"""What a run may decide next; a step beside an open ticket is Awaiting too."""


def build_next(
    draw: Draw, model: LogModel, run: RunNow, intent: str | None = None
) -> CommitOperation:
    """Return the next operation of a run: a step, a wait, an answer or expiry, or an end."""
    what = intent or draw(st.sampled_from(STEPS))
    opened: tuple[Ticket, ...] = ()
    closed: tuple[TicketClosing, ...] = ()
    if what == "wait":
        opened = draw_tickets(draw, run)
    elif what == "end":
        closed = tuple(draw_closing(draw, ticket) for ticket in run.tickets)
    elif what == "answer" and run.tickets:
        number: int = draw(st.integers(0, len(run.tickets) - 1))
        closed = (draw_closing(draw, run.tickets[number]),)
    gone = {closing.ticket for closing in closed}
    named = [ticket.reference for ticket in (*run.tickets, *opened) if ticket.ticket not in gone]
    cause = EndCause(kind=draw(st.sampled_from(CAUSES)), message="why") if what == "end" else None
    kind = "Ended" if cause else "Awaiting" if named else "Running"
    commit = ThreadCommit(
        thread_id=run.thread_id,
        run_id=run.run_id,
        disposition=Disposition(kind=kind, tickets=tuple(named), cause=cause),
        opened=opened,
        closed=closed,
        checkpoint=draw(st.sampled_from([None, "node"])),
        result={"metadata": {}} if cause else None,
        **draw_content(draw, run.run_id, len(run.entries), owned_entries(model.before(run.last))),
    )
    return address(model, commit, run)


def address(model: LogModel, commit: ThreadCommit, run: RunNow | None) -> CommitOperation:
    """Return the operation that sends a commit as its run's next, to the thread as it is."""
    return operation(
        commit,
        ordinal=len(run.entries) if run else 0,
        owner_epoch=run.owner_epoch if run else 1,
        expected_thread_version=model.version(commit.thread_id),
    )


def build_opening(
    draw: Draw, model: LogModel, thread_id: str, run_id: str, where: str | None = None
) -> CommitOperation:
    """Return the opening of a run: a turn, a branch on any checkpoint or on nothing.

    A branch on a checkpoint is a new turn there, or goes on with the position there.
    """
    ways = ["turn", "turn", "fork", "going on", "nothing", "taken", "not a lineage"]
    how = _placing(draw, model, thread_id, where or draw(st.sampled_from(ways)))
    names = {point.run_id for point in how.get("continues", ())}
    along = model.along(how.get("lineage") or ())
    owned = [entry for entry in along if entry.operation.run_id in names]
    epoch = 1 + len(model.runs(thread_id))
    cause = EndCause(kind="Cancelled") if draw(st.integers(0, 9)) == 0 else None
    commit = ThreadCommit(
        thread_id=thread_id,
        run_id=run_id,
        disposition=Disposition(kind="Ended" if cause else "Running", cause=cause),
        opening=draw_opening(draw, run_id, run_epoch=epoch, **how),
        **draw_content(draw, run_id, 0, owned),
    )
    return address(model, commit, None)


def _placing(draw: Draw, model: LogModel, thread_id: str, where: str) -> dict[str, Any]:
    own = [branch for thread, branch in model.lineages if thread == thread_id]
    fresh = f"b{len(own) + 1}" if own else "main"
    names = [entry.name for entry in model.entries()]
    if where == "turn" or not names:
        head = model.runs(thread_id)[-1].branch if own else "main"
        other = draw(st.integers(0, 4)) == 0
        return {"branch": draw(st.sampled_from(own)) if own and other else head}
    if where == "nothing":
        return {"branch": fresh, "lineage": ()}
    if where == "taken":
        return {"branch": own[0] if own else fresh, "lineage": ()}
    newest = [entries[-1].name for entries in model.threads.values()]
    entry = model.entry(draw(st.one_of(st.sampled_from(newest), st.sampled_from(names))))
    lineage = model.lineage(entry.commit.thread_id, entry.branch, entry.version)
    if where == "not a lineage":
        wrong = _not_lineages(lineage)
        number: int = draw(st.integers(0, len(wrong) - 1))
        lineage = wrong[number]
    how = {"branch": fresh, "lineage": lineage}
    return how | {"continues": _gone_on_with(model, entry)} if where == "going on" else how


def _gone_on_with(model: LogModel, entry: Entry) -> tuple[RunPoint, ...]:
    """The runs that a run goes on with which takes the position of a commit."""
    run = model.run(entry.operation.run_id)
    opening = run.entries[0].commit.opening if run else None
    own = RunPoint(
        thread_id=entry.commit.thread_id,
        branch=entry.branch,
        run_id=entry.operation.run_id,
        up_to=entry.version,
    )
    return (*(opening.continues if opening else ()), own)


def _not_lineages(lineage: tuple[BranchPoint, ...]) -> list[tuple[BranchPoint, ...]]:
    *before, tip = lineage
    return [
        (*before, tip.model_copy(update={"up_to": 999})),
        (*before, tip.model_copy(update={"up_to": 0})),
        (*before, tip.model_copy(update={"branch": "nowhere"})),
        (*before, tip.model_copy(update={"thread_id": "nobody"})),
        (tip, *lineage),
    ]


# --- faults -----------------------------------------------------------------------------------

Fault = Callable[[Draw, LogModel, CommitOperation], CommitOperation]


def rehashed(made: CommitOperation, **parts: Any) -> CommitOperation:
    """Return an operation with another commit in it and the hash of that."""
    commit = with_parts(made.commit, **parts)
    return made.model_copy(update={"commit": commit, "payload_hash": commit_hash(commit)})


def _changed(made: CommitOperation, **fields: Any) -> CommitOperation:
    return made.model_copy(update=fields)


def _stray(made: CommitOperation, **whose: str) -> Ticket:
    run_id = whose.get("run_id", made.commit.run_id)
    return Ticket(
        ticket=f"{run_id}:stray:0:0",
        run_id=run_id,
        thread_id=whose.get("thread_id", made.commit.thread_id),
        node_id="stray",
        occurrence=0,
        kind="text",
    )


def _awaiting(made: CommitOperation, *tickets: Ticket) -> CommitOperation:
    named = (*made.commit.disposition.tickets, *(ticket.reference for ticket in tickets))
    return rehashed(made, disposition=Disposition(kind="Awaiting", tickets=named), closed=())


def _exclusive(_: Draw, __: LogModel, made: CommitOperation) -> CommitOperation:
    one = StateCommand(scope="thread", cell="data", key="a", value=1, policy="exclusive")
    return rehashed(made, state=(one, *made.commit.state, one))


def _stamped(_: Draw, __: LogModel, made: CommitOperation) -> CommitOperation:
    one = StateCommand(scope="run", cell="position", key="a", value=1, run_id="another")
    return rehashed(made, state=(one,))


def _scoped(_: Draw, __: LogModel, made: CommitOperation) -> CommitOperation:
    return rehashed(made, state=(StateCommand(scope="run", cell="data", key="a", value=1),))


def _nameless(_: Draw, __: LogModel, made: CommitOperation) -> CommitOperation:
    return rehashed(made, messages=({"role": "user", "content": "no id"},))


def _said(kind: Any, with_ticket: bool, cause: EndCause | None = None) -> Fault:
    def spoil(_: Draw, __: LogModel, made: CommitOperation) -> CommitOperation:
        tickets = (_stray(made).reference,) if with_ticket else ()
        return rehashed(made, disposition=Disposition(kind=kind, tickets=tickets, cause=cause))

    return spoil


SHAPE_FAULTS: dict[str, Fault] = {
    "awaiting nothing": _said("Awaiting", with_ticket=False),
    "running with a ticket": _said("Running", with_ticket=True),
    "ended with a ticket": _said("Ended", with_ticket=True, cause=EndCause(kind="NaturalEnd")),
    "ended without a cause": _said("Ended", with_ticket=False),
    "a cause without an end": _said("Running", with_ticket=False, cause=EndCause(kind="Error")),
    "a ticket of another run": lambda _, __, made: _awaiting(made, _stray(made, run_id="other")),
    "a ticket of another thread": (
        lambda _, __, made: _awaiting(made, _stray(made, thread_id="other"))
    ),
    "a ticket named twice": lambda _, __, made: _awaiting(made, _stray(made), _stray(made)),
    "a ticket that is opened but not named": (
        lambda _, __, made: rehashed(made, opened=(_stray(made),))
    ),
    "no thread": lambda _, __, made: rehashed(made, thread_id=""),
    "no run": lambda _, __, made: rehashed(made, run_id=""),
    "two exclusive sets": _exclusive,
    "a cell stamped with another run": _stamped,
    "a cell of the wrong scope": _scoped,
    "a message without an id": _nameless,
    "another hash": lambda _, __, made: _changed(made, payload_hash="0" * 64),
    "another run in the commit": lambda _, __, made: _changed(made, run_id="another"),
}


def _older_ordinal(draw: Draw, _: LogModel, made: CommitOperation) -> CommitOperation:
    return _changed(made, ordinal=draw(st.integers(0, max(0, made.ordinal - 1))))


def _other_thread(draw: Draw, _: LogModel, made: CommitOperation) -> CommitOperation:
    others = [name for name in (*THREADS, "nobody") if name != made.commit.thread_id]
    return rehashed(made, thread_id=draw(st.sampled_from(others)))


def _repeated_message(draw: Draw, model: LogModel, made: CommitOperation) -> CommitOperation:
    there = model.messages_before(made.commit, model.run(made.run_id))
    added = [{"id": "twin"}, {"id": "twin"}] if not there else [draw(st.sampled_from(there))]
    return rehashed(made, messages=(*made.commit.messages, *added))


def _other_opening(draw: Draw, _: LogModel, made: CommitOperation) -> CommitOperation:
    opens = made.commit.opening is not None
    opening = None if opens else draw_opening(draw, made.run_id, run_epoch=1)
    return rehashed(made, opening=opening)


FAULTS: dict[str, Fault] = {
    "an older owner": lambda _, __, made: _changed(made, owner_epoch=made.owner_epoch - 1),
    "an owner never granted": lambda _, __, made: _changed(made, owner_epoch=9),
    "an ordinal used before": _older_ordinal,
    "an invented ordinal": lambda _, __, made: _changed(made, ordinal=made.ordinal + 3),
    "another thread": _other_thread,
    "an opening out of place": _other_opening,
    "a ticket closed that is not open": lambda _, __, made: rehashed(
        made, closed=(TicketClosing(ticket="nobody's", outcome="expired"),)
    ),
    "a ticket that nobody opened": lambda _, __, made: _awaiting(made, _stray(made)),
    "another thread version": lambda draw, _, made: _changed(
        made, expected_thread_version=made.expected_thread_version + draw(st.sampled_from([-1, 1]))
    ),
    "a message there already": _repeated_message,
}


def spoil(draw: Draw, model: LogModel, made: CommitOperation) -> CommitOperation:
    """Return an operation with one or two things wrong: of its shape at most one."""
    names = draw(st.lists(st.sampled_from(sorted(FAULTS)), max_size=2, unique=True))
    for name in names:
        made = FAULTS[name](draw, model, made)
    if len(names) == 2 or (names and draw(st.booleans())):
        return made
    return SHAPE_FAULTS[draw(st.sampled_from(sorted(SHAPE_FAULTS)))](draw, model, made)
