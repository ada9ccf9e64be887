"""The rows of the effect ledger: what was about to happen, and what it came to.

A row moves from ``begun`` to ``done``, ``asked`` or ``failed`` once and never back. While it is
``begun`` each call of the effect is an attempt of its own, and the newest attempt is the only
one that may say what the effect came to.
"""

from collections.abc import Mapping
from typing import Any, Literal

from sqlalchemy import Connection, bindparam, insert, select, update

from activities.log.encoding import checksum, dump, load_or_none
from activities.log.missing_runs import not_in_log
from activities.log.tables import effects, runs
from seeding.errors import (
    CorruptLog,
    EffectArgsMismatch,
    Fenced,
    InvalidCommit,
    OperationReused,
    RunTerminal,
)
from seeding.model import JsonObject, Model, as_object

EffectStatus = Literal["begun", "done", "asked", "failed"]

_RUN = (
    select(runs.c.phase, runs.c.owner_epoch)
    .where(runs.c.run_id == bindparam("run"))
    # A shared lock, so that the run's end waits for those who count on it being open.
    .with_for_update(read=True)
)
_RUN_OF_EFFECT = select(effects.c.run_id).where(effects.c.effect_key == bindparam("key"))
_LOCKED = select(effects).where(effects.c.effect_key == bindparam("key")).with_for_update()
_ATTEMPT = (
    update(effects)
    .where(effects.c.effect_key == bindparam("key"))
    .values(
        attempts=bindparam("attempt"),
        owner_epoch=bindparam("epoch"),
        finished_at=None,
        checksum=bindparam("sum"),
    )
)
_FINISH = (
    update(effects)
    .where(effects.c.effect_key == bindparam("key"))
    .values(
        status=bindparam("new_status"),
        code=bindparam("new_code"),
        outcome=bindparam("new_outcome"),
        finished_at=bindparam("at"),
        checksum=bindparam("sum"),
    )
)
_OF_THREAD = (
    select(effects)
    .where(effects.c.thread_id == bindparam("thread"))
    .order_by(
        effects.c.begun_at,
        effects.c.node_id,
        effects.c.occurrence,
        effects.c.ask,
        effects.c.effect_key,
    )
)


OUTCOME_PART = 2**32
"""What a row's checksum is divided by: the rest is the outcome's, and goes with it."""

_SIGNED = 2**31 - 1
"""Keeps the whole checksum within what a database holds as a number."""

_STAYS = (
    "effect_key",
    "thread_id",
    "run_id",
    "node_id",
    "occurrence",
    "ask",
    "node_type",
    "arguments_hash",
    "attempts",
    "status",
    "code",
    "owner_epoch",
    "begun_at",
    "finished_at",
)
"""Every column but the outcome, which goes at the end of the run."""


class EffectIntent(Model):
    """A call that is about to be made.

    Attributes:
        effect_key: The effect's name, the same whoever calls and however often.
        ask: How many questions of this execution were answered before.
        arguments_hash: Hash of what the call is given, its references resolved.
        owner_epoch: The epoch under which the caller owns the run.
    """

    effect_key: str
    thread_id: str
    run_id: str
    node_id: str
    occurrence: int
    ask: int = 0
    node_type: str
    arguments_hash: str
    owner_epoch: int = 1


class EffectStanding(Model):
    """What the ledger answers to an intent.

    Attributes:
        attempt: The number of this attempt, by which it finishes the effect; of a finished
            effect the number of the attempt that did.
        outcome: What the effect came to before; None means that the call is to be made.
    """

    attempt: int
    status: EffectStatus = "begun"
    code: str | None = None
    outcome: JsonObject | None = None


class StoredEffect(Model):
    """One row of the effect ledger.

    Attributes:
        status: ``begun``: on its way, lost, or failed in a way that may be tried again, which
            ``code`` then tells. Otherwise the effect is finished and is not run again.
        code: Code of the failure, of the newest attempt that said one.
        outcome: What the effect came to; None where it is not finished, or its run has ended.
        begun_at: When the first attempt began.
        finished_at: When the newest attempt came to its end; None where it has not.
    """

    effect_key: str
    thread_id: str
    run_id: str
    node_id: str
    occurrence: int
    ask: int
    node_type: str
    arguments_hash: str
    status: EffectStatus
    code: str | None
    outcome: JsonObject | None
    attempts: int
    owner_epoch: int
    begun_at: str
    finished_at: str | None


