"""The scheduler beside the interpreter: the same case, step by step, equal at each."""

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

from seeding.model import Json, JsonObject
from tests.model.graph_generator import Case
from tests.model.graph_interpreter import Interpreter
from tests.model.graph_scripts import SCRIPTED_TYPES, Asks, Done, perform, without_texts
from tests.model.graph_trace import Told, TraceReader, comparable
from workflows.graph.builtin_types import BUILTIN_TYPES
from workflows.scheduler import (
    Asked,
    Completion,
    Ending,
    Execution,
    NodeFailureReport,
    Step,
    due,
    evaluate,
    may_retry,
    report,
    resolve_inputs,
    waiting,
)

from .runs import Run

TYPES = {**BUILTIN_TYPES, **{kind.name: kind for kind in SCRIPTED_TYPES}}
MOST_STEPS = 5000

Pick = Callable[[int], int]
"""Which of so many executions comes to its end next."""


class Agreement(NamedTuple):
    """A case on which scheduler and interpreter agreed, and what it came to."""

    interpreter: Interpreter
    run: "ScriptedRun"


class ScriptedRun(Run):
    """A run of a generated case on the scheduler, whose steps are read as a trace."""

    def __init__(self, case: Case) -> None:
        self.reader = TraceReader()
        self.entries: list[JsonObject] = []
        self.answers: dict[tuple[str, int], list[Json]] = {}
        self.closes = False
        super().__init__(case.graph, inputs=case.inputs, max_iterations=case.max_iterations)

    def accept(self, step: Step | Ending) -> None:
        """Keep what a step says, and its entry."""
        super().accept(step)
        if isinstance(step, Ending):
            self.entries.append({"what": "ended", **step.report})
            return
        told = Told(
            node=step.node_id,
            state=step.state,
            rows=step.rows,
            head=step.head,
            messages=step.messages,
            warnings=[warning["code"] for warning in step.warnings],
            opens=step.asked is not None,
            closes=self.closes,
        )
        self.entries.append(self.reader.read(told))

    def outcome(self, execution: Execution) -> Completion | Asked:
        """Return what an execution comes to; retries are in place and at once (ERR-11)."""
        if execution.kind == "control":
            return evaluate(self.plan, self.position, execution)
        node, occurrence = execution.node_id, execution.occurrence
        kind, config = self.plan.nodes[node].node.type, self.plan.nodes[node].node.config
        inputs = resolve_inputs(self.plan, self.position, execution)
        if kind == "delay":
            return Completion(node_id=node, occurrence=occurrence, outputs=inputs)
        answers = self.answers.get((node, occurrence), [])
        spent = 0
        while True:
            made = perform(config, node, occurrence, inputs, spent, answers)
            if isinstance(made, Asks):
                return Asked(node_id=node, occurrence=occurrence, kind="text", message=made.message)
            if isinstance(made, Done):
                return Completion(
                    node_id=node, occurrence=occurrence, outputs=made.outputs, retries=spent
                )
            failure = NodeFailureReport(
                message=made.message,
                code=made.code,
                retryable=made.retryable,
                details=made.details,
                routable=made.routable,
                cause=None if made.routable else made.message,
            )
            if not may_retry(self.plan, self.position, node, failure, spent):
                return Completion(
                    node_id=node, occurrence=occurrence, failure=failure, retries=spent
                )
            spent += 1

    def finish(self, execution: Execution) -> None:
        """Commit what an execution comes to; its entry tells its inputs too."""
        inputs = without_texts(resolve_inputs(self.plan, self.position, execution))
        self.closes = False
        super().finish(execution)
        if self.entries[-1]["what"] == "completed":
            self.entries[-1]["inputs"] = inputs

    def reply(self, execution: Execution, given: JsonObject) -> None:
        """Answer the open question of an execution."""
        inputs = without_texts(resolve_inputs(self.plan, self.position, execution))
        value = given.get("value")
        said = given.get("decision") if value is None else value
        self.answers.setdefault((execution.node_id, execution.occurrence), []).append(said)
        self.closes = True
        self.decide(execution.node_id, **given)
        if self.entries[-1]["what"] == "completed":
            self.entries[-1]["inputs"] = inputs


