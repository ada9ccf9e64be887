"""One look at a live run, and what changed between two: nodes, executions, loop rounds."""

from collections.abc import Mapping

from seeding.model import Json, JsonObject, Model, as_list, as_object

UNSTARTED = "idle"


class NodeLook(Model):
    """Where one node stood: its newest execution's status, and how many there were."""

    status: str
    executions: int


class Look(Model):
    """How a run stood at one moment.

    Attributes:
        run_id: The run.
        phase: Its phase (contract 4).
        held_up: What its start waits for; None once it has opened.
        round: How many loop rounds it has begun.
        item: Which item of the innermost ``for_each`` it is at, counted from 1; None outside.
        items: How many that loop has; None where that is not shown.
        nodes: Its nodes by id.
        warnings: What its start warned of, ``{"code", "message"}`` each.
    """

    run_id: str
    phase: str
    held_up: str | None = None
    round: int = 0
    item: int | None = None
    items: int | None = None
    nodes: dict[str, NodeLook] = {}
    warnings: tuple[JsonObject, ...] = ()

    @property
    def place(self) -> str:
        """The loop round it is in, as people read it; empty before the first."""
        if self.round == 0:
            return ""
        if self.item is None:
            return f"loop round {self.round}"
        return f"loop round {self.round}, item {self.item} of {_count(self.items)}"


def read_look(
    state: JsonObject, progress: Json, warnings: tuple[JsonObject, ...] = ()
) -> Look | None:
    """Return what the queries of a run tell; None before the run has opened.

    Args:
        state: What query ``state`` answered.
        progress: What query ``progress`` answered.
        warnings: Those of query ``provenance``.
    """
    run = as_object(state.get("run")) or {}
    if "runId" not in run:
        return None
    iterator = as_object(state.get("iterator")) or {}
    index = iterator.get("index")
    items = as_list(iterator.get("items"))
    return Look(
        run_id=run["runId"],
        phase=run["phase"],
        round=state.get("iterationCount", 0),
        item=index + 1 if isinstance(index, int) else None,
        items=None if items is None else len(items),
        nodes={
            node: NodeLook(status=shown["status"], executions=shown["executions"])
            for node, shown in (as_object(progress) or {}).items()
        },
        warnings=warnings,
    )


def changes(before: Look | None, after: Look) -> list[str]:
    """Return what happened between two looks, one line each."""
    lines: list[str] = []
    if before is None or before.phase != after.phase:
        lines.append(f"run {after.run_id}: {after.phase}")
    lines += new_warnings(before, after)
    if after.held_up and (before is None or before.held_up != after.held_up):
        lines.append(after.held_up)
    if after.place and (before is None or before.place != after.place):
        lines.append(after.place)
    seen: Mapping[str, NodeLook] = {} if before is None else before.nodes
    for node, look in after.nodes.items():
        if look != seen.get(node) and look.status != UNSTARTED:
            lines.append(f"node {node}: {described(look)}")
    return lines


def new_warnings(before: Look | None, after: Look) -> list[str]:
    """Return what was warned of between two looks, one line each."""
    seen = () if before is None else before.warnings
    return [warning_line(warning) for warning in after.warnings if warning not in seen]


def warning_line(warning: JsonObject) -> str:
    """Return a warning as it is said while a run goes on."""
    return f"warning: {warning.get('code')}: {warning.get('message')}"


def described(look: NodeLook) -> str:
    """Return a node's status, with its executions where there were several."""
    if look.executions > 1:
        return f"{look.status}, {look.executions} executions"
    return look.status


def _count(items: int | None) -> str:
    return "?" if items is None else str(items)
