"""The rows of queued turns: put at the end of their thread's queue, and settled once."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from activities.log.encoding import (
    TURN_CHECKED,
    checksum,
    dump,
    load,
    load_or_none,
    verify_checksum,
)
from activities.log.facts import read_thread_head
from activities.log.records import iso
from activities.log.row_types import check_types
from activities.log.tables import queued_turns, runs
from seeding.errors import CorruptLog, IdempotencyKeyReuse, InvalidRequest, ThreadBusy
from seeding.model import JsonObject, as_object
from seeding.queued_turns import (
    MAX_QUEUED,
    MAX_SETTLED,
    SETTLED_DAYS,
    NewTurn,
    QueuedTurn,
    QueueReceipt,
    TurnState,
    content_hash,
    is_same,
    kept_request,
)

_THREAD = queued_turns.c.thread_id == bindparam("thread")
_QUEUED = queued_turns.c.state == "queued"
_OF_THREAD = select(queued_turns).where(_THREAD).order_by(queued_turns.c.number)
_ONE = _OF_THREAD.where(queued_turns.c.number == bindparam("number"))
_FIRST = _OF_THREAD.where(_QUEUED).limit(1)
_BY_OPERATION = select(queued_turns).where(
    _THREAD, queued_turns.c.operation == bindparam("operation")
)
_BY_KEY = (
    select(queued_turns)
    .where(
        _THREAD,
        queued_turns.c.idempotency_key == bindparam("key"),
        # Who was refused or took a turn back may send a mended one under the same key.
        queued_turns.c.state.in_(["queued", "started"]),
    )
    .order_by(queued_turns.c.number)
    .limit(1)
)
_RUN_BY_KEY = (
    select(runs.c.run_id, runs.c.request_hash, runs.c.graph_id, runs.c.graph_digest)
    .where(runs.c.thread_id == bindparam("thread"), runs.c.idempotency_key == bindparam("key"))
    .order_by(runs.c.opened_version)
    .limit(1)
)
_WAITING = select(func.count()).select_from(queued_turns).where(_THREAD, _QUEUED)
_AHEAD = (
    select(func.count())
    .select_from(queued_turns)
    .where(
        _THREAD,
        _QUEUED,
        queued_turns.c.operation.not_like(bindparam("own")),
        queued_turns.c.received_at < bindparam("moment"),
    )
)
_THREADS = (
    select(queued_turns.c.thread_id).where(_QUEUED).distinct().order_by(queued_turns.c.thread_id)
)
_LAST = select(func.max(queued_turns.c.number)).where(_THREAD)
_SETTLE = (
    update(queued_turns)
    .where(_THREAD, queued_turns.c.number == bindparam("of_number"), _QUEUED)
    .values(
        state=bindparam("new_state"),
        run_id=bindparam("new_run"),
        refusal=bindparam("new_refusal"),
        settled_at=bindparam("at"),
        checksum=bindparam("sum"),
    )
)
_SETTLED = (
    select(queued_turns.c.number)
    .where(_THREAD, queued_turns.c.state != "queued")
    .order_by(queued_turns.c.number.desc())
    .offset(MAX_SETTLED - 1)
    .limit(1)
)
_FORGET = delete(queued_turns).where(
    _THREAD,
    queued_turns.c.state != "queued",
    (queued_turns.c.number <= bindparam("up_to")) | (queued_turns.c.settled_at < bindparam("old")),
)


class Settled(NamedTuple):
    """How a turn leaves the queue."""

    state: TurnState
    run_id: str | None = None
    refusal: JsonObject | None = None


def queue_turn(
    connection: Connection, *, thread_id: str, turn: NewTurn, now: datetime
) -> QueueReceipt:
    """Put a turn at the end of its thread's queue, or answer as its first sending was answered.

    Raises:
        IdempotencyKeyReuse: Its key was used before, for another request.
        ThreadBusy: The queue is full.
        CorruptLog: A row it stands on changed since it was written.
    """
    read_thread_head(connection, thread_id)  # Locks the thread: numbers are given one by one.
    waiting: int = connection.execute(_WAITING, {"thread": thread_id}).scalar_one()
    known = _sent_before(connection, thread_id, turn)
    if known is not None:
        return known.model_copy(update={"waiting": waiting})
    if waiting >= MAX_QUEUED:
        raise ThreadBusy(
            f"{waiting} turns of thread {thread_id!r} are queued already, at most {MAX_QUEUED} "
            f"are; this one was not taken, send it again later",
            queued=waiting,
        )
    last: int | None = connection.execute(_LAST, {"thread": thread_id}).scalar()
    _forget_old(connection, thread_id, now)
    number = (last or 0) + 1
    connection.execute(insert(queued_turns), _row_of(thread_id, number, turn, iso(now)))
    return QueueReceipt(number=number, behind=turn.behind, waiting=waiting + 1)


def settle_turn(
    connection: Connection, *, thread_id: str, number: int, settled: Settled, at: str
) -> bool:
    """Take a turn out of the queue; False where it is not in the queue any more.

    Raises:
        CorruptLog: Its row changed since it was written.
    """
    read_thread_head(connection, thread_id)
    turn = read_turn(connection, thread_id, number)
    if turn is None or turn.state != "queued":
        return False
    named = {"thread": thread_id, "number": number}
    row = connection.execute(_ONE, named).mappings().one()
    changed = {
        **row,
        "state": settled.state,
        "run_id": settled.run_id,
        "refusal": None if settled.refusal is None else dump(settled.refusal),
        "settled_at": at,
    }
    connection.execute(
        _SETTLE,
        {
            "thread": thread_id,
            "of_number": number,
            "new_state": changed["state"],
            "new_run": changed["run_id"],
            "new_refusal": changed["refusal"],
            "at": at,
            "sum": checksum(*(changed[name] for name in TURN_CHECKED)),
        },
    )
    return True


def withdraw_turn(connection: Connection, *, thread_id: str, number: int, at: str) -> QueuedTurn:
    """Take a queued turn back, so that no run begins with it; return it.

    Raises:
        InvalidRequest: The thread has no such turn, or it has left the queue.
        CorruptLog: Its row changed since it was written.
    """
    if not settle_turn(
        connection, thread_id=thread_id, number=number, settled=Settled("withdrawn"), at=at
    ):
        turn = read_turn(connection, thread_id, number)
        if turn is None:
            raise InvalidRequest(f"thread {thread_id!r} has no queued turn {number}")
        began = "" if turn.run_id is None else f" and began run {turn.run_id}"
        raise InvalidRequest(
            f"turn {number} of thread {thread_id!r} is {turn.state}{began}; only what is queued "
            "can be taken back"
        )
    withdrawn = read_turn(connection, thread_id, number)
    assert withdrawn is not None
    return withdrawn


def read_turn(connection: Connection, thread_id: str, number: int) -> QueuedTurn | None:
    """Return a queued turn by its number.

    Raises:
        CorruptLog: Its row changed since it was written.
    """
    row = connection.execute(_ONE, {"thread": thread_id, "number": number}).mappings().first()
    return None if row is None else _stored(row)


def read_turn_of_key(connection: Connection, thread_id: str, key: str) -> QueuedTurn | None:
    """Return the turn that came under an idempotency key, queued or started.

    Raises:
        CorruptLog: Its row changed since it was written.
    """
    row = connection.execute(_BY_KEY, {"thread": thread_id, "key": key}).mappings().first()
    return None if row is None else _stored(row)


def read_first_queued(connection: Connection, thread_id: str) -> QueuedTurn | None:
    """Return the turn that is started next.

    Raises:
        CorruptLog: Its row changed since it was written.
    """
    row = connection.execute(_FIRST, {"thread": thread_id}).mappings().first()
    return None if row is None else _stored(row)


def read_turns(connection: Connection, thread_id: str) -> list[QueuedTurn]:
    """Return what is kept of a thread's queued turns, in their order.

    Raises:
        CorruptLog: A row changed since it was written.
    """
    return [
        _stored(row) for row in connection.execute(_OF_THREAD, {"thread": thread_id}).mappings()
    ]


def count_queued(connection: Connection, thread_id: str) -> int:
    """Return how many turns of a thread are queued."""
    return connection.execute(_WAITING, {"thread": thread_id}).scalar_one()


def count_ahead(connection: Connection, thread_id: str, sender: str, moment: datetime) -> int:
    """Return how many queued turns of a thread come before a start.

    Args:
        connection: A connection.
        thread_id: The thread.
        sender: The chain that starts; what was sent by its own door comes behind it.
        moment: When it was started.
    """
    named = {"thread": thread_id, "own": f"{sender}:%", "moment": iso(moment)}
    return connection.execute(_AHEAD, named).scalar_one()


def read_threads_with_queue(connection: Connection) -> list[str]:
    """Return the threads that have queued turns, in the order of their ids."""
    return list(connection.execute(_THREADS).scalars())


def turn_problems(connection: Connection, thread_id: str) -> list[str]:
    """Return what is wrong with a thread's queued turns, a sentence each."""
    found: list[str] = []
    for row in connection.execute(_OF_THREAD, {"thread": thread_id}).mappings():
        try:
            _stored(row)
        except CorruptLog as error:
            found.append(error.message)
    return found


