"""What the Temporal UI and ``temporal workflow list`` can find a run by."""

from typing import Any

from temporalio.api.enums.v1 import EventType

from tests.engine.graphs import count_of_type
from tests.engine.stage import Handle, Stage, until
from workflows.search_attributes import bounded_tickets

UPSERT = EventType.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES


async def attributes(handle: Handle) -> dict[str, Any]:
    """The search attributes a run shows."""
    pairs: Any = (await handle.describe()).typed_search_attributes
    return {pair.key.name: pair.value for pair in pairs if pair.key.name != "BuildIds"}


async def test_a_waiting_run_shows_whom_it_waits_for_and_until_when(stage: Stage) -> None:
    handle = await stage.start(
        "attributes", graph="expense-review", input={"items": {"value": [150]}}
    )
    ticket = (await until(handle, "awaiting"))["run"]["waitingFor"][0]
    shown = await attributes(handle)
    deadline = shown.pop("NextDeadline")
    assert deadline.isoformat(timespec="milliseconds").startswith(ticket["deadline"][:-1])
    assert shown == {
        "ThreadId": "attributes",
        "RunStatus": "awaiting",
        "GraphId": "expense-review",
        "CurrentNode": "gate",
        "OpenTickets": [ticket["ticket"]],
    }


async def test_they_change_once_as_the_run_opens_waits_goes_on_and_ends(stage: Stage) -> None:
    handle = await stage.start(
        "attribute-events", graph="expense-review", input={"items": {"value": [50, 150, 50]}}
    )
    ticket = (await until(handle, "awaiting"))["run"]["waitingFor"][0]["ticket"]
    assert await count_of_type(handle, UPSERT) == 2
    await handle.signal("resume", {"ticket": ticket, "decision": "deny"})
    await handle.result()
    assert await count_of_type(handle, UPSERT) == 4
    shown = await attributes(handle)
    assert shown["RunStatus"] == "completed"
    assert "NextDeadline" not in shown
    assert shown.get("OpenTickets", []) == []


def test_twenty_tickets_and_1500_bytes_are_shown_and_the_rest_is_counted() -> None:
    ids = [f"r:{number:02}" for number in range(25)]
    assert bounded_tickets(ids) == [*ids[:20], "+5"]
    assert bounded_tickets(ids[:20]) == ids[:20]
    long = ["x" * 200] * 9
    assert bounded_tickets(long) == [*long[:7], "+2"]
    assert bounded_tickets(["y" * 300]) == ["+1"]
    assert bounded_tickets([]) == []


async def test_the_details_say_what_it_waits_for_and_how_to_answer(stage: Stage) -> None:
    handle = await stage.start("details", graph="expense-review", input={"items": {"value": [150]}})
    waiting = (await until(handle, "awaiting"))["run"]["waitingFor"][0]
    details = (await handle.query("__temporal_workflow_metadata")).current_details
    assert waiting["ticket"] in details
    assert "Over the limit. Pay 150?" in details
    assert waiting["createdAt"] in details
    assert waiting["deadline"] in details
    assert "deny" in details
    assert "temporal workflow signal --workflow-id thread/details --name resume" in details


async def test_a_thread_and_nodes_with_the_longest_names_in_any_script_wedge_nothing(
    stage: Stage,
) -> None:
    thread, node = "\U0001f3b5" * 150, "\U0001f3bc" * 120
    graph = {
        "id": "\U0001f3b6" * 100,
        "nodes": [
            {"id": node, "type": "no_op"},
            {"id": "gate", "type": "gate", "config": {"message": "?", "deadline": "1h"}},
        ],
        "edges": [f"{node}.value -> gate.in"],
    }
    handle = await stage.start(thread, graph=graph)
    ticket = (await until(handle, "awaiting"))["run"]["waitingFor"][0]["ticket"]
    actor = "\U0001f3b7" * 100
    await handle.signal("resume", {"ticket": ticket, "decision": "deny", "actor": actor})
    assert (await handle.result())["status"] == "completed"
    assert (await attributes(handle))["ThreadId"] == thread
