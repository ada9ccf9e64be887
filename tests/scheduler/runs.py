"""A run without a workflow: evaluates, completes, keeps what a log would keep, restores."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from seeding.commits import EndCause, PositionHead
from seeding.model import JsonObject
from workflows.graph.model import Graph
from workflows.scheduler import (
    Asked,
    Completion,
    Ending,
    Execution,
    Limits,
    NodeFailureReport,
    Position,
    Step,
    answer,
    complete,
    due,
    evaluate,
    is_finished,
    needed_iterators,
    needed_outputs,
    open_position,
    resolve_inputs,
    restore,
    result_key,
    wait,
    waiting,
)

from .graphs import plan_of

Node = Callable[[JsonObject, int], JsonObject | NodeFailureReport | Asked]


def echo(inputs: JsonObject, occurrence: int) -> JsonObject:
    """Return the inputs as outputs, and ``out`` beside them."""
    return {"out": occurrence, **inputs}


class Run:
    """One run of a graph on simulated effects."""

    def __init__(
        self,
        graph: Graph,
        nodes: Mapping[str, Node] | None = None,
        *,
        inputs: Mapping[str, JsonObject] | None = None,
        max_iterations: int = 10_000,
        iterator: JsonObject | None = None,
    ) -> None:
        self.plan = plan_of(graph)
        self.nodes = nodes or {}
        self.limits = Limits(max_iterations=max_iterations)
        self.ending: Ending | None = None
        self.cells: dict[str, Any] = {}
        self.rows: dict[tuple[str, str, int, int], Any] = {}
        self.results: dict[str, JsonObject] = {}
        self.messages: list[JsonObject] = []
        self.data: JsonObject = {}
        self.metadata: JsonObject = {}
        self.warnings: list[JsonObject] = []
        self.steps: list[Step] = []
        self.trace: list[str] = []
        self.position: Position
        self.head = PositionHead()
        self.accept(open_position(self.plan, inputs or {}, max_iterations, iterator))

    def accept(self, step: Step | Ending) -> None:
        """Keep what a step says, as a log would."""
        if isinstance(step, Ending):
            self.ending = step
            return
        self.steps.append(step)
        self.position, self.head = step.position, step.head
        for command in step.state:
            scope = {"position": self.cells, "data": self.data, "metadata": self.metadata}
            cells = scope[command.cell]
            if command.op == "remove":
                cells.pop(command.key, None)
            else:
                cells[command.key] = json.loads(json.dumps(command.value, sort_keys=True))
        for row in step.rows:
            key = (row.kind, row.node_id, row.occurrence, row.index)
            assert key not in self.rows, "rows are appended once"
            self.rows[key] = json.loads(json.dumps(row.value))
            if row.kind == "output":
                self.results[result_key(row.node_id, row.occurrence)] = row.value["outputs"]
        self.messages.extend(step.messages)
        self.warnings.extend(step.warnings)

    def outcome(self, execution: Execution) -> Completion | Asked:
        """Return what an execution comes to."""
        if execution.kind == "control":
            return evaluate(self.plan, self.position, execution)
        node, occurrence = execution.node_id, execution.occurrence
        inputs = resolve_inputs(self.plan, self.position, execution)
        made = self.nodes.get(node, echo)(inputs, occurrence)
        if isinstance(made, Asked):
            return made
        if isinstance(made, NodeFailureReport):
            return Completion(node_id=node, occurrence=occurrence, failure=made)
        return Completion(node_id=node, occurrence=occurrence, outputs=made)

    def finish(self, execution: Execution) -> None:
        """Commit what an execution comes to."""
        outcome = self.outcome(execution)
        self.trace.append(result_key(execution.node_id, execution.occurrence))
        if isinstance(outcome, Asked):
            self.accept(wait(self.plan, self.position, outcome))
        else:
            limits = self.limits.model_copy(
                update={"data_keys": tuple(self.data), "metadata_keys": tuple(self.metadata)}
            )
            self.accept(complete(self.plan, self.position, outcome, limits))

    def finish_node(self, node_id: str) -> None:
        """Commit what the due execution of one node comes to."""
        self.finish(next(found for found in due(self.position) if found.node_id == node_id))

    def advance(self) -> bool:
        """Commit the execution that was dispatched first; False where nothing is due."""
        found = due(self.position)
        if self.ending is not None or not found:
            return False
        self.finish(found[0])
        return True

    def go(self, most: int = 500) -> "Run":
        """Advance until the run waits or ends."""
        for _ in range(most):
            if not self.advance():
                return self
        raise AssertionError(f"still running after {most} completions")

    def decide(self, node_id: str, decision: str = "approve", **given: Any) -> "Run":
        """Answer the open question of a node and commit what follows."""
        execution = next(found for found in waiting(self.position) if found.node_id == node_id)
        said = {"decision": decision, **given}
        answered = answer(self.plan, self.position, node_id, execution.occurrence, said)
        if isinstance(answered, Completion):
            answered_step = complete(self.plan, self.position, answered, self.limits)
            self.accept(answered_step)
        else:
            self.accept(answered)
        return self

    def restored(self) -> Position:
        """Return the position as the log alone gives it back."""
        head = PositionHead.model_validate_json(self.head.model_dump_json(by_alias=True))
        outputs = {
            pair: self.rows["output", pair[0], pair[1], 0]
            for pair in needed_outputs(head, self.cells)
        }
        iterators = {
            (found.node_id, found.occurrence): (
                self._prefix("item", found.node_id, found.occurrence, found.items),
                self._prefix("result", found.node_id, found.occurrence, found.results),
            )
            for found in needed_iterators(head, self.cells)
        }
        return restore(self.plan, head, self.cells, outputs, iterators)

    @property
    def finished(self) -> bool:
        """Whether the run is over."""
        return self.ending is not None or is_finished(self.position)

    @property
    def cause(self) -> EndCause | None:
        """The verdict the run ends with, if there is one."""
        verdict = self.head.verdict
        return None if verdict is None else EndCause.model_validate(verdict)

    def due_ids(self) -> list[str]:
        """Return the nodes due, in dispatch order."""
        return [found.node_id for found in due(self.position)]

    def _prefix(self, kind: str, node_id: str, occurrence: int, count: int) -> list[Any]:
        return [self.rows[kind, node_id, occurrence, index] for index in range(count)]
