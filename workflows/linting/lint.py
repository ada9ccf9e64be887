"""All advice about one graph."""

from collections.abc import Callable, Iterator

from workflows.linting.advice import Advice
from workflows.linting.bodies import body_advice
from workflows.linting.branching import branching_advice
from workflows.linting.counters import counter_advice
from workflows.linting.edges import edge_advice
from workflows.linting.gates import gate_advice
from workflows.linting.looping import looping_advice
from workflows.linting.ports import port_advice
from workflows.linting.starting import starting_advice
from workflows.linting.ways import Ways, find_ways
from workflows.plan import Plan

_SUBJECTS: tuple[Callable[[Plan, Ways], Iterator[Advice]], ...] = (
    starting_advice,
    port_advice,
    looping_advice,
    body_advice,
    counter_advice,
    gate_advice,
    branching_advice,
    edge_advice,
)


def lint(plan: Plan) -> tuple[Advice, ...]:
    """Return every piece of advice about a graph, by subject and in order of ids in each.

    The same for the same graph, whatever the order of its document.
    """
    ways = find_ways(plan)
    found = (advice for subject in _SUBJECTS for advice in subject(plan, ways))
    return tuple(dict.fromkeys(found))