def begin_effect(connection: Connection, *, effect: EffectIntent, at: str) -> EffectStanding:
    """Record an intent, or answer with what the effect came to before and write nothing.

    Raises:
        RunTerminal: The run has ended.
        RunNotInLog: The log does not know it, or never granted its owner epoch.
        Fenced: Another execution took the run over.
        EffectArgsMismatch: The key is known with other arguments.
        CorruptLog: The row changed since it was written.
    """
    _check_run(connection, effect)
    row = connection.execute(_LOCKED, {"key": effect.effect_key}).mappings().first()
    if row is None:
        connection.execute(insert(effects), _first_row(effect, at))
        return EffectStanding(attempt=1)
    check_effect_row(row)
    if row["arguments_hash"] != effect.arguments_hash:
        raise EffectArgsMismatch(
            f"effect {effect.effect_key} (node {effect.node_id!r}, occurrence "
            f"{effect.occurrence}) of run {effect.run_id} was begun with arguments "
            f"{row['arguments_hash'][:16]} and is now given {effect.arguments_hash[:16]}; "
            "it is not run, because its key promises one and the same effect"
        )
    if row["outcome"] is not None:
        return EffectStanding(
            attempt=row["attempts"],
            status=row["status"],
            code=row["code"],
            outcome=_outcome_of(row),
        )
    attempt: int = row["attempts"] + 1
    changed = {
        **row,
        "attempts": attempt,
        "owner_epoch": effect.owner_epoch,
        "finished_at": None,
    }
    connection.execute(
        _ATTEMPT,
        {
            "key": effect.effect_key,
            "attempt": attempt,
            "epoch": effect.owner_epoch,
            "sum": _checksum_of(changed),
        },
    )
    return EffectStanding(attempt=attempt)


def finish_effect(
    connection: Connection,
    *,
    effect_key: str,
    attempt: int,
    outcome: JsonObject | None,
    status: EffectStatus,
    code: str | None,
    at: str,
) -> bool:
    """Record what an attempt came to and return True; the same again is False, unwritten.

    The owner epoch takes no part: what happened outside has happened, and an effect that its
    former owner saw through need not be repeated by the next one.

    Raises:
        RunTerminal: The run has ended.
        RunNotInLog: The log does not know the effect.
        Fenced: A newer attempt has begun; this one changes nothing.
        OperationReused: The attempt came to another end before.
        InvalidCommit: An outcome with status ``begun``, or another status without one.
        CorruptLog: The row changed since it was written.
    """
    if (status == "begun") != (outcome is None):
        raise InvalidCommit(
            f"effect {effect_key}: just what stays 'begun' has no outcome, and it is {status!r}"
        )
    run_id = connection.execute(_RUN_OF_EFFECT, {"key": effect_key}).scalar()
    if run_id is None:
        raise not_in_log(connection.engine.url, f"has no effect {effect_key}")
    _open_run_epoch(connection, run_id)
    row = connection.execute(_LOCKED, {"key": effect_key}).mappings().one()
    check_effect_row(row)
    if row["attempts"] != attempt:
        raise Fenced(
            f"attempt {attempt} of effect {effect_key} is over: attempt {row['attempts']} has "
            "begun, and what this one came to is dropped",
            attempts=row["attempts"],
        )
    ended = {**row, "status": status, "code": _column(code), "outcome": _text_of(outcome)}
    if row["finished_at"] is not None:
        if all(row[name] == ended[name] for name in ("status", "code", "outcome")):
            return False
        raise OperationReused(
            f"attempt {attempt} of effect {effect_key} came to {row['status']!r} before, with "
            f"another outcome than {status!r} now; the first one stays"
        )
    connection.execute(
        _FINISH,
        {
            "key": effect_key,
            "new_status": status,
            "new_code": ended["code"],
            "new_outcome": ended["outcome"],
            "at": at,
            "sum": _checksum_of({**ended, "finished_at": at}),
        },
    )
    return True


