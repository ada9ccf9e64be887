"""How loops go round: iterators of ``for_each`` and re-entries (SG-4, SG-5, SG-7, SG-18).

Rounds are counted in two places that must not be mixed. ``rounds`` number a loop's executions
for stamps and for ``maxRounds``; a closing execution has the number after the last round.
``iteration_count`` is the run's budget: 1 for each round that a ``for_each`` begins, counted
when its execution completes, and 1 for each re-entry of any other head, counted when it is
dispatched. The first round of such a head, closings, executions that an outer round has
overtaken, and nodes outside loops add nothing.

A loopback edge re-enters its head at most once from each round: an edge whose source is behind
the head's current round is not followed any more. Neither is one that arrives before the head
ever completed, or while the head is due or waiting, which is that re-entry already (SG-6).
``maxRounds`` limits heads that are no ``for_each``; items are always gone through to the end.
"""

from dataclasses import replace

from workflows.completion import Completion, Turn
from workflows.draft import Draft
from workflows.graph.model import Edge
from workflows.loops import Loop, is_behind
from workflows.plan import NodePlan
from workflows.position import Execution, LoopIterator
from workflows.readiness import is_followed


def begins_round(draft: Draft, node: NodePlan, execution: Execution, turn: Turn | None) -> bool:
    """Return whether this execution of a ``for_each`` begins a round that counts."""
    return turn is not None and turn.kind == "round" and not is_overtaken(draft, node, execution)


def is_overtaken(draft: Draft, node: NodePlan, execution: Execution) -> bool:
    """Return whether a loop went on to another round since ``execution`` was dispatched."""
    return execution.stamp != draft.stamp(node)


def take_turn(draft: Draft, node: NodePlan, execution: Execution, completion: Completion) -> None:
    """Move the iterator of a ``for_each`` that completed, and append its rows."""
    turn = completion.turn
    if turn is None or is_overtaken(draft, node, execution):
        return
    node_id = node.node.id
    if turn.items is not None:
        entered = LoopIterator(
            node_id=node_id,
            occurrence=execution.occurrence,
            index=0,
            items=tuple(turn.items),
            results=(),
            depth=len(node.loops),
            order=execution.order,
        )
        draft.add_rows("item", entered, entered.items, at=0)
        draft.set_iterator(node_id, entered if turn.kind == "round" else None)
        return
    current = draft.iterators.get(node_id)
    if current is None:
        return
    moved = replace(current, order=execution.order, begun=True)
    if execution.reentry:
        draft.add_rows("result", current, (turn.result,), at=len(current.results))
        results = (*current.results, turn.result)
        moved = replace(moved, index=current.index + 1, results=results)
    draft.set_iterator(node_id, moved if turn.kind == "round" else None)


def reenter(draft: Draft, edge: Edge, execution: Execution, max_iterations: int) -> int | None:
    """Follow one loopback edge of a completed execution, if it re-enters its head (SG-7).

    Returns:
        The iteration count that the re-entry would need and that is strictly past
        ``max_iterations``; None where the run goes on, re-entered or not.
    """
    head = draft.plan.nodes[edge.target]
    loop = draft.plan.loops.of_head[edge.target]
    if not is_followed(draft.plan, edge, draft.nodes[edge.source]):
        return None
    if not _may_reenter(draft, head, loop, execution):
        return None
    if not head.iterates:
        count = draft.iteration_count + 1
        if count > max_iterations:
            return count
        draft.iteration_count = count
    _advance(draft, loop)
    draft.request(head.node.id, draft.stamp(head), reentry=True)
    return None


def _may_reenter(draft: Draft, head: NodePlan, loop: Loop, execution: Execution) -> bool:
    head_id = head.node.id
    record = draft.nodes.get(head_id)
    if record is None or not record.delivers or draft.is_requested(head_id):
        return False
    if head_id in draft.executions:
        return False
    if is_behind(execution.stamp, draft.stamp(head), head.loops):
        return False
    if head.iterates:
        return head_id in draft.iterators
    rounds = draft.rounds.get(loop.key, 0) + 1
    return head.max_rounds is None or rounds < head.max_rounds


def _advance(draft: Draft, loop: Loop) -> None:
    """Begin the next round of a loop: nested loops start over, their iterators are dropped."""
    draft.set_round(loop.key, draft.rounds.get(loop.key, 0) + 1)
    for nested in draft.plan.loops.inside[loop.key]:
        if nested in draft.rounds:
            draft.set_round(nested, 0)
    for node_id in loop.body:
        iterator = draft.iterators.get(node_id)
        if iterator is not None and iterator.begun and node_id not in loop.heads:
            draft.set_iterator(node_id, None)
