"""How loops go round: iterators of ``for_each`` and re-entries (SG-4, SG-5, SG-7, SG-18).

Rounds are counted in two places that must not be mixed. ``rounds`` number a loop's executions
for stamps and for ``maxRounds``; a closing execution has the number after the last round.
``iteration_count`` is the run's budget: 1 for each round begun. A ``for_each`` begins one with
each completion but the closing one. A loop of other heads begins one when the first of them is
dispatched in it, and that is counted before it runs. Closings and nodes outside loops add
nothing.

A round ends when nothing of the loop's body is due, running or waiting any more. Until then a
loopback edge that was followed only marks its head: how long its neighbours take, or how long a
person thinks, changes nothing about what runs in the round. Then every head that was marked is
re-entered, all in the same next round. Inner loops go first: while one of them goes round, the
round around it has not ended.

A mark is kept nowhere. The newest completion of an edge's source followed it in the round that
the head is in, or did not: once the loop has gone on, that completion is behind.
``maxRounds`` limits heads that are no ``for_each``; items are always gone through to the end.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from workflows.completion import Completion, Turn
from workflows.draft import Draft
from workflows.loops import Loop, is_behind
from workflows.plan import NodePlan
from workflows.position import Execution, LoopIterator
from workflows.readiness import is_followed


class Spent(NamedTuple):
    """The iteration count that the next round would need, past the maximum, and its head."""

    iterations: int
    head: str


def begins_round(turn: Turn | None) -> bool:
    """Return whether an execution of a ``for_each`` begins a round that counts."""
    return turn is not None and turn.kind == "round"


def take_turn(draft: Draft, node: NodePlan, execution: Execution, completion: Completion) -> None:
    """Move the iterator of a ``for_each`` that completed, and append its rows."""
    turn = completion.turn
    if turn is None:
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


def begin_first_round(draft: Draft, node: NodePlan, max_iterations: int) -> int | None:
    """Count the round that a head begins, if it is the first head dispatched in it.

    Returns:
        The count, where it is past ``max_iterations`` and was not applied; else None.
    """
    loop = draft.plan.loops.of_head.get(node.node.id)
    if loop is None or _iterates(draft, loop.heads) or _has_begun(draft, loop):
        return None
    count = draft.iteration_count + 1
    if count > max_iterations:
        return count
    draft.iteration_count = count
    return None


def go_round(draft: Draft, node: NodePlan, max_iterations: int) -> Spent | None:
    """Begin the next round of each loop whose round the completion of ``node`` has ended (SG-7).

    Returns:
        What the next round would need of the iteration budget, where it is spent; else None.
    """
    for loop in _loops_to_look_at(draft, node):
        if _is_quiet(draft, loop):
            heads = [
                head
                for head in (draft.plan.nodes[head_id] for head_id in loop.heads)
                if _is_marked(draft, head, loop, node) and _may_reenter(draft, head, loop)
            ]
            spent = _begin_round(draft, loop, heads, max_iterations)
            if spent is not None:
                return spent
    return None


def _begin_round(
    draft: Draft, loop: Loop, heads: list[NodePlan], max_iterations: int
) -> Spent | None:
    if not heads:
        return None
    if not any(head.iterates for head in heads):
        count = draft.iteration_count + 1
        if count > max_iterations:
            return Spent(count, min(heads, key=lambda head: head.rank).node.id)
        draft.iteration_count = count
    _advance(draft, loop)
    for head in heads:
        draft.request(head.node.id, draft.stamp(head), reentry=True)
    return None


def _loops_to_look_at(draft: Draft, node: NodePlan) -> Iterator[Loop]:
    """Yield the loops a node is in, innermost first, and those it leads back to from outside."""
    loops = draft.plan.loops
    for key in reversed(node.loops):
        yield loops.of_key[key]
    for edge in node.loopbacks:
        loop = loops.of_head[edge.target]
        if loop.key not in node.loops:
            yield loop


def _is_quiet(draft: Draft, loop: Loop) -> bool:
    """Return whether nothing of a loop's body is due, running or waiting."""
    nodes = draft.plan.nodes
    return not any(
        loop.key in nodes[node_id].loops for node_id in (*draft.requested, *draft.executions)
    )


def _is_marked(draft: Draft, head: NodePlan, loop: Loop, completed: NodePlan) -> bool:
    """Return whether a loopback edge into ``head`` was followed in the round that ends.

    A source that is not in the loop's rounds leads back at its own completion only.
    """
    stamp = draft.stamp(head)
    for edge in head.returns:
        source, record = draft.plan.nodes[edge.source], draft.nodes.get(edge.source)
        if record is None or not (loop.key in source.loops or source is completed):
            continue
        if is_followed(draft.plan, edge, record) and not is_behind(record.stamp, stamp, head.loops):
            return True
    return False


def _may_reenter(draft: Draft, head: NodePlan, loop: Loop) -> bool:
    head_id = head.node.id
    record = draft.nodes.get(head_id)
    if record is None or not record.delivers:
        return False
    if head.iterates:
        return head_id in draft.iterators
    rounds = draft.rounds.get(loop.key, 0) + 1
    return head.max_rounds is None or rounds < head.max_rounds


def _has_begun(draft: Draft, loop: Loop) -> bool:
    """Return whether a head of a loop was dispatched in the loop's current round."""
    for head_id in loop.heads:
        if draft.is_requested(head_id):
            return True
        record, head = draft.nodes.get(head_id), draft.plan.nodes[head_id]
        around = head.loops[: head.loops.index(loop.key) + 1]
        if record is not None and not is_behind(record.stamp, draft.stamp(head), around):
            return True
    return False


def _iterates(draft: Draft, heads: tuple[str, ...]) -> bool:
    return any(draft.plan.nodes[head].iterates for head in heads)


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
