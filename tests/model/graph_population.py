"""What a number of generated runs have in them, so that a generator that grew dull is noticed."""

from collections import Counter
from collections.abc import Iterable

from tests.model.graph_interpreter import Interpreter
from tests.model.graph_interpreter_history import Began
from tests.model.graph_interpreter_loops import ModelLoop


def population(runs: Iterable[Interpreter]) -> Counter[str]:
    """Return how many runs have each thing worth having, and all their executions."""
    found: Counter[str] = Counter()
    for run in runs:
        found.update(_kinds(run))
        found["executions"] += len(run.history.ran)
    return found


def _kinds(run: Interpreter) -> list[str]:
    loops, ran, verdict = run.facts.loops, run.history.ran, run.standing.verdict
    began = [event.loop for event in run.history.events if isinstance(event, Began)]
    nested = [(one.key, other.key) for one in loops for other in loops if other.body < one.body]
    kinds = {
        "two loops": len(loops) > 1,
        "merged loops": any(len(loop.heads) > 1 for loop in loops),
        "a nested loop in two outer rounds": any(
            inner in began
            and len({it.stamp[outer] for it in ran if inner in it.stamp and outer in it.stamp}) > 1
            for outer, inner in nested
        ),
        "a question in a later round": any(
            entry["what"] == "asked" and any(entry["stamp"].values()) for entry in run.trace
        ),
        "two tails in one round": any(_had_two_tails(run, loop) for loop in loops),
        "a routed failure": any(it.status == "routed" for it in ran),
        "retries": any(it.retries for it in ran),
        "an unfillable port": any(it.stuck is not None for it in ran),
        "a stop": verdict is not None and verdict["kind"] == "Stopped",
        "a run that failed": verdict is not None and verdict["kind"] == "Error",
        "a spent budget": run.ended is not None,
    }
    return [kind for kind, is_so in kinds.items() if is_so]


def _had_two_tails(run: Interpreter, loop: ModelLoop) -> bool:
    """Whether two nodes that lead back into a loop ran in the same round of it."""
    tails = {e.source for head in loop.heads for e in run.facts.into(head, loopback=True)}
    at = Counter(
        (loop.key, *sorted(it.stamp.items()))
        for tail in tails
        for it in run.history.runs_of(tail)
        if loop.key in it.stamp
    )
    return any(count > 1 for count in at.values())
