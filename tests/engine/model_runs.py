"""The real engine beside the interpreter: what the log says of a run is what the rules say."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress

from temporalio.client import WorkflowFailureError, WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError

import tests.engine.model_nodes as model_nodes
from seeding.commits import ThreadCommit
from seeding.identity import parse_ticket_id
from seeding.model import JsonObject
from seeding.tickets import OpenTicket
from tests.engine.stage import Handle, Stage, closed, update
from tests.model.graph_generator import Case
from tests.model.graph_interpreter import Interpreter
from tests.model.graph_scripts import SCRIPTED_TYPES, without_texts
from tests.model.graph_trace import Told, TraceReader, comparable
from workflows.graph.builtin_types import BUILTIN_TYPES

assert model_nodes.__name__  # Imported for the node types it declares.

TYPES = {**BUILTIN_TYPES, **{kind.name: kind for kind in SCRIPTED_TYPES}}
PATIENCE = 90.0
_SAME = ("status", "results", "metadata")


async def agree_live(stage: Stage, case: Case, thread: str) -> Interpreter:
    """Run a case on a real server and assert that its log is what the interpreter says.

    The interpreter is told only in which order executions ended, because effects run side by
    side; questions are answered, by updates and by signals, as soon as the log shows them.

    Raises:
        AssertionError: They differ; the message names the seed and the commit.
    """
    handle = await stage.start(
        thread,
        graph=case.document,
        input=case.inputs,
        config={"maxIterations": case.max_iterations},
    )
    answering = asyncio.create_task(_answer_all(stage, case, handle, thread))
    try:
        await asyncio.wait_for(closed(handle), PATIENCE)
    except TimeoutError:
        await handle.terminate()
        raise AssertionError(f"seed {case.seed}: the run never ended") from None
    finally:
        answering.cancel()
    commits = [stored.operation.commit for stored in stage.log.commits(thread, limit=5000)]
    interpreter = _replay(case, commits)
    _assert_same_end(stage, case, thread, interpreter, await _result_of(handle))
    return interpreter


async def agree_on_all(
    stage: Stage, cases: Iterable[Case], *, together: int = 6
) -> tuple[list[Interpreter], dict[int, str]]:
    """Run many cases, a few at a time.

    Returns:
        The interpreters of those that agreed, and what differed in the others, by seed.
    """
    places = asyncio.Semaphore(together)
    agreed: list[Interpreter] = []
    differences: dict[int, str] = {}

    async def one(case: Case) -> None:
        async with places:
            try:
                agreed.append(await agree_live(stage, case, f"model-{case.seed}"))
            except AssertionError as error:
                differences[case.seed] = str(error)

    await asyncio.gather(*(one(case) for case in cases))
    return agreed, differences


def _replay(case: Case, commits: list[ThreadCommit]) -> Interpreter:
    """Tell the interpreter what ended when, and assert that each commit is what it expects."""
    interpreter = Interpreter(
        case.graph, TYPES, inputs=case.inputs, max_iterations=case.max_iterations
    )
    reader = TraceReader()
    past_the_budget: list[JsonObject] = []
    cause = commits[-1].disposition.cause
    assert cause is not None, f"seed {case.seed}: the last commit is no end"
    for ordinal, commit in enumerate(commits[:-1]):
        entry = reader.read(_told(commit))
        where = f"seed {case.seed} live, commit {ordinal} of node {commit.node_id}"
        if commit.node_id is not None:
            _tell(case, interpreter, commit.node_id, where)
        expected = comparable(interpreter.trace[-1], inputs=False)
        assert entry == expected, f"{where}:\n  model {expected}\n  log   {entry}"
        if cause.kind == "MaxIterations":
            past_the_budget += _ends_at_hand(case, interpreter)
    if cause.kind == "MaxIterations":
        result = commits[-1].result
        assert result is not None
        assert result["metadata"] in past_the_budget, f"seed {case.seed} live: {past_the_budget}"
        interpreter.ended = result["metadata"]
    elif cause.kind == "NaturalEnd":
        assert interpreter.is_over, f"seed {case.seed} live: something was left to do"
        assert interpreter.standing.verdict is None
    else:
        # Effects that were due beside it and had not been started stay so.
        verdict = interpreter.standing.verdict
        assert verdict is not None, f"seed {case.seed} live: {cause} is not expected"
        assert verdict["kind"] == cause.kind
    return interpreter


def _tell(case: Case, interpreter: Interpreter, node: str, where: str) -> None:
    ran = interpreter.history.open(node)
    assert ran is not None, f"{where}: the interpreter has nothing of it under way"
    if ran.status == "due":
        interpreter.finish(node)
        return
    is_gate = interpreter.facts.types[node].kind == "control"
    interpreter.answer(node, case.answer(node, ran.occurrence, len(ran.answers), is_gate))


def _ends_at_hand(case: Case, interpreter: Interpreter) -> list[JsonObject]:
    """Return the ends that the next completions or answers would make, if any would."""
    ends: list[JsonObject] = []
    for ran in (*interpreter.due(), *interpreter.waiting()):
        tried = interpreter.copy()
        _tell(case, tried, ran.node, f"seed {case.seed} live")
        if tried.ended is not None:
            ends.append(tried.ended)
    return ends


def _told(commit: ThreadCommit) -> Told:
    return Told(
        node=commit.node_id,
        state=commit.state,
        rows=commit.rows,
        head=commit.position,
        messages=commit.messages,
        warnings=[event.body["code"] for event in commit.events if event.kind == "warning"],
        opens=bool(commit.opened),
        closes=bool(commit.closed),
    )


def _assert_same_end(
    stage: Stage, case: Case, thread: str, interpreter: Interpreter, result: JsonObject
) -> None:
    where = f"seed {case.seed} live, end"
    expected = comparable(interpreter.end(), inputs=True)
    seen = {key: without_texts(result[key]) for key in _SAME}
    assert seen == expected, f"{where}:\n  model {expected}\n  run   {seen}"
    state = stage.log.state(thread).state.to_json()
    standing = interpreter.standing
    said = [message for entry in interpreter.trace for message in entry.get("messages", ())]
    assert state["status"] == ("completed" if expected["status"] == "completed" else "failed")
    assert without_texts(state["data"]) == without_texts(standing.data), where
    assert without_texts(state["metadata"]) == without_texts(standing.metadata), where
    assert state["iterationCount"] == standing.iterations, where
    assert state["currentNodeId"] == standing.current, where
    kept = [{key: message[key] for key in ("role", "content")} for message in state["messages"]]
    assert kept == said, where


async def _result_of(handle: Handle) -> JsonObject:
    """Return a run's result, in whichever way it closed."""
    try:
        return await handle.result()
    except WorkflowFailureError as error:
        assert isinstance(error.cause, ApplicationError), error.cause
        details: JsonObject = error.cause.details[0]
        return details


async def _answer_all(stage: Stage, case: Case, handle: Handle, thread: str) -> None:
    """Answer every ticket of the thread, once."""
    answered: dict[str, bool] = {}
    while True:
        for ticket in stage.log.open_tickets(thread):
            if ticket.body.ticket not in answered:
                answered[ticket.body.ticket] = True
                given = _answer(case, ticket)
                # The run may have failed meanwhile.
                with suppress(RPCError, WorkflowUpdateFailedError):
                    if len(answered) % 2:
                        await update(handle, "resume", given)
                    else:
                        await handle.signal("resume", given)
        await asyncio.sleep(0.03)


def _answer(case: Case, ticket: OpenTicket) -> JsonObject:
    name = parse_ticket_id(ticket.body.ticket)
    assert name is not None
    is_gate = ticket.body.kind == "approval"
    given = case.answer(name.node_id, name.occurrence, name.n, is_gate)
    return {"ticket": ticket.body.ticket, **given}
