"""A slow, obvious interpreter of graphs, to hold the scheduler against.

It is written from the rules and shares no code with the scheduler: it keeps a list of
everything that ever happened and looks everything else up in it. What one step did is an entry
of its trace, a JSON object; two runs are equal where their traces are.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, cast

from seeding.model import Json, JsonObject
from tests.model.graph_interpreter_held import next_stuck
from tests.model.graph_interpreter_history import (
    Began,
    Completed,
    Facts,
    History,
    Ran,
    Source,
)
from tests.model.graph_interpreter_loops import ModelLoop, Stamp
from tests.model.graph_interpreter_nodes import Round, answered
from tests.model.graph_interpreter_outcomes import (
    ended_as,
    is_effect,
    outcome_of,
    shown,
    told_of,
    update_problem,
)
from tests.model.graph_scripts import Asks, Done, Failed
from workflows.graph.model import Edge, Graph, NodeType


class _Wanted(NamedTuple):
    """A dispatch that a step asks for, with the values that are there now."""

    stamp: Stamp
    reentry: bool
    found: dict[str, tuple[Source, Json]]


class PastTheBudget(Exception):
    """A step would count an iteration past the maximum (SG-14)."""

    def __init__(self, count: int, node: str) -> None:
        super().__init__(node)
        self.count = count
        self.node = node


@dataclass
class Standing:
    """What a run has come to beside its history."""

    iterations: int = 0
    current: str = ""
    data: JsonObject = field(default_factory=dict[str, Json])
    metadata: JsonObject = field(default_factory=dict[str, Json])
    verdict: JsonObject | None = None


class Interpreter:
    """One run of a graph, told step by step which execution ends next.

    Attributes:
        trace: One entry for each step, the opening first.
        ended: The report of the end that took the place of a step (SG-14).
    """

    def __init__(
        self,
        graph: Graph,
        types: Mapping[str, NodeType],
        *,
        inputs: Mapping[str, JsonObject],
        max_iterations: int,
    ) -> None:
        self.facts = Facts(graph, types)
        self.inputs = inputs
        self.max_iterations = max_iterations
        self.history = History(self.facts)
        self.standing = Standing()
        self.trace: list[JsonObject] = []
        self.ended: JsonObject | None = None
        self._step(self._open)
        self.standing.current = ""
        self.trace[0]["current"] = ""

    # --- what is to be done -----------------------------------------------------------------

    def due(self) -> list[Ran]:
        """Return what is to be run, oldest first; under a verdict only effects in flight."""
        return [
            ran
            for ran in self.history.ran
            if ran.status == "due" and (self.standing.verdict is None or is_effect(self.facts, ran))
        ]

    def waiting(self) -> list[Ran]:
        """Return what waits for an answer, oldest first."""
        return [ran for ran in self.history.ran if ran.status == "waiting"]

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do; a failure does not wait for answers (ORC-11)."""
        if self.ended is not None:
            return True
        return not self.due() and (self.standing.verdict is not None or not self.waiting())

    def end(self) -> JsonObject:
        """Return how the run ends: status, results, report, and what was skipped (BR-7)."""
        if self.ended is not None:
            return {"status": "max_iterations_exceeded", "results": [], "metadata": self.ended}
        verdict = self.standing.verdict
        stopped = verdict is not None and verdict["kind"] == "Stopped"
        started = [ran.node for ran in self.history.ran]
        skipped = [] if stopped else sorted(n for n in self.facts.nodes if n not in started)
        return {
            "status": "completed" if verdict is None or stopped else "failed",
            "results": {
                f"{ran.node}:{ran.occurrence}" if ran.occurrence else ran.node: ran.outputs
                for ran in self.history.ran
                if ran.status in ("completed", "routed")
            },
            "metadata": {"nodes_skipped": len(skipped), "skipped_node_ids": skipped},
        }

    # --- steps ------------------------------------------------------------------------------

    def finish(self, node: str) -> None:
        """Let the due execution of a node come to its end, or ask."""
        ran = self._found(node, "due")
        outcome, turn, retries = outcome_of(self.history, ran)
        if isinstance(outcome, Asks):
            self._step(lambda: self._ask(ran))
        else:
            self._step(lambda: self._complete(ran, outcome, turn, retries))

    def answer(self, node: str, given: JsonObject) -> None:
        """Let a waiting execution have its answer: a gate completes, an effect is due again."""
        ran = self._found(node, "waiting")
        if is_effect(self.facts, ran):
            self._step(lambda: self._answer(ran, given))
        else:
            self._step(lambda: self._complete(ran, answered(given), None, 0))

    def copy(self) -> "Interpreter":
        """Return an interpreter that can go on by itself."""
        other = object.__new__(Interpreter)
        other.__dict__.update(self.__dict__)
        other.history, other.standing = self.history.copy(), replace(self.standing)
        other.trace = list(self.trace)
        return other

    def _step(self, what: Callable[[], JsonObject]) -> None:
        history, standing = self.history.copy(), replace(self.standing)
        known = len(history.ran)
        try:
            told = what()
        except PastTheBudget as spent:
            self.history, self.standing = history, standing
            self.ended = {
                "max_iterations": self.max_iterations,
                "current_iterations": spent.count,
                "node_id": spent.node,
            }
            self.trace.append({"what": "ended", **self.ended})
            return
        self.trace.append(
            {
                **told,
                "dispatched": [shown(ran) for ran in self.history.ran[known:]],
                "current": self.standing.current,
                "iterations": self.standing.iterations,
                "iterator": self._innermost(),
                "data": self.standing.data,
                "metadata": self.standing.metadata,
                "verdict": self.standing.verdict,
            }
        )

    def _open(self) -> JsonObject:
        wanted: dict[str, _Wanted] = {}
        for node in self.facts.nodes:
            if not self.facts.into(node):
                if self._begins_first_round(wanted, node):
                    self.standing.iterations += self.standing.iterations < self.max_iterations
                self._want(wanted, node, reentry=False)
        self._dispatch(wanted)
        return {"what": "opened"}

    def _ask(self, ran: Ran) -> JsonObject:
        self.history.change(replace(ran, status="waiting"))
        self.standing.current = ran.node
        return {"what": "asked", **told_of(ran), "opens": self.standing.verdict is None}

    def _answer(self, ran: Ran, given: JsonObject) -> JsonObject:
        said = given["value"] if given.get("value") is not None else given.get("decision")
        status = "waiting" if self.standing.verdict else "due"
        self.history.change(replace(ran, status=status, answers=(*ran.answers, said)))
        if not self.standing.verdict:
            self.standing.current = ran.node
        return {"what": "answered", **told_of(ran)}

    def _complete(
        self, ran: Ran, outcome: Done | Failed, turn: Round | None, retries: int
    ) -> JsonObject:
        update: JsonObject | None = None
        if isinstance(outcome, Done):
            update = outcome.outputs.get("state_update")
            problem = update_problem(update)
            if problem is not None:
                outcome = Failed(f"{ran.node}: {problem}", code="InvalidStateUpdate")
        if isinstance(outcome, Done):
            self._count(ran, update, begins=bool(turn and not turn.closes))
        ended, verdict = ended_as(self.facts, ran, outcome, retries)
        self.standing.verdict = self.standing.verdict or verdict
        self.history.change(ended)
        kept = turn if isinstance(outcome, Done) else None
        self.history.events.append(Completed(ran.node, ran.order, kept))
        messages: list[JsonObject] = []
        if isinstance(outcome, Done):
            messages = self._apply(update or {})
        warnings: list[str] = []
        if self.standing.verdict is None:
            warnings = self._follow(ended)
        return {
            "what": "completed",
            **told_of(ran),
            "status": ended.status,
            "inputs": ran.inputs,
            "outputs": None if ended.status == "failed" else ended.outputs,
            "messages": messages,
            "warnings": warnings,
        }

    # --- the thread and the budget -----------------------------------------------------------

    def _count(self, ran: Ran, update: JsonObject | None, *, begins: bool) -> None:
        """Move the iteration count by what a node says and by the round it begins (SG-14)."""
        count = self.standing.iterations
        if update is not None and "iterationCount" in update:
            count = update["iterationCount"] or 0
            if count > self.max_iterations:
                raise PastTheBudget(count, ran.node)
        if begins:
            count += 1
            if count > self.max_iterations:
                raise PastTheBudget(count, ran.node)
        self.standing.iterations = count

    def _apply(self, update: JsonObject) -> list[JsonObject]:
        """Merge what a node says into the thread; null clears (SG-1, SG-3)."""
        for name in ("data", "metadata"):
            if name in update:
                before = cast(JsonObject, getattr(self.standing, name))
                merged = {} if update[name] is None else {**before, **update[name]}
                setattr(self.standing, name, merged)
        said = cast(list[JsonObject], update.get("messages") or [])
        return [{"role": it["role"], "content": it.get("content")} for it in said]

    # --- what follows -----------------------------------------------------------------------

    def _follow(self, ran: Ran) -> list[str]:
        """Follow the edges of a completed execution, and dispatch what that makes ready."""
        leaving = self.facts.out_of(ran.node, loopback=False)
        back = self.facts.out_of(ran.node, loopback=True)
        wanted: dict[str, _Wanted] = {}
        for target in sorted({edge.target for edge in leaving if self.history.follows(edge)}):
            self._look_at(wanted, target)
        from_outside = [self._loop(edge) for edge in back if ran.node not in self._loop(edge).body]
        for loop in [*reversed(self.facts.loops_of(ran.node)), *from_outside]:
            self._go_round(wanted, loop, ran)
        self._dispatch(wanted)
        self._end_a_wait()
        return ["edge_condition" for edge in [*leaving, *back] if edge.condition is not None]

    def _look_at(self, wanted: dict[str, _Wanted], node: str) -> None:
        """Want a node that is ready, at most once in each round."""
        stamp = self.history.stamp(node)
        if any(ran.stamp == stamp for ran in self.history.runs_of(node)):
            return
        if self.history.is_ready(node, stamp):
            if self._begins_first_round(wanted, node):
                self._count_round(node)
            self._want(wanted, node, reentry=False)

    def _begins_first_round(self, wanted: dict[str, _Wanted], node: str) -> bool:
        """Whether a node is the first head of its loop in the loop's round (contract 4)."""
        loop = self.facts.loop_of_head(node)
        if loop is None or any(self.facts.iterates(head) for head in loop.heads):
            return False
        now = {each.key: self.history.round(each) for each in self.facts.loops_around(loop)}
        return not any(
            head in wanted
            or any(now.items() <= ran.stamp.items() for ran in self.history.runs_of(head))
            for head in loop.heads
        )

    def _count_round(self, head: str) -> None:
        if self.standing.iterations + 1 > self.max_iterations:
            raise PastTheBudget(self.standing.iterations + 1, head)
        self.standing.iterations += 1

    def _go_round(self, wanted: dict[str, _Wanted], loop: ModelLoop, ended: Ran) -> None:
        """Begin the next round of a loop in whose body nothing is under way any more (SG-7)."""
        under_way = [*wanted, *(ran.node for ran in self.history.ran if ran.is_open)]
        if loop.body.intersection(under_way):
            return
        heads = [head for head in loop.heads if self._is_led_back_to(head, loop, ended)]
        if not heads:
            return
        if not any(self.facts.iterates(head) for head in heads):
            self._count_round(min(heads, key=lambda it: (self.facts.nodes[it].priority, it)))
        self.history.events.append(Began(loop.key))
        for head in heads:
            self._want(wanted, head, reentry=True)

    def _is_led_back_to(self, head: str, loop: ModelLoop, ended: Ran) -> bool:
        """Whether a loopback edge leads to a head in this round, and it may have another one."""
        stamp, newest = self.history.stamp(head), self.history.newest(head)
        if newest is None or newest.status not in ("completed", "routed"):
            return False
        if self.facts.iterates(head):
            if self.history.iterator(head) is None:
                return False
        else:
            most = self.facts.nodes[head].config.get("maxRounds")
            if most is not None and self.history.round(loop) + 1 >= most:
                return False
        return any(
            self.history.satisfies(edge, stamp)
            for edge in self.facts.into(head, loopback=True)
            if edge.source in loop.body or edge.source == ended.node
        )

    def _want(self, wanted: dict[str, _Wanted], node: str, *, reentry: bool) -> None:
        stamp = self.history.stamp(node)
        found = self.history.sources(node, stamp, reentry=reentry)
        wanted[node] = _Wanted(stamp, reentry, found)

    def _dispatch(
        self, wanted: dict[str, _Wanted], stuck: Mapping[str, JsonObject] | None = None
    ) -> None:
        """Dispatch what is wanted, by priority and id (ORC-9, SG-6)."""
        nodes = self.facts.nodes
        for node in sorted(wanted, key=lambda name: (nodes[name].priority, name)):
            stamp, reentry, found = wanted[node]
            given = dict(self.inputs.get(node, {}))
            self.history.dispatch(
                Ran(
                    node=node,
                    occurrence=len(self.history.runs_of(node)),
                    order=len(self.history.ran) + 1,
                    stamp=stamp,
                    reentry=reentry,
                    inputs={**given, **{port: value for port, (_, value) in found.items()}},
                    sources={port: source for port, (source, _) in found.items()},
                    stuck=(stuck or {}).get(node),
                )
            )
            self.standing.current = node

    def _end_a_wait(self) -> None:
        """Dispatch the next node whose port nothing can fill any more (SG-20)."""
        found = next_stuck(self.history)
        if found is not None:
            node, details = found
            wanted: dict[str, _Wanted] = {}
            self._want(wanted, node, reentry=False)
            self._dispatch(wanted, {node: details})

    # --- small things -----------------------------------------------------------------------

    def _loop(self, edge: Edge) -> ModelLoop:
        loop = self.facts.loop_of_head(edge.target)
        assert loop is not None
        return loop

    def _found(self, node: str, status: str) -> Ran:
        ran = self.history.open(node)
        assert ran is not None
        assert ran.status == status, (node, ran.status)
        return ran

    def _innermost(self) -> JsonObject | None:
        """Return the iterator that a state shows: the deepest, of those the one begun last."""
        found = [
            (len(self.facts.loops_of(node)), at.began, node, at)
            for node in self.facts.nodes
            if self.facts.iterates(node) and (at := self.history.iterator(node)) is not None
        ]
        if not found:
            return None
        at = max(found, key=lambda it: it[:3])[3]
        return {"items": at.items, "index": at.index, "results": at.results}