def read_effects(
    connection: Connection, thread_id: str, run_id: str | None = None
) -> list[StoredEffect]:
    """Return the effects of a thread, or of one of its runs, the one begun first before others.

    Raises:
        CorruptLog: A row changed since it was written.
    """
    statement = _OF_THREAD if run_id is None else _OF_THREAD.where(effects.c.run_id == run_id)
    rows = connection.execute(statement, {"thread": thread_id}).mappings()
    return [_stored(row) for row in rows]


def check_effect_row(row: Mapping[Any, Any]) -> None:
    """Compare a row of the ledger with its checksum.

    At its run's end the outcome of a row is dropped, and with it that half of the checksum, so
    that one statement drops them all.

    Raises:
        CorruptLog: A column changed since the row was written.
    """
    if row["checksum"] not in (_checksum_of(row), _former_checksum_of(row)):
        raise CorruptLog(f"effect {row['effect_key']} of run {row['run_id']} was changed on disk")


def _check_run(connection: Connection, effect: EffectIntent) -> None:
    current = _open_run_epoch(connection, effect.run_id)
    if effect.owner_epoch < current:
        raise Fenced(
            f"run {effect.run_id} is owned under epoch {current}, this call was made under "
            f"{effect.owner_epoch}; node {effect.node_id!r} is not called",
            ownerEpoch=current,
        )
    if effect.owner_epoch > current:
        raise not_in_log(
            connection.engine.url,
            f"never granted owner epoch {effect.owner_epoch} of run {effect.run_id}, under which "
            f"node {effect.node_id!r} is to be called; the last one it granted is {current}",
        )


def _open_run_epoch(connection: Connection, run_id: str) -> int:
    run = connection.execute(_RUN, {"run": run_id}).first()
    if run is None:
        raise not_in_log(
            connection.engine.url, f"does not know run {run_id}, which has an effect under way"
        )
    phase, owner_epoch = run
    if phase == "ended":
        raise RunTerminal(f"run {run_id} has ended; no effect of it is begun or finished")
    return owner_epoch


def _first_row(effect: EffectIntent, at: str) -> dict[str, Any]:
    row = {
        **dict(effect),
        "status": "begun",
        "code": None,
        "outcome": None,
        "attempts": 1,
        "begun_at": at,
        "finished_at": None,
    }
    return {**row, "checksum": _checksum_of(row)}


def _checksum_of(row: Mapping[Any, Any]) -> int:
    """Return the checksum of a row: of what stays above, of the outcome below."""
    stays = checksum(*(row[name] for name in _STAYS)) & _SIGNED
    outcome = 0 if row["outcome"] is None else checksum(row["outcome"])
    return stays * OUTCOME_PART + outcome


def _former_checksum_of(row: Mapping[Any, Any]) -> int:
    """Return the checksum that the first releases wrote: 0 once the outcome was dropped."""
    if row["outcome"] is None and row["status"] != "begun":
        return 0
    return checksum(
        *(row[name] for name in ("effect_key", "run_id", "arguments_hash")),
        *(row[name] for name in ("attempts", "status", "outcome")),
    )


def _text_of(outcome: JsonObject | None) -> str | None:
    return None if outcome is None else dump(outcome)


def _column(code: str | None) -> str | None:
    # Not every database can keep this character in a text, and a node's code may hold any.
    return None if code is None else code.replace("\x00", "\N{REPLACEMENT CHARACTER}")


def _outcome_of(row: Mapping[Any, Any]) -> JsonObject | None:
    return as_object(load_or_none(row["outcome"], f"the outcome of effect {row['effect_key']}"))


def _stored(row: Mapping[Any, Any]) -> StoredEffect:
    check_effect_row(row)
    columns = {name: value for name, value in row.items() if name != "checksum"}
    return StoredEffect.model_validate({**columns, "outcome": _outcome_of(row)})
