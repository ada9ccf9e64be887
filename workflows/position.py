"""Where a run stands: what was executed, what is due, what waits, and the values still needed.

A :class:`Position` never changes; the scheduler answers each completion with the next one. It
holds no more than the next steps can ask for: the newest outputs of each node, those that a due
or waiting execution refers to, and the values of live iterators.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from seeding.commits import IteratorHead, PositionHead
from seeding.errors import UnknownExecution
from seeding.model import Json, JsonObject, Model
from workflows.loops import Stamp


class Reference(Model):
    """Where one value is: port ``port`` of an execution's outputs, or of a node's input."""

    kind: Literal["output", "input"]
    node_id: str
    occurrence: int
    port: str


class Unfillable(Model):
    """A data port that nothing can fill any more (SG-20).

    Attributes:
        port: The port.
        round: The round of the loop in which it was not filled.
        loop: The key of the innermost loop that the node shares with a source it waited for.
        sources: All sources of the port in that loop, in order of their ids.
        gateway: The nearest node of the loop that chose another branch, if there is one.
    """

    port: str
    round: int
    loop: str
    sources: tuple[str, ...]
    gateway: str | None = None


class Execution(Model):
    """One execution that is due or waits for an answer; a node has at most one at a time.

    Attributes:
        occurrence: How often the node was dispatched before, from 0 (SG-8).
        order: Its number among all dispatched executions of the run, from 1 (DATA-2).
        stamp: The round of each loop it is in, outermost first (SG-17).
        ask: How many of its questions were answered.
        status: ``due`` from dispatch to completion, ``waiting`` while its ticket is open.
        sources: Where the value of each wired port comes from, fixed at dispatch.
        kind: Whether the node is evaluated in place or runs as an effect.
        reentry: Whether a loopback edge dispatched it.
        unfillable: The port it fails for without being called; it is then of kind ``control``.
    """

    node_id: str
    occurrence: int
    order: int
    stamp: Stamp = {}
    ask: int = 0
    status: Literal["due", "waiting"] = "due"
    sources: dict[str, Reference] = {}
    kind: Literal["control", "effect"] = "effect"
    reentry: bool = False
    unfillable: Unfillable | None = None


class NodeRecord(Model):
    """What is known of a node that was dispatched at least once; all but counts is the newest.

    Attributes:
        executions: How often it was dispatched.
        order: Order of the newest execution.
        stamp: Stamp of the newest execution.
        status: ``running`` while it is due or waiting; ``routed`` is a failure that follows
            its error edges (ERR-7).
        active: Its active branch ports as they are compared; empty gates nothing (BR-1).
        retries: Retries spent over the whole run (ERR-11).
    """

    executions: int
    order: int
    stamp: Stamp = {}
    status: Literal["running", "completed", "routed", "failed"] = "running"
    active: tuple[str, ...] = ()
    retries: int = 0

    @property
    def occurrence(self) -> int:
        """Occurrence of the newest execution."""
        return self.executions - 1

    @property
    def delivers(self) -> bool:
        """Whether the newest execution has outputs that others may need."""
        return self.status in ("completed", "routed")


@dataclass(frozen=True)
class Recorded:
    """The recorded outputs of one execution, and the inputs its branch ports pass on."""

    outputs: JsonObject
    passed: JsonObject

    def holds(self, port: str) -> bool:
        """Whether ``port`` delivers a value; an explicit null is one (DATA-1)."""
        return port in self.outputs or port in self.passed

    def value(self, port: str) -> Json:
        """Return the value of a port that ``holds`` one."""
        return self.outputs[port] if port in self.outputs else self.passed[port]


@dataclass(frozen=True)
class LoopIterator:
    """The iterator of one ``for_each``, from its first round to its closing execution.

    Attributes:
        node_id: The ``for_each``.
        occurrence: What its rows are filed under: the execution that entered the loop, or,
            where a state update put it in place, minus the order of the updating execution.
        index: Zero-based index of the current item.
        items: All items.
        results: The results of the rounds done.
        depth: How many loops the node is in; the deepest iterator is the innermost.
        order: Order of the execution that began the current round.
        begun: False for an iterator that the starting state carried, until its first round.
    """

    node_id: str
    occurrence: int
    index: int
    items: tuple[Json, ...]
    results: tuple[Json, ...]
    depth: int = 0
    order: int = 0
    begun: bool = True

    @property
    def head(self) -> IteratorHead:
        """The part of it that a commit's position head holds."""
        return IteratorHead(
            node_id=self.node_id,
            occurrence=self.occurrence,
            index=self.index,
            items=len(self.items),
            results=len(self.results),
        )