def first(count: int) -> int:
    """Pick what was dispatched first."""
    return 0


def drawn(seed: int) -> Pick:
    """Return a way of picking that a seed decides."""
    chance = random.Random(seed)
    return chance.randrange


def agree(
    case: Case, pick: Pick = first, after_each: Callable[[ScriptedRun], None] = lambda run: None
) -> Agreement:
    """Run a case on scheduler and interpreter, and assert that they do the same.

    Args:
        case: The case.
        pick: Which of the executions that are due ends next. Questions are answered, oldest
            first, where nothing is due; by another pick than ``first`` they are answered in
            between.
        after_each: Called with the run after each step.

    Raises:
        AssertionError: They differ; the message names the seed and the step.
    """
    run = ScriptedRun(case)
    interpreter = Interpreter(
        case.graph, TYPES, inputs=case.inputs, max_iterations=case.max_iterations
    )
    for step in range(MOST_STEPS):
        _assert_equal(case, step, interpreter, run)
        after_each(run)
        if run.finished or interpreter.is_over:
            _assert_same_end(case, interpreter, run)
            return Agreement(interpreter, run)
        open_now: Sequence[Execution] = due(run.position)
        if pick is not first or not open_now:
            open_now = (*open_now, *waiting(run.position))
        chosen = open_now[pick(len(open_now))]
        if chosen.status == "due":
            run.finish(chosen)
            interpreter.finish(chosen.node_id)
        else:
            is_gate = chosen.kind == "control"
            given = case.answer(chosen.node_id, chosen.occurrence, chosen.ask, is_gate)
            run.reply(chosen, given)
            interpreter.answer(chosen.node_id, given)
    raise AssertionError(f"seed {case.seed}: still running after {MOST_STEPS} steps")


def restart(run: ScriptedRun) -> None:
    """Go on with what a log gives back, which is what was held."""
    restored = run.restored()
    assert restored == run.position
    run.position = restored


def _assert_equal(case: Case, step: int, interpreter: Interpreter, run: ScriptedRun) -> None:
    expected, seen = comparable(interpreter.trace[-1], inputs=True), run.entries[-1]
    where = f"seed {case.seed}, step {step}"
    assert len(run.entries) == len(interpreter.trace), where
    assert seen == expected, f"{where}: {_difference(expected, seen)}"
    if interpreter.ended is None:
        found = [(ran.node_id, ran.occurrence) for ran in due(run.position)]
        assert found == [(ran.node, ran.occurrence) for ran in interpreter.due()], where
        found = [(ran.node_id, ran.occurrence) for ran in waiting(run.position)]
        assert found == [(ran.node, ran.occurrence) for ran in interpreter.waiting()], where


def _assert_same_end(case: Case, interpreter: Interpreter, run: ScriptedRun) -> None:
    where = f"seed {case.seed}, end"
    assert run.finished == interpreter.is_over, where
    expected = comparable(interpreter.end(), inputs=True)
    if run.ending is not None:
        seen: JsonObject = {
            "status": "max_iterations_exceeded",
            "results": [],
            "metadata": run.ending.report,
        }
    else:
        cause = run.cause
        seen = {
            "status": "failed" if cause and cause.kind == "Error" else "completed",
            "results": without_texts(run.results),
            "metadata": report(run.plan, run.position),
        }
    assert seen == expected, f"{where}: {_difference(expected, seen)}"


def _difference(expected: JsonObject, seen: JsonObject) -> str:
    """Return the parts in which two entries differ, the interpreter's first."""
    named = {key: seen.get(key) for key in ("what", "node", "occurrence", "stamp") if key in seen}
    parts = [
        f"\n  {key}: model {expected.get(key)!r}\n  {' ' * len(key)}    run {seen.get(key)!r}"
        for key in sorted({**expected, **seen})
        if expected.get(key) != seen.get(key)
    ]
    return f"{named}{''.join(parts)}"