def _sent_before(connection: Connection, thread_id: str, turn: NewTurn) -> QueueReceipt | None:
    named = {"thread": thread_id, "operation": turn.operation}
    row = connection.execute(_BY_OPERATION, named).mappings().first()
    if row is not None:
        stored = _stored(row)
        return QueueReceipt(number=stored.number, behind=stored.behind, run_id=stored.run_id)
    key = turn.request.idempotency_key
    if key is None:
        return None
    known = read_turn_of_key(connection, thread_id, key)
    if known is not None:
        if not is_same(turn, known.request_hash, _graphs_of(known.request)):
            raise _reused(thread_id, key, f"came with queued turn {known.number}")
        return QueueReceipt(
            number=known.number, duplicate=True, behind=known.behind, run_id=known.run_id
        )
    run = connection.execute(_RUN_BY_KEY, {"thread": thread_id, "key": key}).first()
    if run is None:
        return None
    run_id, known_hash, graph_id, digest = run
    if not is_same(turn, known_hash, (f"{graph_id}@{digest[:16]}", graph_id)):
        raise _reused(thread_id, key, f"began run {run_id}")
    return QueueReceipt(duplicate=True, run_id=run_id)


def _graphs_of(request: JsonObject) -> tuple[str | JsonObject, ...]:
    graph = request.get("graph")
    named = graph if isinstance(graph, str) else as_object(graph)
    return () if named is None else (named,)


