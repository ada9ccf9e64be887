"""A node type served by a worker that knows nothing of this project but the documented JSON."""

import uuid
from dataclasses import replace
from typing import Any

from temporalio import activity
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from activities.nodes import NodeRegistry, RegisteredNode
from seeding.model import JsonObject
from tests.docs.examples import example
from tests.engine.stage import Stage, until
from workflows.graph.model import NodeType

GRAPH: JsonObject = {
    "id": "elsewhere",
    "nodes": [
        {"id": "word", "type": "value", "config": {"value": "fermata"}},
        {"id": "check", "type": "abroad", "config": {"limit": 100}},
    ],
    "edges": ["word.value -> check.item"],
}


class Abroad:
    """A worker of another language, as far as it can be told from here."""

    def __init__(self) -> None:
        self.calls: list[JsonObject] = []
        self.results: list[JsonObject] = []

    @activity.defn(name="abroad")
    async def serve(self, call: dict[str, Any]) -> dict[str, Any]:
        """Take one JSON object and return another."""
        self.calls.append(call)
        return self.results.pop(0)


async def test_outputs_failures_and_questions_in_plain_json(
    temporal: WorkflowEnvironment, log_url: str
) -> None:
    config = temporal.client.config()
    config["data_converter"] = pydantic_data_converter
    client = Client(**config)
    stage = Stage(client, log_url)
    stage.open()
    assert stage.resources is not None
    queue, abroad = f"abroad-{uuid.uuid4().hex[:6]}", Abroad()
    declared = NodeType(name="abroad", kind="effect", can_ask=True, max_retries=1, task_queue=queue)
    stage.resources = replace(stage.resources, registry=_registry(declared))
    abroad.results = [
        example("docs/reference.md", "node-failure").value,
        example("docs/reference.md", "node-question").value,
        example("docs/reference.md", "node-outputs").value,
    ]
    await stage.serve()
    try:
        async with Worker(client, task_queue=queue, activities=[abroad.serve]):
            handle = await stage.start("abroad", graph=GRAPH)
            [ticket] = (await until(handle, "awaiting"))["run"]["waitingFor"]
            await handle.signal("resume", {"ticket": ticket["ticket"], "value": "savings"})
            result = await handle.result()
    finally:
        await stage.close()

    shown = example("docs/reference.md", "node-call").value
    assert (ticket["message"], ticket["schema"]) == ("Which account?", {"type": "string"})
    assert result["results"]["check"] == {"within": 50}
    assert [call.get("ask", 0) for call in abroad.calls] == [0, 0, 1]
    assert abroad.calls[0]["effectKey"] == abroad.calls[1]["effectKey"]
    assert abroad.calls[1]["effectKey"] != abroad.calls[2]["effectKey"]
    assert sorted(abroad.calls[0]) == sorted(name for name in shown if name != "declares")


def _registry(declared: NodeType) -> NodeRegistry:
    async def elsewhere(call: object) -> JsonObject:
        raise AssertionError("it is served elsewhere")

    registry = NodeRegistry()
    registry.add(RegisteredNode(declared, elsewhere, is_async=True))
    return registry
