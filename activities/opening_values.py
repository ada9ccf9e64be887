"""What the opening of a run takes over from a state and from its graph."""

from seeding.commits import StateCommand
from seeding.model import JsonObject
from seeding.state import RunState
from workflows.graph.model import ResolvedGraph


def graph_warnings(graph: ResolvedGraph) -> list[JsonObject]:
    """Return what in the graph is passed over, such as tool edges, as warnings of the run."""
    return [{"code": "graph", "message": said} for said in graph.graph.warnings]


def extra_of(state: RunState) -> JsonObject:
    """Return the keys of a state that this engine does not know; they are kept."""
    return dict(state.model_extra or {})


def cells_of(state: RunState) -> list[StateCommand]:
    """Return the cells that an explicit snapshot sets on its new branch."""
    return [
        *(
            StateCommand(scope="thread", cell="data", key=key, value=value)
            for key, value in state.data.items()
        ),
        *(
            StateCommand(scope="thread", cell="metadata", key=key, value=value)
            for key, value in state.metadata.items()
        ),
        *(
            StateCommand(scope="run", cell="position", key=f"state/{key}", value=value)
            for key, value in extra_of(state).items()
        ),
    ]