@dataclass(frozen=True)
class Position:
    """Where a run stands between two commits.

    Attributes:
        current_node_id: The node dispatched or waited on last; ``""`` at the opening.
        iteration_count: Loop rounds begun, or what a node set it to (SG-14).
        order: Number of executions dispatched.
        passes: Steps that dispatched an effect (ORC-10).
        verdict: The cause the run will end with once what is in flight has completed.
        nodes: Records of the nodes dispatched so far.
        rounds: The current round of each loop; a loop that is missing is in round 0.
        iterators: Live iterators by ``for_each``.
        executions: Executions due or waiting, by node.
        inputs: The request's values by node and port.
        outputs: The outputs still needed, by node and occurrence.
    """

    current_node_id: str
    iteration_count: int
    order: int
    passes: int
    verdict: JsonObject | None
    nodes: Mapping[str, NodeRecord]
    rounds: Mapping[str, int]
    iterators: Mapping[str, LoopIterator]
    executions: Mapping[str, Execution]
    inputs: Mapping[str, JsonObject]
    outputs: Mapping[tuple[str, int], Recorded]

    @property
    def head(self) -> PositionHead:
        """The small position that the next commit row holds."""
        innermost = innermost_iterator(self.iterators)
        return PositionHead(
            current_node_id=self.current_node_id,
            iteration_count=self.iteration_count,
            iterator=innermost.head if innermost else None,
            counters={"order": self.order, "passes": self.passes},
            verdict=self.verdict,
        )


def due(position: Position) -> tuple[Execution, ...]:
    """Return the executions to be run or still running, in dispatch order.

    Once a verdict stands nothing further is dispatched: then these are the effects in flight,
    which complete and are committed, and the caller starts none of them anew.
    """
    return tuple(
        execution
        for execution in _in_order(position)
        if execution.status == "due" and (not position.verdict or execution.kind == "effect")
    )


def waiting(position: Position) -> tuple[Execution, ...]:
    """Return the executions whose ticket is open, in dispatch order."""
    return tuple(execution for execution in _in_order(position) if execution.status == "waiting")


def is_finished(position: Position) -> bool:
    """Return whether nothing is due and nothing waits.

    Under a verdict open questions no longer hold the run: a failure goes before a pause
    (ORC-11).
    """
    return not due(position) and (position.verdict is not None or not waiting(position))


def next_occurrence(position: Position, node_id: str) -> int:
    """Return the lowest occurrence of a node that is not completed."""
    execution = position.executions.get(node_id)
    if execution is not None:
        return execution.occurrence
    record = position.nodes.get(node_id)
    return 0 if record is None else record.executions


def shown_iterator(position: Position) -> JsonObject | None:
    """Return the iterator of the innermost ``for_each`` round in progress, as states show it.

    Among loops that are not nested in each other the one whose round began last is shown.
    """
    found = innermost_iterator(position.iterators)
    if found is None:
        return None
    return {"items": list(found.items), "index": found.index, "results": list(found.results)}


def innermost_iterator(iterators: Mapping[str, LoopIterator]) -> LoopIterator | None:
    """Return the deepest of some iterators, and of those the one whose round began last."""
    return max(
        iterators.values(),
        key=lambda found: (found.depth, found.order, found.node_id),
        default=None,
    )


def execution_of(position: Position, node_id: str, occurrence: int) -> Execution:
    """Return the execution of a node that is due or waiting.

    Raises:
        UnknownExecution: The position holds no such execution.
    """
    execution = position.executions.get(node_id)
    if execution is None or execution.occurrence != occurrence:
        raise UnknownExecution(
            f"execution {occurrence} of node {node_id!r} is neither due nor waiting; "
            "look at due() and waiting() of the newest position",
            node=node_id,
            occurrence=occurrence,
        )
    return execution


def _in_order(position: Position) -> list[Execution]:
    return sorted(position.executions.values(), key=lambda execution: execution.order)
