"""What the log says of a thread's queued turns, as the JSON that people read."""

from activities.log import AsyncLogReader
from client.forked_threads import find_forked
from client.reading import latest_run
from seeding.model import JsonObject
from seeding.queued_turns import QueuedTurn


def queue_document(log: AsyncLogReader, thread_id: str) -> JsonObject:
    """Return a thread's queue: how many turns wait, how many are remembered, and each of them.

    Raises:
        UnknownThread: The log has nothing of the thread.
    """
    turns = log.queued_turns(thread_id)
    if not turns and find_forked(log, thread_id) is None:
        latest_run(log, thread_id)
    waiting = sum(turn.state == "queued" for turn in turns)
    return {
        "threadId": thread_id,
        "queued": waiting,
        "remembered": len(turns) - waiting,
        "turns": [turn_row(turn) for turn in turns],
    }


def turn_row(turn: QueuedTurn) -> JsonObject:
    """Return one queued turn as people see it, without its content beyond the message."""
    graph = turn.request.get("graph")
    return {
        "number": turn.number,
        "state": turn.state,
        "graph": graph if isinstance(graph, str) else None,
        "message": turn.request.get("message"),
        "idempotencyKey": turn.idempotency_key,
        "behind": turn.behind,
        "runId": turn.run_id,
        "refusal": turn.refusal,
        "receivedAt": turn.received_at,
        "settledAt": turn.settled_at,
    }
