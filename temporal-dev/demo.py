"""``make demo``: runs that pause inside a loop, are resumed, and the turns that follow.

It starts a server and a worker of its own on a temporary data folder, types what a person would
type, prints each state, and compares it with what it must be. Exit 0 when all of it holds, 1
with the first expectation that does not.
"""

import csv
import sys
import tempfile
from pathlib import Path

from child_process import StopRequest, StopRequested, complain, say
from seeding.errors import ClientError
from seeding.model import Json, JsonObject
from server import Ports, dev_server, free_port
from thread_commands import ThreadCommands, compact
from worker import GRAPHS, STAGE, stage_worker, worker_environment

EXPENSES = STAGE / "expenses.csv"
CLEAN: JsonObject = {
    "status": None,
    "isComplete": False,
    "error": None,
    "currentNodeId": "",
    "iterationCount": 0,
    "iterator": None,
}
"""What a new turn starts with in place of what the run before it owned."""

SHOWN = {
    "status": "status",
    "complete": "isComplete",
    "error": "error",
    "rounds": "iterationCount",
    "iterator": "iterator",
    "data": "data",
}
"""The fields of a state that are printed, by the name they are printed under."""


class ExpectationFailed(Exception):
    """Something is not what it must be."""


def expect(what: str, actual: Json, expected: Json) -> None:
    """Go on if ``actual`` is exactly ``expected``.

    Raises:
        ExpectationFailed: It is not; the message holds both.
    """
    if actual != expected:
        raise ExpectationFailed(
            f"{what}\n  expected {compact(expected)}\n  found    {compact(actual)}"
        )
    say(f"  ok: {what}")


def show(state: JsonObject) -> None:
    """Print a state: what the thread accumulated, the outcome, the position, what it waits for."""
    run: JsonObject = state["run"]
    say(
        f"    run        {run['phase']}, turn {run['runEpoch']}, at {state['currentNodeId'] or '-'}"
    )
    for name, field in SHOWN.items():
        say(f"    {name:<10} {compact(state[field])}")
    for message in state["messages"]:
        say(f"    message    {message['role']}: {message['content']}")
    for ticket in run["waitingFor"]:
        say(f"    waits for  {ticket['ticket']}  {ticket['message']}  {ticket['allowed']}")


def contents(state: JsonObject) -> list[list[str]]:
    """Return role and content of each message of a state."""
    return [[message["role"], message["content"]] for message in state["messages"]]


def amounts() -> list[int]:
    """Return the amounts of the rows of the sample file."""
    with EXPENSES.open(encoding="utf-8", newline="") as rows:
        return [int(row["amount"]) for row in csv.DictReader(rows)]


def turn(message: str, items: list[int], **more: Json) -> JsonObject:
    """Return the request for a turn of the expense review."""
    return {
        "graph": "expense-review",
        "message": message,
        "input": {"items": {"value": items}},
        **more,
    }


def fruit_loop(thread: ThreadCommands) -> None:
    """A loop document in the editor's format runs as it is."""
    say("\n1. A loop drawn in the editor")
    thread.start({"graph": "fruit-loop"})
    outcome = thread.outcome()
    expect("Temporal says the run is completed", outcome["status"], "COMPLETED")
    expect("the result says so too", outcome["result"]["status"], "completed")
    state = thread.state()
    show(state)
    expect("the loop took three rounds", state["iterationCount"], 3)
    expect(
        "three fruits are four executions of the loop",
        sorted(name for name in outcome["result"]["results"] if name.startswith("each_fruit")),
        ["each_fruit.1", "each_fruit.1:1", "each_fruit.1:2", "each_fruit.1:3"],
    )
    expect(
        "what the loop collected is in a message",
        contents(state),
        [["assistant", 'In capitals: ["QUINCE","MEDLAR","DAMSON"]']],
    )


def first_turn(thread: ThreadCommands) -> None:
    """The expense review pauses at its second item and goes on after a signal."""
    say("\n2. An expense review that pauses inside its loop")
    run_id = thread.start(turn("please check these", amounts(), data={"budget": 500}))
    ticket = thread.wait_for_ticket()
    paused = thread.state()
    show(paused)
    _expect_pause_at_second_item(paused, run_id)
    say(f"  It waits for an answer to: {ticket['message']}")

    thread.signal("resume", {"ticket": ticket["ticket"], "decision": "approve"})
    outcome = thread.outcome()
    expect("Temporal says the run is completed", outcome["status"], "COMPLETED")
    expect("its last checkpoint", outcome["result"]["checkpointId"], f"{run_id}:12")
    ended = thread.state()
    show(ended)
    expect("status", [ended["status"], ended["isComplete"]], ["completed", True])
    expect("nobody is waited for", ended["run"]["waitingFor"], [])
    expect("the loop took three rounds", ended["iterationCount"], 3)
    expect(
        "the messages of the turn",
        contents(ended),
        [["user", "please check these"], ["assistant", 'Done: [50,"approve",80]']],
    )


def _expect_pause_at_second_item(state: JsonObject, run_id: str) -> None:
    run: JsonObject = state["run"]
    expect("it waits at the gate", [run["phase"], state["currentNodeId"]], ["awaiting", "gate"])
    expect(
        "it waits inside the loop, at the second item",
        state["iterator"],
        {"items": [50, 150, 80], "index": 1, "results": [50]},
    )
    expect("two rounds were begun", state["iterationCount"], 2)
    expect("six steps were committed", run["checkpointId"], f"{run_id}:6")
    expect("it has not ended", [state["status"], state["isComplete"]], [None, False])
    expect("the data of the request is there", state["data"], {"budget": 500})
    tickets: list[JsonObject] = run["waitingFor"]
    expect(
        "one ticket is open",
        [[each["ticket"], each["message"], each["allowed"]] for each in tickets],
        [[f"{run_id}:gate:0:0", "Over the limit. Pay 150?", ["approve", "deny"]]],
    )


