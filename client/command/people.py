"""The documents of the reading verbs as people read them."""

import json
import shlex
from collections.abc import Sequence

from rich.panel import Panel
from rich.text import Text

from client.command.output import (
    console,
    print_line,
    print_table,
    printable,
    shown,
)
from client.reconcile_line import reconcile_line
from client.thread_models import Standing
from seeding.model import Json, JsonObject, as_list, as_object

LAST_MESSAGES = 5
"""How many messages a state shows; ``fermata messages`` shows all."""


def print_state(state: JsonObject) -> None:
    """Print a state: where the run stands, what it waits for, what the thread holds."""
    run = as_object(state.get("run")) or {}
    lines = [
        f"{_phase_line(state, run)}  ({run.get('graph')}, run {run.get('runId')})",
        f"checkpoint {run.get('checkpointId')} on branch {run.get('branch')}",
    ]
    if run.get("runId") is None:
        lines = [f"{run.get('phase')} from {run.get('forkedFrom')}, no run yet"]
    if state.get("currentNodeId"):
        lines.append(f"at node {state['currentNodeId']}, iteration {state['iterationCount']}")
    iterator = as_object(state.get("iterator"))
    if iterator is not None and "index" in iterator:
        lines.append(f"item {iterator['index'] + 1} of {_count(iterator.get('items'))} in its loop")
    title = Text(printable(f"thread {state.get('threadId')}"))
    text = Text(printable("\n".join(lines)))
    console().print(Panel(text, title=title, title_align="left", expand=False))
    thread_id = str(state.get("threadId", ""))
    for ticket in _objects(run.get("waitingFor")):
        print_line("")
        _print_waiting(thread_id, ticket)
    _print_part("data", state.get("data"))
    _print_part("metadata", state.get("metadata"))
    messages = _objects(state.get("messages"))
    if messages:
        left = len(messages) - LAST_MESSAGES
        print_line(
            f"\nmessages (the last {LAST_MESSAGES} of {len(messages)})"
            if left > 0
            else "\nmessages"
        )
        print_messages(messages[-LAST_MESSAGES:])


def _phase_line(state: JsonObject, run: JsonObject) -> str:
    said = str(run.get("phase"))
    if state.get("status") is not None:
        said = f"{said}, {state['status']}"
    reason = state.get("error") or run.get("pausedReason")
    return f"{said}: {reason}" if reason else said


def _print_waiting(thread_id: str, ticket: JsonObject) -> None:
    where = f"at {ticket['nodeId']}" if ticket.get("nodeId") else "before the next node"
    print_line(f"waits for: {ticket['kind']} {where}, since {ticket['createdAt']}")
    said = ticket.get("message") or ticket.get("reason")
    if said:
        print_line(f"  {said}")
    if ticket.get("deadline"):
        print_line(f"  until {ticket['deadline']}")
    print_line(f"  {resume_line(thread_id, ticket)}")
    allowed = [str(item) for item in as_list(ticket.get("allowed")) or []]
    others = [item for item in allowed if item != _first(allowed)]
    if others:
        print_line(f"  or, as decision: {', '.join(others)}")


def resume_line(thread_id: str, ticket: JsonObject) -> str:
    """Return the exact line that answers a ticket, shell-quoted; it always names the ticket.

    Where the ticket allows decisions the line takes the first of them, or ``approve``; else its
    value is to be filled in. Where the ticket says who may answer, the first of them answers;
    where it takes one of several approvals, who does is to be filled in.

    Args:
        thread_id: The thread.
        ticket: The ticket as ``waitingFor`` shows it (contract 4).
    """
    words = ["--ticket", str(ticket["ticket"])]
    if ticket["kind"] != "pause":
        words += _answer(ticket)
    if thread_id.startswith("-"):
        return shlex.join(["fermata", "resume", *words, "--", thread_id])
    return shlex.join(["fermata", "resume", thread_id, *words])


def _answer(ticket: JsonObject) -> list[str]:
    allowed = [str(item) for item in as_list(ticket.get("allowed")) or []]
    who = as_list(ticket.get("who")) or []
    named = str(who[0]) if who else "..." if "approvedBy" in ticket else None
    actor = [] if named is None else ["--actor", named]
    if not allowed:
        return ["--value", "...", *actor]
    return ["--decision", _first(allowed), *actor]


