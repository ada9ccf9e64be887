"""The scheduler: a position and one completion give the next position. Pure.

A node runs at most once in each round of the loops it is in. It is looked at when an edge into
it is followed, dispatched when it is ready then (DATA-4), and once per step however many edges
lead to it (SG-6). Forward edges are followed before loopback edges, so that what belongs to a
round is dispatched in it, and a loop goes on to its next round when its whole body is quiet: a
node has one execution at a time, and no execution outlives its round.

A node that is held back by rounds on a port that nothing can fill any more is dispatched at the
end of the step that made it so, and fails without being called (SG-20).

Names of the whole engine core are gathered here for the workflow.
"""

from collections.abc import Mapping

from seeding.model import JsonObject
from workflows.cells import input_cells, needed_iterators, needed_outputs, restore
from workflows.completion import (
    Asked,
    Completion,
    Ending,
    Limits,
    NodeFailureReport,
    Step,
)
from workflows.control.evaluation import evaluate
from workflows.control.gate import gate_completion
from workflows.draft import Draft
from workflows.following import follow
from workflows.loop_turns import begin_first_round, take_turn
from workflows.plan import Plan, make_plan
from workflows.position import (
    Execution,
    LoopIterator,
    Position,
    Reference,
    due,
    execution_of,
    is_finished,
    shown_iterator,
    waiting,
)
from workflows.report import progress, report, result_key
from workflows.settling import budget_spent, move_count, record_end
from workflows.state_updates import (
    apply_update,
    read_update,
)
from workflows.unfillable import release_held
from workflows.values import references, resolve_inputs

__all__ = [
    "Asked",
    "Completion",
    "Ending",
    "Execution",
    "Limits",
    "NodeFailureReport",
    "Plan",
    "Position",
    "Reference",
    "Step",
    "answer",
    "ask_again",
    "complete",
    "due",
    "evaluate",
    "is_finished",
    "make_plan",
    "may_retry",
    "needed_iterators",
    "needed_outputs",
    "open_position",
    "progress",
    "references",
    "report",
    "resolve_inputs",
    "restore",
    "result_key",
    "shown_iterator",
    "wait",
    "waiting",
]


def open_position(
    plan: Plan,
    inputs: Mapping[str, JsonObject],
    max_iterations: int,
    iterator: JsonObject | None = None,
    *,
    iteration_count: int = 0,
) -> Step:
    """Return the opening step: the entry nodes due, the inputs stored.

    The opening's ``currentNodeId`` is ``""``: its entry nodes are dispatched after it.

    Args:
        plan: The plan of the pinned graph.
        inputs: The request's values by node and port; those of unknown nodes are ignored.
        max_iterations: The largest iteration count; a carried count past it is a warning here
            and ends the run at the first round.
        iterator: ``{"items", "index", "results"}`` of an initial snapshot. The outermost
            ``for_each`` of the graph, the first by (priority, id), goes on from it: its first
            execution is the round of the current item.
        iteration_count: The count of an initial snapshot.
    """
    empty = Position("", iteration_count, 0, 0, None, {}, {}, {}, {}, {}, {})
    draft = Draft(plan, empty)
    kept = {node_id: inputs[node_id] for node_id in sorted(inputs) if node_id in plan.nodes}
    draft.commands.extend(input_cells(kept))
    if iteration_count > max_iterations:
        draft.warnings.append(
            {
                "code": "iteration_budget_spent",
                "message": f"the starting state counts {iteration_count} iterations, at most "
                f"{max_iterations} are allowed; the first loop round ends the run",
            }
        )
    if iterator is not None:
        _carry_iterator(draft, iterator)
    for node in plan.nodes.values():
        if not node.depends:
            begin_first_round(draft, node, max_iterations)
            draft.request(node.node.id, draft.stamp(node), reentry=False)
    draft.dispatch()
    draft.current_node_id = ""
    return draft.finish(None, inputs=kept)


def complete(
    plan: Plan,
    position: Position,
    completion: Completion,
    limits: Limits,
) -> Step | Ending:
    """Return the step that one completion makes, or the end of the run it makes instead.

    Args:
        plan: The plan of the pinned graph.
        position: The position of the last commit.
        completion: The end of an execution that is due or waiting.
        limits: The run's iteration budget, and the keys the thread has now.

    Raises:
        UnknownExecution: The execution is neither due nor waiting.
    """
    execution = execution_of(position, completion.node_id, completion.occurrence)
    node = plan.nodes[execution.node_id]
    draft = Draft(plan, position)
    update = None if completion.failure else read_update(draft, node, execution, completion)
    failure = completion.failure
    if isinstance(update, NodeFailureReport):
        failure, update = update, None
    refused = move_count(draft, completion, update, limits, failed=failure is not None)
    if refused is not None:
        return budget_spent(limits, refused, execution.node_id)
    record_end(draft, node, execution, completion, failure)
    draft.retire(execution)
    if failure is None:
        take_turn(draft, node, execution, completion)
        if update is not None:
            apply_update(draft, execution, update, limits)
    if draft.verdict is None:
        ending = follow(draft, node, execution, limits)
        if ending is not None:
            return ending
    draft.dispatch()
    release_held(draft, execution)
    return draft.finish(execution.node_id)


