"""What travels between workflows and the activities of a thread's queue of turns, as JSON."""

from typing import Literal

from seeding.model import JsonObject
from workflows.wire import WireModel


class QueueTurnInput(WireModel):
    """A turn for the end of a thread's queue.

    Attributes:
        thread_id: The thread.
        sender: The chain that sends it; with ``number`` it names the sending.
        number: The how-manieth turn of that sender this is.
        request: The start the turn will be, as its sender gave it; a message names no graph, or
            the one it wants.
        graph: The graph of the run it is queued behind, for a request that names none; without
            it the graph of the thread's latest run is taken.
        behind: The run it is queued behind.
        namespace: The namespace whose queue starts it.
    """

    thread_id: str
    sender: str
    number: int
    request: JsonObject
    namespace: str
    graph: str | JsonObject | None = None
    behind: str | None = None


class DrainInput(WireModel):
    """Asks for the next turn to be started.

    Attributes:
        thread_id: The thread.
        namespace: The namespace of the queue that asks.
        closing: The open run is about to close, so that it is worth waiting for.
        again: A turn whose start came to nothing, without a refusal that is final, is started
            again: so asks a queue that looks by itself, after a while.
    """

    thread_id: str
    namespace: str
    closing: bool = False
    again: bool = False


class DrainResult(WireModel):
    """What became of a look at the queue.

    Attributes:
        kind: ``empty``: nothing is queued. ``started``: a turn was started. ``busy``: a run is
            open. ``held``: none is open and none may start; ``why`` says why.
        number: The turn that was started.
        run_id: The execution that was started.
        closing: The open execution has no run to go on with, so it is likely to close soon.
        left: Turns that have left the queue without a start: refused, or begun before by their key.
    """

    kind: Literal["empty", "started", "busy", "held"]
    number: int | None = None
    run_id: str | None = None
    why: str | None = None
    closing: bool = False
    left: tuple[int, ...] = ()


class WakeInput(WireModel):
    """Asks that a thread's queue looks whether a turn can start, where it has one."""

    thread_id: str
