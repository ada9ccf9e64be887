"""A log in which every table has rows, and everything that a row can say is said once."""

import random

from log_writer import Writer, drop, message, next_turn, opening, put

from activities.log import CommitLog, EffectIntent, Execution
from activities.log.stored import Takeover
from seeding.commits import AuditDraft, EndCause, IteratorHead, PositionHead, RunPoint, RunRow
from seeding.model import Json
from seeding.queued_turns import NewTurn
from seeding.request import EPHEMERAL, parse_request
from workflows.graph.digest import graph_digest
from workflows.graph.document import read_graph

GRAPH = read_graph({"id": "greet", "nodes": [{"id": "a", "type": "value"}]})
DIGEST = graph_digest(GRAPH)
OTHER_GRAPH = read_graph({"id": "greet", "nodes": [{"id": "b", "type": "value"}]})
OTHER_DIGEST = graph_digest(OTHER_GRAPH)


def write_full_log(log: CommitLog) -> None:
    """Write threads ``t`` (two branches, three runs), ``other`` and ``forked``."""
    log.put_graph(DIGEST, "greet", GRAPH.to_json())
    log.put_graph(OTHER_DIGEST, "greet", OTHER_GRAPH.to_json())
    first = _first_run(log)
    second = next_turn(
        first, "r2", graph_digest=DIGEST, idempotency_key="key", request_hash="9" * 64
    )
    second.wait(second.ticket(), second.ticket("gate2"), position=_head())
    _take_over(second, "chain-again")
    second.answer(second.ticket(), messages=(message("m4"),))
    second.end("Cancelled", "not needed")
    _third_run(second)
    other = Writer(log, "o1", "other")
    other.open(how=opening(graph_digest=OTHER_DIGEST), messages=(message("o.0"),))
    other.wait(other.ticket(deadline_after=60))
    assert log.finish_effect(_begin_effect(other, "b" * 40), 1, {"outputs": {}}, "failed", "why")
    log.fork("r1:1", "forked")
    request = parse_request({"graph": "greet", "message": "m", "idempotencyKey": "q"}, "thread/t")
    log.queue_turn(
        "t",
        NewTurn(
            operation="c:1", request=request, graph_given=True, behind="r3", namespace="default"
        ),
    )


def _first_run(log: CommitLog) -> Writer:
    writer = Writer(log)
    writer.open(
        how=opening(graph_digest=DIGEST, config={"maxIterations": 3}, start={"source": "fresh"}),
        messages=(message("m0"), message("m1", {"deep": [1, 1.0, None, "é"]})),
        events=(AuditDraft(kind="provenance", body={"cleared": {}}),),
    )
    key = _begin_effect(writer, "a" * 40)
    writer.step(
        messages=(message("m2"),),
        state=(
            put("a", {"x": 1}),
            put("node/a", [1], "position").model_copy(update={"run_id": "r1"}),
            put("meta", 2, "metadata"),
            drop("gone"),
        ),
        rows=(_row("item", 0, "i"), _row("output", 0, {"outputs": {"v": 1}})),
        position=_head(),
        node_id="a",
        checkpoint="node",
    )
    assert log.finish_effect(key, 1, {"outputs": {}}, "done")
    writer.step(state=(put("a", {"y": 2}, policy="commutative"),), rows=(_row("result", 0, "r"),))
    writer.wait(writer.ticket(deadline_after=30, message="Sure?"), checkpoint="pause")
    _take_over(writer, "chain-other")
    writer.answer(writer.ticket(), messages=(message("m3"),))
    cause = EndCause(kind="NaturalEnd")
    result = {"status": "completed"}
    writer.send(writer.make(writer.commit("Ended", cause=cause, result=result, checkpoint="end")))
    return writer


def _third_run(before: Writer) -> None:
    """Open a branch on the middle of the first run, which goes on at its position."""
    log = before.log
    lineage = log.lineage("t", "main", 3)
    point = RunPoint(thread_id="t", branch="main", run_id="r1", up_to=3)
    third = next_turn(
        before,
        "r3",
        branch="b2",
        lineage=lineage,
        continues=(point,),
        run_epoch=3,
        graph_digest=DIGEST,
    )
    third.step(
        messages=(message("n1"),),
        state=(put("a", {"z": 3}, policy="commutative"), put("node/b", 1, "position")),
        node_id="b",
        checkpoint="node",
    )


