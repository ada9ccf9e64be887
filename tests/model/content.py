"""What commits hold in the machine's runs: drawn small, so that they meet each other."""

from collections.abc import Sequence
from typing import Any, get_args

from hypothesis import strategies as st

from seeding.commits import (
    CauseKind,
    IteratorHead,
    Opening,
    PositionHead,
    RunRow,
    StateCommand,
    ThreadCommit,
)
from seeding.identity import ticket_id
from seeding.model import Json, JsonObject
from seeding.tickets import Ticket, TicketClosing
from tests.model.log_fold import loop_values
from tests.model.log_model import Entry, RunNow

Draw = Any
"""The function that draws an example from a strategy."""

THREADS = ("one", "two", "drei")
CAUSES: tuple[CauseKind, ...] = get_args(CauseKind)
KEYS = st.sampled_from(["a", "a", "a", "b", "", "state/colour"])
_OBJECTS = st.dictionaries(st.sampled_from(["x", "y"]), st.integers(0, 2), max_size=2)
VALUES: st.SearchStrategy[Json] = st.one_of(
    st.none(),
    st.integers(-2, 2),
    st.sampled_from([1.0, "", "é", "e\u0301", "\x00", 2**53]),
    _OBJECTS,
    _OBJECTS,
    st.lists(st.booleans(), max_size=2),
)
NAMES = st.sampled_from([None, None, None, None, "shared"])
"""Mostly ids of their own, now and then one that the lineage may hold already."""


@st.composite
def commands(draw: Draw) -> StateCommand:
    cell = draw(st.sampled_from(["data", "metadata", "position"]))
    removes = draw(st.integers(0, 3)) == 0
    return StateCommand(
        op="remove" if removes else "set",
        scope="run" if cell == "position" else "thread",
        cell=cell,
        key=draw(KEYS),
        value=None if removes else draw(st.one_of(VALUES, _OBJECTS)),
        policy=draw(st.sampled_from(["disjoint", "commutative", "commutative", "exclusive"])),
    )


def draw_content(draw: Draw, run_id: str, ordinal: int, owned: Sequence[Entry]) -> JsonObject:
    """Draw messages, state commands, rows and a position for one commit of a run.

    ``owned`` are the commits whose rows the run reads: its own, and those it goes on with.
    """
    names = draw(st.lists(NAMES, max_size=2))
    rows = _draw_rows(draw, ordinal, owned)
    return {
        "messages": tuple(
            {"id": name or f"{run_id}:{ordinal}:{place}", "role": "user", "content": draw(VALUES)}
            for place, name in enumerate(names)
        ),
        "state": tuple(draw(st.lists(commands(), max_size=3))),
        "rows": rows,
        "position": _draw_position(draw, ordinal, rows, owned),
        "node_id": draw(st.sampled_from([None, "gate"])),
    }


def draw_opening(draw: Draw, run_id: str, **how: Any) -> Opening:
    """Draw what else an opening says."""
    return Opening(
        chain_id=f"chain of {run_id}",
        graph_id="greet",
        graph_digest="f" * 64,
        config=draw(st.dictionaries(st.sampled_from(["x", "y"]), VALUES, max_size=1)),
        start={"source": "thread"},
        **how,
    )


def draw_tickets(draw: Draw, run: RunNow) -> tuple[Ticket, ...]:
    """Draw one or two tickets of a run that no commit has opened before."""
    count = sum(len(entry.commit.opened) for entry in run.entries)
    return tuple(
        _ticket(draw, run, number) for number in range(count, count + draw(st.integers(1, 2)))
    )


def draw_closing(draw: Draw, ticket: Ticket) -> TicketClosing:
    """Draw how a ticket leaves ``open``."""
    outcome = draw(st.sampled_from(["answered", "expired", "cancelled"]))
    answered = outcome == "answered"
    return TicketClosing(
        ticket=ticket.ticket,
        outcome=outcome,
        decision="approve" if answered else None,
        value=draw(VALUES) if answered else None,
    )


def with_parts(commit: ThreadCommit, **parts: Any) -> ThreadCommit:
    """Return a commit with some fields replaced and nothing judged."""
    return commit.model_copy(update=parts)


def _ticket(draw: Draw, run: RunNow, number: int) -> Ticket:
    node = draw(st.sampled_from(["gate", ""]))
    return Ticket(
        ticket=ticket_id(run.run_id, node, 0, number),
        run_id=run.run_id,
        thread_id=run.thread_id,
        node_id=node,
        occurrence=0,
        kind="approval" if node else "pause",
        input=draw(VALUES),
        deadline_after=draw(st.sampled_from([None, 60, 0.5])),
    )


def _draw_rows(draw: Draw, ordinal: int, owned: Sequence[Entry]) -> tuple[RunRow, ...]:
    """Draw an output, and rows of the one loop: the next, or the first one given again."""
    rows: list[RunRow] = []
    if draw(st.booleans()):
        rows.append(RunRow(kind="output", node_id="n", occurrence=ordinal, value=draw(VALUES)))
    for kind in ("item", "result"):
        due = len(loop_values(owned, kind))
        for number in range(draw(st.integers(0, 2))):
            again = due > 0 and number == 0 and draw(st.booleans())
            index = 0 if again else due
            due = max(due, index + 1)
            row = RunRow(kind=kind, node_id="each", occurrence=0, index=index, value=draw(VALUES))
            rows.append(row)
    return tuple(rows)


def _draw_position(
    draw: Draw, ordinal: int, rows: tuple[RunRow, ...], owned: Sequence[Entry]
) -> PositionHead:
    lengths = {
        kind: len({*loop_values(owned, kind), *(row.index for row in rows if row.kind == kind)})
        for kind in ("item", "result")
    }
    iterator = None
    if draw(st.booleans()):
        iterator = IteratorHead(
            node_id="each",
            occurrence=0,
            index=0,
            items=draw(st.integers(0, lengths["item"])),
            results=draw(st.integers(0, lengths["result"])),
        )
    return PositionHead(
        current_node_id=draw(st.sampled_from(["", "each"])),
        iteration_count=ordinal,
        iterator=iterator,
        counters=draw(st.dictionaries(st.sampled_from(["n"]), st.integers(0, 2), max_size=1)),
    )
