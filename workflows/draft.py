"""The next position while it is being made: a private copy that one step changes and freezes."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from seeding.commits import RunRow, StateCommand
from seeding.model import Json, JsonObject
from workflows.cells import Touched, changed_cells, output_row, referred
from workflows.completion import Asked, Step
from workflows.loops import Stamp
from workflows.plan import NodePlan, Plan
from workflows.position import (
    Execution,
    LoopIterator,
    NodeRecord,
    Position,
    Recorded,
    Reference,
    Unfillable,
)
from workflows.readiness import find_sources


class _Request(NamedTuple):
    """A dispatch asked for.

    Attributes:
        stamp: Its round.
        reentry: Whether a loopback edge asks for it.
        sources: Where its values come from.
        unfillable: The port that the node fails for (SG-20).
    """

    stamp: Stamp
    reentry: bool
    sources: dict[str, Reference]
    unfillable: Unfillable | None

    def calls(self, node: NodePlan) -> bool:
        """Return whether the execution runs as an effect."""
        return node.type.kind == "effect" and self.unfillable is None


class Draft:
    """A position in the making. It is created and finished within one scheduler function."""

    def __init__(self, plan: Plan, before: Position) -> None:
        self.plan = plan
        self.before = before
        self.current_node_id = before.current_node_id
        self.iteration_count = before.iteration_count
        self.order = before.order
        self.passes = before.passes
        self.verdict = before.verdict
        self.nodes: dict[str, NodeRecord] = dict(before.nodes)
        self.rounds: dict[str, int] = dict(before.rounds)
        self.iterators: dict[str, LoopIterator] = dict(before.iterators)
        self.executions: dict[str, Execution] = dict(before.executions)
        self.outputs: dict[tuple[str, int], Recorded] = dict(before.outputs)
        self.rows: list[RunRow] = []
        self.commands: list[StateCommand] = []
        self.messages: list[JsonObject] = []
        self.warnings: list[JsonObject] = []
        self._touched = Touched()
        self._requested: dict[str, _Request] = {}
        self._released: dict[tuple[str, int], None] = {}

    def stamp(self, node: NodePlan) -> Stamp:
        """Return the stamp an execution of ``node`` dispatched now would have."""
        return {key: self.rounds.get(key, 0) for key in node.loops}

    def set_record(self, node_id: str, record: NodeRecord) -> None:
        """Replace what is known of a node."""
        self.nodes[node_id] = record
        self._touched.nodes[node_id] = None

    def set_execution(self, execution: Execution) -> None:
        """Put an execution in its node's place."""
        self.executions[execution.node_id] = execution
        self._touched.executions[execution.node_id] = None

    def retire(self, execution: Execution) -> None:
        """Take a completed execution out of the position."""
        del self.executions[execution.node_id]
        self._touched.executions[execution.node_id] = None
        self._released.update(dict.fromkeys(referred(execution)))

    def set_round(self, key: str, number: int) -> None:
        """Set the current round of a loop; round 0 is what a loop without an entry is in."""
        self._touched.loops[key] = None
        if number:
            self.rounds[key] = number
        else:
            self.rounds.pop(key, None)

    def set_iterator(self, node_id: str, iterator: LoopIterator | None) -> None:
        """Replace or drop the iterator of a ``for_each``."""
        self._touched.loops[node_id] = None
        if iterator is None:
            self.iterators.pop(node_id, None)
        else:
            self.iterators[node_id] = iterator

    def add_rows(
        self, kind: str, iterator: LoopIterator, values: tuple[Json, ...], at: int
    ) -> None:
        """Append the values of an iterator's items or results as rows from index ``at``."""
        filed = {"kind": kind, "node_id": iterator.node_id, "occurrence": iterator.occurrence}
        for index, value in enumerate(values, start=at):
            self.rows.append(RunRow.model_validate({**filed, "index": index, "value": value}))

    def record(self, execution: Execution, recorded: Recorded) -> None:
        """Record the outputs of a completed execution."""
        key = (execution.node_id, execution.occurrence)
        self.outputs[key] = recorded
        row = RunRow(kind="output", node_id=key[0], occurrence=key[1], value=output_row(recorded))
        self.rows.append(row)

    @property
    def requested(self) -> Iterable[str]:
        """The nodes that this step dispatches, as far as it is known."""
        return self._requested.keys()

    def is_requested(self, node_id: str) -> bool:
        """Return whether this step dispatches the node already; it does so at most once (SG-6)."""
        return node_id in self._requested

    def request(
        self,
        node_id: str,
        stamp: Stamp,
        *,
        reentry: bool,
        unfillable: Unfillable | None = None,
    ) -> None:
        """Ask for a dispatch of a node in the round ``stamp`` at the end of this step."""
        # Its values are found now: what else is dispatched in this step supersedes nothing yet.
        node = self.plan.nodes[node_id]
        sources = find_sources(self.plan, self.nodes, self.outputs, node, stamp, reentry=reentry)
        self._requested[node_id] = _Request(stamp, reentry, sources, unfillable)

    def dispatch(self) -> None:
        """Make due what was requested, in order of (priority, node id), numbering each."""
        effects = False
        requested = [self.plan.nodes[node_id] for node_id in self._requested]
        for node in sorted(requested, key=lambda node: node.rank):
            request = self._requested[node.node.id]
            self._dispatch_one(node, request)
            self.current_node_id = node.node.id
            effects = effects or request.calls(node)
        self._requested.clear()
        self.count_pass(effects)

    def count_pass(self, effects: bool) -> None:
        """Count a step that dispatched an effect (ORC-10)."""
        self.passes += 1 if effects else 0

    def finish(
        self,
        node_id: str | None,
        *,
        asked: Asked | None = None,
        inputs: Mapping[str, JsonObject] | None = None,
    ) -> Step:
        """Return the step that leads from the position before to this one."""
        self._forget()
        after = Position(
            current_node_id=self.current_node_id,
            iteration_count=self.iteration_count,
            order=self.order,
            passes=self.passes,
            verdict=self.verdict,
            nodes=self.nodes,
            rounds=self.rounds,
            iterators=self.iterators,
            executions=self.executions,
            inputs=self.before.inputs if inputs is None else inputs,
            outputs=self.outputs,
        )
        cells = changed_cells(self.before, after, self._touched)
        return Step(
            position=after,
            head=after.head,
            rows=tuple(self.rows),
            state=(*self.commands, *cells),
            messages=tuple(self.messages),
            node_id=node_id,
            warnings=tuple(self.warnings),
            asked=asked,
        )

    def _dispatch_one(self, node: NodePlan, request: "_Request") -> None:
        node_id = node.node.id
        known = self.nodes.get(node_id)
        executions = known.executions if known else 0
        if known is not None and known.delivers:
            self._released[node_id, known.occurrence] = None
        self.order += 1
        self.set_execution(
            Execution(
                node_id=node_id,
                occurrence=executions,
                order=self.order,
                stamp=request.stamp,
                sources=request.sources,
                kind="effect" if request.calls(node) else "control",
                reentry=request.reentry,
                unfillable=request.unfillable,
            )
        )
        retries = known.retries if known else 0
        record = NodeRecord(
            executions=executions + 1, order=self.order, stamp=request.stamp, retries=retries
        )
        self.set_record(node_id, record)

    def _forget(self) -> None:
        """Drop released outputs that are neither a node's newest nor referred to."""
        stale = [key for key in self._released if not self._is_newest(key)]
        if not stale:
            return
        held: dict[tuple[str, int], None] = {}
        for execution in self.executions.values():
            held.update(dict.fromkeys(referred(execution)))
        for key in stale:
            if key not in held:
                self.outputs.pop(key, None)

    def _is_newest(self, key: tuple[str, int]) -> bool:
        record = self.nodes.get(key[0])
        return record is not None and record.delivers and record.occurrence == key[1]
