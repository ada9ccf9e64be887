"""What commits say of a run, as the trace of the interpreter says it."""

from collections.abc import Sequence
from typing import NamedTuple

from seeding.commits import PositionHead, RunRow, StateCommand
from seeding.model import Json, JsonObject
from tests.model.graph_scripts import without_texts


class Told(NamedTuple):
    """What one step, or the commit made of it, says.

    Attributes:
        node: The node it is about; None for the opening.
        state: The cells it sets and removes.
        rows: The rows it appends.
        head: The position head after it.
        messages: The messages it appends.
        warnings: The codes of its warnings.
        opens: Whether it opens a ticket.
        closes: Whether it closes one.
    """

    node: str | None
    state: Sequence[StateCommand]
    rows: Sequence[RunRow]
    head: PositionHead
    messages: Sequence[JsonObject]
    warnings: Sequence[str]
    opens: bool
    closes: bool


class TraceReader:
    """Reads the steps of one run, in order; keeps the cells and rows that a log would keep."""

    def __init__(self) -> None:
        self.cells: JsonObject = {}
        self.data: JsonObject = {}
        self.metadata: JsonObject = {}
        self.rows: dict[tuple[str, str, int, int], Json] = {}
        self.stamps: dict[tuple[str, int], Json] = {}
        self.order = 0

    def read(self, told: Told) -> JsonObject:
        """Return the trace entry of one step."""
        self.data, self.metadata = dict(self.data), dict(self.metadata)
        cells = {"position": self.cells, "data": self.data, "metadata": self.metadata}
        for command in told.state:
            if command.op == "remove":
                cells[command.cell].pop(command.key, None)
            else:
                cells[command.cell][command.key] = command.value
        for row in told.rows:
            self.rows[row.kind, row.node_id, row.occurrence, row.index] = row.value
        dispatched = self._dispatched()
        return {
            **self._happened(told),
            "dispatched": dispatched,
            "current": told.head.current_node_id,
            "iterations": told.head.iteration_count,
            "iterator": self._iterator(told.head),
            "data": without_texts(self.data),
            "metadata": without_texts(self.metadata),
            "verdict": _verdict(told.head.verdict),
        }

    def _dispatched(self) -> list[JsonObject]:
        """Return the executions dispatched since, by their order."""
        found: list[JsonObject] = []
        for key in sorted(self.cells):
            if not key.startswith("due/") or self.cells[key]["order"] <= self.order:
                continue
            due = self.cells[key]
            stamp = due.get("stamp", {})
            self.stamps[due["nodeId"], due["occurrence"]] = stamp
            sources = {
                port: [source["nodeId"], source["occurrence"], source["port"]]
                for port, source in due.get("sources", {}).items()
            }
            found.append(
                {
                    "node": due["nodeId"],
                    "occurrence": due["occurrence"],
                    "stamp": stamp,
                    "order": due["order"],
                    "reentry": due.get("reentry", False),
                    "sources": dict(sorted(sources.items())),
                }
            )
        found.sort(key=lambda ran: ran["order"])
        self.order += len(found)
        return found

    def _happened(self, told: Told) -> JsonObject:
        node = told.node
        if node is None:
            return {"what": "opened"}
        record = self.cells[f"node/{node}"]
        outputs = next((row for row in told.rows if row.kind == "output"), None)
        occurrence = outputs.occurrence if outputs else record["executions"] - 1
        named = {"node": node, "occurrence": occurrence, "stamp": self.stamps[node, occurrence]}
        failed = record.get("status") == "failed"
        if outputs is None and not failed:
            if told.closes:
                return {"what": "answered", **named}
            return {"what": "asked", **named, "opens": told.opens}
        routed = outputs is not None and _is_error(outputs.value["outputs"])
        return {
            "what": "completed",
            **named,
            "status": "failed" if outputs is None else "routed" if routed else "completed",
            "outputs": None if outputs is None else without_texts(outputs.value["outputs"]),
            "messages": [
                {"role": message["role"], "content": message.get("content")}
                for message in told.messages
            ],
            "warnings": list(told.warnings),
        }

    def _iterator(self, head: PositionHead) -> JsonObject | None:
        at = head.iterator
        if at is None:
            return None
        values = [
            [self.rows[kind, at.node_id, at.occurrence, index] for index in range(count)]
            for kind, count in (("item", at.items), ("result", at.results))
        ]
        return {
            "items": without_texts(values[0]),
            "index": at.index,
            "results": without_texts(values[1]),
        }


def comparable(entry: JsonObject, *, inputs: bool) -> JsonObject:
    """Return an entry of the interpreter's trace as a reader tells it.

    Args:
        entry: The entry.
        inputs: Whether to keep the inputs, which no commit says.
    """
    kept = {key: value for key, value in entry.items() if inputs or key != "inputs"}
    return {key: without_texts(value) for key, value in kept.items()}


def _is_error(outputs: JsonObject) -> bool:
    error: Json = outputs.get("error")
    return list(outputs) == ["error"] and isinstance(error, dict) and "node_id" in error


def _verdict(verdict: JsonObject | None) -> JsonObject | None:
    if verdict is None:
        return None
    details: JsonObject = verdict["details"]
    where = {"node_id": details["node_id"], "occurrence": details["occurrence"]}
    told: JsonObject = {"kind": verdict["kind"], **where}
    if verdict["kind"] == "Error":
        told["code"] = "crashed" if "cause" in details else details["code"]
    return {**told, "details": details["details"]} if "details" in details else told