def _first(allowed: Sequence[str]) -> str:
    return "approve" if "approve" in allowed else allowed[0]


def _print_part(name: str, value: Json) -> None:
    part = as_object(value) or {}
    if part:
        print_line(f"\n{name}")
        for key, item in part.items():
            print_line(f"  {key} = {json.dumps(item, ensure_ascii=False)}")


def print_messages(messages: Sequence[JsonObject]) -> None:
    """Print messages as a conversation."""
    if not messages:
        print_line("no messages")
    for message in messages:
        print_line(f"{message.get('role')}: {shown(message.get('content'))}")


def print_threads(threads: Sequence[JsonObject]) -> None:
    """Print a table of threads."""
    columns = ("thread", "phase", "turn", "graph", "tickets", "opened")
    rows = [
        (
            item["threadId"],
            item["phase"],
            item["runEpoch"],
            item["graph"],
            len(item["tickets"]),
            item["openedAt"],
        )
        for item in threads
    ]
    print_table(columns, rows, empty="no threads")


def print_runs(runs: Sequence[JsonObject]) -> None:
    """Print a table of runs."""
    columns = ("turn", "run", "phase", "cause", "graph", "from", "opened", "ended")
    rows = [
        (
            item["runEpoch"],
            item["runId"],
            item["phase"],
            (as_object(item["cause"]) or {}).get("kind"),
            item["graph"],
            item["start"].get("source"),
            item["openedAt"],
            item["endedAt"],
        )
        for item in runs
    ]
    print_table(columns, rows, empty="no runs")


def print_effects(effects: Sequence[JsonObject]) -> None:
    """Print a table of effects."""
    columns = ("effect", "node", "type", "status", "code", "attempts", "begun", "finished", "run")
    rows = [
        (
            item["effectKey"],
            f"{item['nodeId']}:{item['occurrence']}",
            item["type"],
            item["status"],
            item["code"],
            item["attempts"],
            item["begunAt"],
            item["finishedAt"],
            item["runId"],
        )
        for item in effects
    ]
    print_table(columns, rows, empty="no effects")


def print_tickets(tickets: Sequence[JsonObject]) -> None:
    """Print open tickets, each with the line that answers it."""
    if not tickets:
        print_line("nothing is waited for")
    for ticket in tickets:
        thread: str = ticket["threadId"]
        print_line(f"thread {thread}  (live: {ticket['live']})")
        if ticket["live"] == "no":
            command = reconcile_line(thread, repair=True)
            print_line(f"its workflow is gone; before it can be answered: {command}")
        _print_waiting(ticket["threadId"], ticket)


def print_provenance(provenance: JsonObject) -> None:
    """Print where a run started from and what that cleared."""
    start = as_object(provenance["start"]) or {}
    print_line(f"run {provenance['runId']} of thread {provenance['threadId']}")
    print_line(f"started from: {start.get('source')}")
    for passed in _objects(start.get("passedOver")):
        print_line(f"  passed over {passed['source']}: {passed['why']}")
    cleared = as_object(provenance["cleared"]) or {}
    if cleared:
        print_line("cleared:")
    for field, before in cleared.items():
        print_line(f"  {field}, which was {json.dumps(before, ensure_ascii=False)}")
    for warning in _objects(provenance["warnings"]):
        print_line(f"warning {warning.get('code')}: {warning.get('message')}")
    for taken in _objects(provenance["takeovers"]):
        print_line(
            f"taken over at {taken['checkpointId']}, {taken['at']} ({taken['source']}), by "
            f"execution {taken['executionRunId']}"
        )


def print_standing(standing: Standing) -> None:
    """Print what a watched run came to, and what its start warned of."""
    for ticket in standing.tickets:
        _print_waiting(standing.thread_id, ticket.to_json())
    result = standing.result
    if result is not None:
        print_line(f"ended: {result.get('status')}")
        results = as_object(result.get("results")) or {}
        for key, value in results.items():
            print_line(f"  {key} = {json.dumps(value, ensure_ascii=False)}")
    for warning in standing.warnings:
        print_line(f"warning {warning.get('code')}: {warning.get('message')}")


def _objects(value: Json) -> list[JsonObject]:
    return [item for item in map(as_object, as_list(value) or []) if item is not None]


def _count(items: Json) -> str:
    listed = as_list(items)
    return "?" if listed is None else str(len(listed))