def _row(kind: str, index: int, value: Json) -> RunRow:
    return RunRow.model_validate(
        {"kind": kind, "node_id": "each", "occurrence": 0, "index": index, "value": value}
    )


def _head() -> PositionHead:
    return PositionHead(
        current_node_id="a",
        iteration_count=1,
        iterator=IteratorHead(node_id="each", occurrence=0, index=0, items=1, results=0),
        counters={"order": 1},
    )


def _take_over(writer: Writer, chain: str) -> None:
    execution = Execution(execution_run_id=f"{chain}-execution", namespace="default")
    takeover = Takeover(start={"source": "paused"}, warnings=({"code": "c", "message": "m"},))
    writer.owner_epoch = writer.log.take_over(writer.run_id, chain, execution, takeover)


def _begin_effect(writer: Writer, key: str) -> str:
    intent = EffectIntent(
        effect_key=key,
        thread_id=writer.thread_id,
        run_id=writer.run_id,
        node_id="a",
        occurrence=0,
        node_type="pay",
        arguments_hash="c" * 64,
    )
    assert writer.log.begin_effect(intent).attempt == 1
    return key


class MixedThreads:
    """Writes commits of every kind over some threads, drawn from a seed.

    Args:
        log: The log.
        seed: Makes the same commits again.
        threads: The threads they are spread over.
    """

    def __init__(self, log: CommitLog, seed: int, threads: tuple[str, ...]) -> None:
        self._log = log
        self._draw = random.Random(seed)
        self._threads = threads
        self._writers: dict[str, Writer] = {}
        self._runs = 0
        self._written = 0

    def write(self, count: int) -> None:
        """Write ``count`` commits, and now and then a takeover of a run."""
        for number in range(self._written, self._written + count):
            thread = self._draw.choice(self._threads)
            writer = self._writers.get(thread)
            if writer is None:
                self._open(thread)
            else:
                self._go_on(writer, thread, number)
        self._written += count

    def _open(self, thread: str) -> None:
        self._runs += 1
        run_id = f"run-{self._runs}"
        how: dict[str, object] = {"run_epoch": self._runs, "chain_id": f"chain-{run_id}"}
        latest = self._log.latest_run(thread)
        if latest is not None:
            how["branch"] = latest.branch
            chance = self._draw.random()
            if chance < 0.3:
                how["branch"] = f"branch-{self._runs}"
                how["lineage"] = ()
            if chance < 0.2:
                first = latest.last_version - latest.last_ordinal
                upto = self._draw.randint(first, latest.last_version)
                how["lineage"] = self._log.lineage(thread, latest.branch, upto)
        writer = Writer(self._log, run_id, thread)
        writer.open(how=opening(**how), messages=(message(f"{run_id}.0"),))
        self._writers[thread] = writer

    def _go_on(self, writer: Writer, thread: str, number: int) -> None:
        chance = self._draw.random()
        if chance < 0.15:
            writer.end(self._draw.choice(("NaturalEnd", "Error", "Cancelled")), "why")
            del self._writers[thread]
        elif chance < 0.35:
            writer.wait(writer.ticket(f"gate{number}", deadline_after=self._draw.choice((None, 5))))
        elif chance < 0.5 and writer.tickets:
            writer.answer(self._draw.choice(writer.tickets))
        elif chance < 0.55:
            _take_over(writer, f"chain-{number}")
        else:
            state = (put(f"k{number % 7}", number), put("node/a", number, "position"))
            writer.step(messages=(message(f"m.{number}"),), state=state)


def write_ephemeral_run(before: Writer, *, forget: bool) -> Writer:
    """Play an ephemeral run on an ended thread."""
    writer = next_turn(before, "e1", config={"checkpointStore": EPHEMERAL})
    writer.wait(writer.ticket())
    writer.end()
    if forget:
        writer.log.forget_run("e1")
    return writer