def wait(plan: Plan, position: Position, asked: Asked) -> Step:
    """Return the step that marks an execution waiting; its ticket's number is ``ask``.

    Under a verdict no ticket is opened: the step's ``asked`` is None and the execution waits
    for nothing.

    Raises:
        UnknownExecution: The execution is neither due nor waiting.
    """
    execution = execution_of(position, asked.node_id, asked.occurrence)
    draft = Draft(plan, position)
    draft.set_execution(execution.model_copy(update={"status": "waiting"}))
    draft.current_node_id = execution.node_id
    return draft.finish(execution.node_id, asked=None if draft.verdict else asked)


def answer(
    plan: Plan, position: Position, node_id: str, occurrence: int, given: JsonObject
) -> Completion | Step:
    """Return what an accepted answer makes of the execution that asked.

    A gate is completed by its answer. An effect node is due again, with ``ask`` one higher; under
    a verdict it stays as it is, because nothing further is dispatched.

    Args:
        plan: The plan of the pinned graph.
        position: The position of the last commit.
        node_id: The node that asked.
        occurrence: Its execution.
        given: ``decision``, ``value``, ``actor`` and ``expired``, each only if given: a null
            ``value`` counts as given. An effect reads its answers from the log.

    Raises:
        UnknownExecution: The execution is neither due nor waiting.
    """
    execution = execution_of(position, node_id, occurrence)
    if execution.kind == "control":
        return gate_completion(plan.nodes[node_id].node, execution, given)
    draft = Draft(plan, position)
    again = {"ask": execution.ask + 1, "status": "waiting" if draft.verdict else "due"}
    draft.set_execution(execution.model_copy(update=again))
    if not draft.verdict:
        draft.current_node_id = node_id
        draft.count_pass(effects=True)
    return draft.finish(node_id)


def ask_again(plan: Plan, position: Position, asked: Asked) -> Step:
    """Return the step by which a control node that waits asks another question.

    Under a verdict no ticket is opened: the step's ``asked`` is None.

    Raises:
        UnknownExecution: The execution is neither due nor waiting.
    """
    execution = execution_of(position, asked.node_id, asked.occurrence)
    draft = Draft(plan, position)
    draft.set_execution(execution.model_copy(update={"ask": execution.ask + 1}))
    draft.current_node_id = execution.node_id
    return draft.finish(execution.node_id, asked=None if draft.verdict else asked)


def may_retry(
    plan: Plan, position: Position, node_id: str, failure: NodeFailureReport, spent: int = 0
) -> bool:
    """Return whether a failed execution is run again in place, at once (ERR-11).

    Only a node-level failure whose ``retryable`` is literally true, and only while the retries
    of the node over the whole run are below those it may have.

    Args:
        plan: The plan of the pinned graph.
        position: The position of the last commit.
        node_id: The node that failed.
        failure: How it failed.
        spent: Retries of the running execution so far, not yet part of the position.
    """
    record = position.nodes.get(node_id)
    used = spent + (record.retries if record else 0)
    return failure.routable and failure.retryable is True and used < plan.nodes[node_id].max_retries


def _carry_iterator(draft: Draft, iterator: JsonObject) -> None:
    loops = [node for node in draft.plan.nodes.values() if node.iterates]
    if not loops:
        message = "the starting state carries an iterator, but the graph has no for_each"
        draft.warnings.append({"code": "iterator_not_used", "message": message})
        return
    first = min(loops, key=lambda node: (len(node.loops), *node.rank))
    carried = LoopIterator(
        node_id=first.node.id,
        occurrence=0,
        index=iterator.get("index", 0),
        items=tuple(iterator["items"]),
        results=tuple(iterator.get("results") or ()),
        depth=len(first.loops),
        begun=False,
    )
    draft.set_iterator(first.node.id, carried)
    draft.add_rows("item", carried, carried.items, at=0)
    draft.add_rows("result", carried, carried.results, at=0)
