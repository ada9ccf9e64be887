"""The ids of threads, runs, checkpoints, tickets, messages and effects (design, section 2).

Every id is derived, never drawn: a replay, a reset or another worker derives the same one.
"""

import re
from typing import NamedTuple

from seeding.canonical import canonical_hash
from seeding.errors import InvalidRequest
from seeding.model import Model

WORKFLOW_PREFIX = "thread/"
QUEUE_PREFIX = "queue/"
MAX_THREAD_ID = 150
EFFECT_KEY_SCHEME = "fermata-effect-1"
WORKFLOW_END = "workflow_end"

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_TICKET = re.compile(r"^(?P<run>[^:]+):(?P<node>[^:]*):(?P<occurrence>\d{1,9}):(?P<n>\d{1,9})$")


def check_thread_id(thread_id: str) -> str:
    """Return ``thread_id`` if it is one: 1 to 150 characters, no ``/``, no control characters.

    Raises:
        InvalidRequest: It is not.
    """
    if not 1 <= len(thread_id) <= MAX_THREAD_ID:
        raise InvalidRequest(
            f"a thread id has 1 to {MAX_THREAD_ID} characters, this one has {len(thread_id)}"
        )
    if "/" in thread_id or _CONTROL.search(thread_id):
        raise InvalidRequest(f"a thread id holds no '/' and no control characters: {thread_id!r}")
    return thread_id


def workflow_id(thread_id: str) -> str:
    """Return the workflow id of a thread's runs."""
    return WORKFLOW_PREFIX + thread_id


def thread_of_workflow(workflow: str) -> str:
    """Return the thread id of a workflow id.

    Raises:
        InvalidRequest: The id is not ``thread/<thread id>``.
    """
    if not workflow.startswith(WORKFLOW_PREFIX):
        raise InvalidRequest(
            f"a run's workflow id is 'thread/<thread id>', not {workflow!r}; "
            "start it with --workflow-id thread/<thread id>"
        )
    return check_thread_id(workflow.removeprefix(WORKFLOW_PREFIX))


def queue_id(thread_id: str) -> str:
    """Return the workflow id of a thread's queue of turns."""
    return QUEUE_PREFIX + thread_id


def thread_of_queue(workflow: str) -> str:
    """Return the thread id of a queue's workflow id.

    Raises:
        InvalidRequest: The id is not ``queue/<thread id>``.
    """
    if not workflow.startswith(QUEUE_PREFIX):
        raise InvalidRequest(
            f"a queue's workflow id is 'queue/<thread id>', not {workflow!r}; "
            "start it with --workflow-id queue/<thread id>"
        )
    return check_thread_id(workflow.removeprefix(QUEUE_PREFIX))


def checkpoint_id(run_id: str, ordinal: int) -> str:
    """Return the id of the checkpoint that commit ``ordinal`` of the run made."""
    return f"{run_id}:{ordinal}"


class CheckpointName(NamedTuple):
    """The parts of a checkpoint id."""

    run_id: str
    ordinal: int


def parse_checkpoint_id(text: str) -> CheckpointName | None:
    """Return the parts of a checkpoint id, or None where ``text`` is not of that form."""
    run_id, _, ordinal = text.rpartition(":")
    if not run_id or _CONTROL.search(run_id) or not re.fullmatch(r"0|[1-9]\d{0,8}", ordinal):
        return None
    return CheckpointName(run_id, int(ordinal))


def ticket_id(run_id: str, node_id: str, occurrence: int, n: int) -> str:
    """Return the id of the ``n``-th ticket of one execution; a pause has no node."""
    return f"{run_id}:{node_id}:{occurrence}:{n}"


class TicketName(NamedTuple):
    """The parts of a ticket id; ``node_id`` is empty for a pause."""

    run_id: str
    node_id: str
    occurrence: int
    n: int


def parse_ticket_id(text: str) -> TicketName | None:
    """Return the parts of a ticket id, or None where ``text`` is not of that form."""
    match = _TICKET.match(text)
    if match is None:
        return None
    return TicketName(match["run"], match["node"], int(match["occurrence"]), int(match["n"]))


def message_id(run_id: str, ordinal: int, index: int) -> str:
    """Return the id of message ``index`` of commit ``ordinal``."""
    return f"{run_id}:{ordinal}:{index}"


class EffectName(Model):
    """Everything that makes an effect what it is; never a Temporal id or attempt."""

    scheme: str = EFFECT_KEY_SCHEME
    thread_id: str
    run_id: str
    run_epoch: int
    graph: str
    node_id: str
    occurrence: int
    ask: int


def effect_key(name: EffectName) -> str:
    """Return the key of an effect: equal over retries and lost workers, else never equal.

    It is the first 160 bits of the name's hash, as 40 hex digits: it stands in history once a
    node call.
    """
    return canonical_hash(name.to_json())[:40]
