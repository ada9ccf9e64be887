"""A log with one thread on it, written commit by commit as a run of the first graph writes it.

The run is the expense review on ``[50, 150]``: it waits at its second item, may be answered and
ends; a turn after it starts from the thread.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from activities.log import CommitLog
from seeding.commits import (
    AuditDraft,
    Disposition,
    EndCause,
    IteratorHead,
    Opening,
    PositionHead,
    RunRow,
    StateCommand,
    ThreadCommit,
    operation,
)
from seeding.model import Json, JsonObject
from seeding.tickets import Ticket, TicketClosing

THREAD = "alice"
DIGEST = "ab" * 32
GRAPH = "expense-review@" + DIGEST[:16]
TICKET = "R:gate:0:0"


class Clock:
    """A clock that moves one second with every reading, from 12:00:00 on."""

    def __init__(self) -> None:
        self.moment = datetime(2030, 1, 2, 12, 0, 0, tzinfo=UTC) - timedelta(seconds=1)

    def __call__(self) -> datetime:
        self.moment += timedelta(seconds=1)
        return self.moment


class WrittenThread:
    """Appends the commits of the runs of one thread."""

    def __init__(self, log: CommitLog, thread_id: str = THREAD) -> None:
        self.log = log
        self.thread_id = thread_id
        self.ordinals: dict[str, int] = {}

    def append(
        self,
        run_id: str,
        disposition: Disposition | None = None,
        **parts: Any,
    ) -> None:
        commit = ThreadCommit(
            thread_id=self.thread_id,
            run_id=run_id,
            disposition=disposition or Disposition(kind="Running"),
            **parts,
        )
        ordinal = self.ordinals.get(run_id, 0)
        receipt = self.log.append(
            [
                operation(
                    commit,
                    ordinal=ordinal,
                    owner_epoch=1,
                    expected_thread_version=self.log.thread_version(self.thread_id),
                )
            ]
        )
        assert receipt.refusal is None, receipt.refusal
        self.ordinals[run_id] = ordinal + 1

    def open(
        self, run_id: str = "R", *, epoch: int = 1, source: str = "fresh", **parts: Any
    ) -> None:
        """Open a run with one user message."""
        given: dict[str, Any] = {
            "opening": Opening(
                run_epoch=epoch,
                chain_id=run_id,
                graph_id="expense-review",
                graph_digest=DIGEST,
                branch="main",
                lineage=() if epoch == 1 else None,
                start={"source": source, "passedOver": PASSED_OVER},
            ),
            "messages": ({"id": f"{run_id}:0:0", "role": "user", "content": "please check these"},),
            **parts,
        }
        self.append(run_id, **given)

    def pause_in_loop(self) -> None:
        """Bring run R to its second item, where the gate waits."""
        self.open(state=(_data("budget", 500),))
        self.append("R", **_completed("items", {"value": [50, 150]}))
        self.append("R", **_completed("each", {"current_item": 50}, rows=_items([50, 150])))
        self.append("R", **_completed("check", {"within": 50}, at=_round(0)))
        self.append("R", **_completed("each", {"current_item": 150}, 1, rows=_results([50])))
        self.append("R", **_completed("check", {"over": 150}, 1, at=_round(1)))
        ticket = gate_ticket()
        self.append(
            "R",
            Disposition(kind="Awaiting", tickets=(ticket.reference,)),
            opened=(ticket,),
            position=_round(1, "gate"),
            node_id="gate",
            checkpoint="pause",
        )

    def answer_and_end(self) -> None:
        """Approve the waiting gate and end run R."""
        closing = TicketClosing(ticket=TICKET, outcome="answered", decision="approve")
        self.append("R", closed=(closing,), **_completed("gate", {"answer": "approve"}))
        self.end("R")

    def end(self, run_id: str, cause: EndCause | None = None, status: str = "completed") -> None:
        """End a run."""
        self.append(
            run_id,
            Disposition(kind="Ended", cause=cause or EndCause(kind="NaturalEnd")),
            position=PositionHead(current_node_id="summary", iteration_count=2),
            checkpoint="end",
            result={"status": status, "metadata": {}, "warnings": [], "start": {}},
        )

    def open_next_turn(self) -> None:
        """Open run S on the ended thread, with the audit events the opening records."""
        cleared: JsonObject = {"status": "completed", "isComplete": True, "iterationCount": 2}
        self.open(
            "S",
            epoch=2,
            source="thread",
            events=(
                AuditDraft(kind="provenance", body={"start": {}, "cleared": cleared}),
                AuditDraft(kind="warning", body={"code": "pinned_graph", "message": "kept"}),
            ),
        )


PASSED_OVER = [{"source": "initialSnapshot", "why": "not given"}]


def gate_ticket() -> Ticket:
    """The ticket of the gate that run R waits at."""
    return Ticket(
        ticket=TICKET,
        run_id="R",
        thread_id=THREAD,
        node_id="gate",
        occurrence=0,
        kind="approval",
        message="Over the limit. Pay 150?",
        input={"item": 150},
        allowed=["approve", "deny"],
    )


def _data(key: str, value: Json) -> StateCommand:
    return StateCommand(scope="thread", cell="data", key=key, value=value)


def _completed(
    node: str,
    outputs: JsonObject,
    occurrence: int = 0,
    *,
    rows: tuple[RunRow, ...] = (),
    at: PositionHead | None = None,
) -> dict[str, Any]:
    output = RunRow(kind="output", node_id=node, occurrence=occurrence, value={"outputs": outputs})
    return {
        "rows": (output, *rows),
        "position": at or PositionHead(current_node_id=node),
        "node_id": node,
        "checkpoint": "node",
    }


def _items(values: list[Json]) -> tuple[RunRow, ...]:
    return tuple(
        RunRow(kind="item", node_id="each", occurrence=0, index=index, value=value)
        for index, value in enumerate(values)
    )


def _results(values: list[Json]) -> tuple[RunRow, ...]:
    return tuple(
        RunRow(kind="result", node_id="each", occurrence=0, index=index, value=value)
        for index, value in enumerate(values)
    )


def _round(index: int, node: str = "check") -> PositionHead:
    return PositionHead(
        current_node_id=node,
        iteration_count=index + 1,
        iterator=IteratorHead(node_id="each", occurrence=0, index=index, items=2, results=index),
    )