def second_turn(thread: ThreadCommands) -> None:
    """The next turn keeps what the thread accumulated and clears what the run owned."""
    say("\n3. The next turn on the same thread")
    before = thread.state()
    thread.start(turn("and this one", [20]))
    expect("Temporal says the run is completed", thread.outcome()["status"], "COMPLETED")
    state = thread.state()
    show(state)
    expect("the data is kept", state["data"], {"budget": 500})
    expect("it is the thread's second run", state["run"]["runEpoch"], 2)
    expect("rounds were counted anew", state["iterationCount"], 1)
    expect(
        "the messages are kept and added to",
        contents(state),
        [*contents(before), ["user", "and this one"], ["assistant", "Done: [20]"]],
    )
    expect_cleared(
        thread,
        {
            "status": "completed",
            "isComplete": True,
            "currentNodeId": "summary",
            "iterationCount": 3,
        },
    )


def expect_cleared(thread: ThreadCommands, cleared: JsonObject) -> None:
    """Expect that the turn started from the thread, with these values of the run before cleared."""
    provenance = thread.query("provenance")
    for field, value in provenance["cleared"].items():
        say(f"    cleared    {field}: {compact(value)} -> {compact(CLEAN.get(field))}")
    expect("it started from the thread", provenance["start"]["source"], "thread")
    expect("all that the run before it owned was cleared", provenance["cleared"], cleared)


def cancelled_turn(thread: ThreadCommands) -> None:
    """A turn is cancelled while it waits."""
    say("\n4. A turn that is cancelled while it waits")
    before = thread.state()
    run_id = thread.start(turn("a big one", [300]))
    ticket = thread.wait_for_ticket()
    expect("it waits at its first item", ticket["ticket"], f"{run_id}:gate:0:0")
    thread.cancel()
    expect("Temporal says the run is cancelled", thread.outcome()["status"], "CANCELED")
    state = thread.state()
    show(state)
    expect("status", [state["status"], state["isComplete"]], ["cancelled", True])
    expect("nobody is waited for", state["run"]["waitingFor"], [])
    expect("the data is kept", state["data"], {"budget": 500})
    expect("the messages are kept", contents(state), [*contents(before), ["user", "a big one"]])


def turn_after_the_cancel(thread: ThreadCommands) -> None:
    """The turn after a cancelled one starts clean; the gate's other answer ends it."""
    say("\n5. The turn after it starts clean")
    before = thread.state()
    run_id = thread.start(turn("once more", [10, 400]))
    ticket = thread.wait_for_ticket()
    state = thread.state()
    show(state)
    expect(
        "nothing of the cancelled run is left in it",
        [state["status"], state["isComplete"], state["error"]],
        [None, False, None],
    )
    expect("rounds were counted anew", state["iterationCount"], 2)
    expect(
        "it is at its own second item",
        state["iterator"],
        {"items": [10, 400], "index": 1, "results": [10]},
    )
    expect("it is the thread's fourth run", state["run"]["runEpoch"], 4)
    expect("the ticket is its own", ticket["ticket"], f"{run_id}:gate:0:0")
    expect_cleared(
        thread, {field: before[field] for field in CLEAN if before[field] != CLEAN[field]}
    )
    thread.signal("resume", {"ticket": ticket["ticket"], "decision": "deny"})
    expect("Temporal says the run is completed", thread.outcome()["status"], "COMPLETED")
    ended = thread.state()
    show(ended)
    expect("its answer is in the loop's results", contents(ended)[-1][1], 'Done: [10,"deny"]')


def play(home: Path, stop: StopRequest) -> None:
    """Start server and worker on the data folder and play all scenes."""
    with dev_server(home, Ports(free_port(), None), stop) as server:
        environment = {
            **worker_environment(server, home),
            "FERMATA_NODES": "sample_nodes",
            "FERMATA_GRAPHS": str(GRAPHS),
            "FERMATA_LOG_URL": f"sqlite:///{home / 'log.db'}",
            "FERMATA_TASK_QUEUE": "fermata",
        }
        with stage_worker(server, environment, stop, on_line=lambda line: None) as worker:
            say(f"server {server.address} and worker (process {worker.pid}) run; data in {home}")
            fruit_loop(ThreadCommands("fruit", environment, stop))
            expenses = ThreadCommands("expenses", environment, stop)
            first_turn(expenses)
            second_turn(expenses)
            cancelled_turn(expenses)
            turn_after_the_cancel(expenses)


def main() -> int:
    """Play the demo; return 0 when every expectation holds, else 1."""
    stop = StopRequest()
    stop.listen()
    try:
        with tempfile.TemporaryDirectory(prefix="fermata-demo-") as folder:
            play(Path(folder), stop)
    except ExpectationFailed as error:
        complain(f"\ndemo: not as expected: {error}")
        return 1
    except ClientError as error:
        complain(f"\ndemo: {error.code}: {error}")
        return 1
    except StopRequested:
        complain("\ndemo: stopped before its end")
        return 1
    say("\ndemo: every expectation holds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