def _reused(thread_id: str, key: str, how: str) -> IdempotencyKeyReuse:
    return IdempotencyKeyReuse(
        f"idempotencyKey {key!r} of thread {thread_id!r} {how}, by another request; give a "
        "request of its own another key"
    )


def _forget_old(connection: Connection, thread_id: str, now: datetime) -> None:
    up_to = connection.execute(_SETTLED, {"thread": thread_id}).scalar()
    old = iso(now - timedelta(days=SETTLED_DAYS))
    connection.execute(
        _FORGET, {"thread": thread_id, "up_to": 0 if up_to is None else up_to, "old": old}
    )


def _row_of(thread_id: str, number: int, turn: NewTurn, at: str) -> dict[str, Any]:
    return {
        "thread_id": thread_id,
        "number": number,
        "state": "queued",
        "operation": turn.operation,
        "request": dump(kept_request(turn.request)),
        "request_hash": content_hash(turn.request),
        "idempotency_key": turn.request.idempotency_key,
        "behind": turn.behind,
        "namespace": turn.namespace,
        "run_id": None,
        "refusal": None,
        "received_at": at,
        "settled_at": None,
    }


def _stored(row: Mapping[Any, Any]) -> QueuedTurn:
    check_types(queued_turns, row)
    where = f"queued turn {row['number']} of thread {row['thread_id']}"
    verify_checksum(row, TURN_CHECKED, where)
    columns = {name: row[name] for name in TURN_CHECKED if name not in ("request", "refusal")}
    return QueuedTurn(
        **columns,
        request=as_object(load(row["request"], where)) or {},
        refusal=as_object(load_or_none(row["refusal"], where)),
    )
