"""The shape of a commit: what no log could accept, and what its hash is made of."""

from collections.abc import Callable
from typing import Any

import pytest

from seeding.commits import (
    Disposition,
    EndCause,
    Opening,
    RunRow,
    StateCommand,
    ThreadCommit,
    check_shape,
    commit_hash,
    operation,
)
from seeding.errors import (
    FermataError,
    InvalidCommit,
    StateConflict,
    StateScopeMismatch,
    TicketForbidden,
    TicketRequired,
    TicketRunMismatch,
    TicketThreadMismatch,
)
from seeding.tickets import Ticket, TicketClosing, TicketReference

NATURAL_END = EndCause(kind="NaturalEnd")
OPENING = Opening(run_epoch=1, chain_id="R", graph_id="g", graph_digest="d")


def ticket(name: str = "R:gate:0:0", run_id: str = "R", thread_id: str = "t") -> Ticket:
    return Ticket(
        ticket=name,
        run_id=run_id,
        thread_id=thread_id,
        node_id="gate",
        occurrence=0,
        kind="approval",
    )


def said(kind: Any, *tickets: TicketReference, cause: EndCause | None = None) -> Disposition:
    return Disposition(kind=kind, tickets=tickets, cause=cause)


def commit(disposition: Disposition | None = None, **fields: Any) -> ThreadCommit:
    names: dict[str, Any] = {"thread_id": "t", "run_id": "R", **fields}
    return ThreadCommit(disposition=disposition or said("Running"), **names)


OWN = ticket().reference
OTHER_RUN = ticket("S:gate:0:0", run_id="S").reference
OTHER_THREAD = ticket(thread_id="u").reference

CELLS: list[tuple[str, Disposition, type[FermataError] | None]] = [
    ("running without ticket", said("Running"), None),
    ("running with its ticket", said("Running", OWN), TicketForbidden),
    ("running with another run's", said("Running", OTHER_RUN), TicketForbidden),
    ("awaiting without ticket", said("Awaiting"), TicketRequired),
    ("awaiting with its ticket", said("Awaiting", OWN), None),
    ("awaiting with another run's", said("Awaiting", OTHER_RUN), TicketRunMismatch),
    ("ended without ticket", said("Ended", cause=NATURAL_END), None),
    ("ended with its ticket", said("Ended", OWN, cause=NATURAL_END), TicketForbidden),
    ("ended with another run's", said("Ended", OTHER_RUN, cause=NATURAL_END), TicketForbidden),
]


@pytest.mark.parametrize(("name", "disposition", "refusal"), CELLS, ids=[c[0] for c in CELLS])
def test_the_nine_cells_of_disposition_and_ticket(
    name: str, disposition: Disposition, refusal: type[FermataError] | None
) -> None:
    if refusal is None:
        check_shape(commit(disposition))
        return
    with pytest.raises(refusal):
        check_shape(commit(disposition))


REFUSED: list[tuple[str, type[FermataError], Callable[[], ThreadCommit]]] = [
    ("an empty run id", InvalidCommit, lambda: commit(run_id="")),
    ("an empty thread id", InvalidCommit, lambda: commit(thread_id="")),
    ("an end without cause", InvalidCommit, lambda: commit(said("Ended"))),
    ("a cause without end", InvalidCommit, lambda: commit(said("Running", cause=NATURAL_END))),
    (
        "a ticket of another thread",
        TicketThreadMismatch,
        lambda: commit(said("Awaiting", OTHER_THREAD)),
    ),
    ("a ticket named twice", InvalidCommit, lambda: commit(said("Awaiting", OWN, OWN))),
    ("an opened ticket that is not named", InvalidCommit, lambda: commit(opened=(ticket(),))),
    (
        "a closed ticket that is named as open",
        InvalidCommit,
        lambda: commit(
            said("Awaiting", OWN), closed=(TicketClosing(ticket=OWN.ticket, outcome="answered"),)
        ),
    ),
    (
        "an opened body of another run",
        TicketRunMismatch,
        lambda: commit(said("Awaiting", OWN), opened=(ticket(run_id="S"),)),
    ),
    (
        "an opening that awaits",
        InvalidCommit,
        lambda: commit(said("Awaiting", OWN), opening=OPENING),
    ),
    (
        "one cell set twice exclusively",
        StateConflict,
        lambda: commit(state=(exclusive("k", 1), exclusive("k", 2))),
    ),
    (
        "a run cell of another run",
        StateScopeMismatch,
        lambda: commit(
            state=(StateCommand(scope="run", cell="position", key="node/a", run_id="S"),)
        ),
    ),
    (
        "a position in the thread's scope",
        InvalidCommit,
        lambda: commit(state=(StateCommand(scope="thread", cell="position", key="node/a"),)),
    ),
]


def exclusive(key: str, value: Any, op: Any = "set", cell: Any = "data") -> StateCommand:
    return StateCommand(op=op, scope="thread", cell=cell, key=key, value=value, policy="exclusive")


@pytest.mark.parametrize(("name", "refusal", "build"), REFUSED, ids=[row[0] for row in REFUSED])
def test_a_malformed_commit_is_refused(
    name: str, refusal: type[FermataError], build: Callable[[], ThreadCommit]
) -> None:
    with pytest.raises(refusal):
        check_shape(build())


def test_exclusive_sets_of_different_cells_and_repeated_removes_pass() -> None:
    check_shape(
        commit(
            state=(
                exclusive("k", 1),
                exclusive("k", 1, cell="metadata"),
                exclusive("j", None, op="remove"),
                exclusive("j", None, op="remove"),
            )
        )
    )


def test_equal_commits_hash_alike_and_any_change_changes_the_hash() -> None:
    base = commit(messages=({"id": "1", "role": "user", "content": "x"},))
    changed = [
        base.model_copy(update={"messages": ({"id": "1", "role": "user", "content": "y"},)}),
        base.model_copy(update={"messages": ()}),
        base.model_copy(update={"disposition": said("Ended", cause=NATURAL_END)}),
        base.model_copy(update={"run_id": "S"}),
        base.model_copy(update={"opening": OPENING}),
        base.model_copy(update={"rows": (RunRow(kind="output", node_id="a", occurrence=0),)}),
        base.model_copy(update={"checkpoint": "node"}),
    ]
    assert commit_hash(base.model_copy()) == commit_hash(base)
    assert len({commit_hash(base), *(commit_hash(other) for other in changed)}) == 8


def test_a_field_at_its_default_takes_no_part_in_the_hash() -> None:
    assert commit_hash(commit(messages=(), closed=(), node_id=None)) == commit_hash(commit())


def test_a_commit_decoded_from_its_json_has_the_same_hash() -> None:
    sent = commit(
        said("Awaiting", OWN), opened=(ticket(),), state=(exclusive("k", {"b": 1.0, "a": [1]}),)
    )
    assert commit_hash(ThreadCommit.model_validate_json(sent.model_dump_json())) == commit_hash(
        sent
    )


def test_an_operation_carries_identity_fence_and_compare_and_set() -> None:
    sent = operation(commit(), ordinal=3, owner_epoch=2, expected_thread_version=9)
    assert (sent.run_id, sent.ordinal, sent.owner_epoch, sent.expected_thread_version) == (
        "R",
        3,
        2,
        9,
    )
    assert sent.payload_hash == commit_hash(commit())
