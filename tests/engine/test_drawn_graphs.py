"""Documents in the editor's form, run as they are: branches, loops, triggers, tools, notes."""

from typing import Any

import pytest

from seeding.model import Json, JsonObject
from tests.engine.stage import Stage
from tests.graph.documents import editor, editor_node


def wire(source: str, target: str, *, kind: str | None = None, **more: Json) -> JsonObject:
    """Return an edge as the editor writes it; an end without a port has no handle."""
    start, _, output = source.partition("/")
    end, _, enters = target.partition("/")
    edge: JsonObject = {"id": f"{source}-{target}", "source": start, "target": end, **more}
    if output:
        edge["sourceHandle"] = f"{start}-output-{output}"
    if enters:
        edge["targetHandle"] = f"{end}-input-{enters}"
    if kind is not None:
        edge["data"] = {"metadata": {"edgeType": kind}}
    return edge


async def finished(stage: Stage, thread: str, document: JsonObject) -> JsonObject:
    result = await (await stage.start(thread, graph=document)).result()
    assert result["status"] == "completed"
    return result


GATEWAY_BRANCHES = [
    {"name": "Small", "value": "small", "label": "small ones"},
    {"name": "Large", "value": "LARGE"},
    {"name": "", "value": None},
    {"name": "Other", "isDefault": True},
]


@pytest.mark.parametrize(
    ("size", "taken"), [("small", "small"), ("large", "large"), ("vast", "other")]
)
async def test_a_gateway_takes_the_branch_whose_value_matches(
    stage: Stage, size: str, taken: str
) -> None:
    nodes = [
        editor_node("size.1", "text_input", {"defaultValue": size}, outputs={"text": "string"}),
        editor_node("pick.1", "gateway", {"branches": GATEWAY_BRANCHES}, inputs={"value": "mixed"}),
        *(editor_node(name, "noted") for name in ("small", "large", "other")),
    ]
    document = editor(
        nodes,
        wire("size.1/text", "pick.1/value"),
        wire("pick.1/Small", "small/in"),
        wire("pick.1/Large", "large/in"),
        wire("pick.1/Other", "other/in"),
    )
    result = await finished(stage, f"drawn-gateway-{size}", document)
    left = sorted({"small", "large", "other"} - {taken})
    assert result["metadata"] == {"nodes_skipped": 2, "skipped_node_ids": left}
    assert result["results"][taken] == {"value": {"in": size}}


@pytest.mark.parametrize(("data", "taken"), [("true", "yes"), ("false", "no")])
async def test_an_if_else_follows_its_branches_by_trigger(  # BR-4, BR-5
    stage: Stage, data: str, taken: str
) -> None:
    nodes = [
        editor_node("flag", "json_loader", {"jsonData": data}, outputs={"data": "boolean"}),
        editor_node("if", "if_else", {}, outputs={"True": "trigger", "False": "trigger"}),
        editor_node("yes", "noted", inputs={"trigger": "trigger"}),
        editor_node("no", "noted", inputs={"trigger": "trigger"}),
    ]
    document = editor(
        nodes,
        wire("flag/data", "if/data"),
        wire("if/True", "yes/trigger"),
        wire("if/False", "no/trigger"),
    )
    result = await finished(stage, f"drawn-if-{data}", document)
    assert sorted(result["results"]) == sorted(["flag", "if", taken])


async def test_a_loop_in_a_loop_collects_for_each_of_the_outer_items(stage: Stage) -> None:
    rows = {"jsonData": '[{"cells": [1, 2]}, {"cells": []}, {"cells": [3]}]'}
    nodes = [
        editor_node("rows", "json_loader", rows, outputs={"data": "array"}),
        editor_node("outer", "foreach", {"maxIterations": 100}, outputs={"item": "mixed"}),
        editor_node("open", "cells_of", inputs={"row": "mixed"}),
        editor_node("inner", "foreach", {}, outputs={"item": "mixed"}),
        editor_node("work", "noted", inputs={"in": "mixed"}),
        editor_node("tell", "chat_output", {"message": "{all}"}, inputs={"all": "array"}),
    ]
    document = editor(
        nodes,
        wire("rows/data", "outer/items"),
        wire("outer/item", "open/row"),
        wire("open/cells", "inner/items"),
        wire("inner/item", "work/in"),
        wire("work/value", "inner/loop_back", kind="loopback"),
        wire("inner/collected_results", "outer/loop_back", kind="loopback"),
        wire("outer/collected_results", "tell/all"),
    )
    result = await finished(stage, "drawn-nested", document)
    assert result["results"]["tell"] == {"message": '[[{"in":1},{"in":2}],[],[{"in":3}]]'}
    assert [key for key in result["results"] if key.startswith("work")] == [
        "work",
        "work:1",
        "work:2",
    ]


async def test_triggers_order_nodes_and_carry_no_value(stage: Stage) -> None:  # DATA-3
    ports: dict[str, Any] = {"inputs": {"trigger": "trigger"}, "outputs": {"trigger": "trigger"}}
    document = editor(
        [editor_node(name, "noted", **ports) for name in ("a", "b", "c")],
        wire("a/trigger", "b/trigger"),
        wire("b/trigger", "c/trigger"),
    )
    result = await finished(stage, "drawn-triggers", document)
    assert result["results"] == {name: {"value": {}} for name in ("a", "b", "c")}


async def test_tools_notes_and_wires_without_ports_deliver_nothing_and_are_said(
    stage: Stage,
) -> None:
    note = editor_node("note", "notes", {"content": "read me"})
    note["data"]["metadata"]["type"] = "note"
    document = editor(
        [
            editor_node(
                "start", "text_input", {"defaultValue": "hello"}, outputs={"text": "string"}
            ),
            editor_node("agent", "noted", inputs={"tools": "tool", "prompt": "string"}),
            editor_node("tool", "noted", outputs={"tool": "tool"}),
            note,
        ],
        wire("start/text", "agent/prompt"),
        wire("tool/tool", "agent/tools"),
        wire("start", "tool"),
    )
    result = await finished(stage, "drawn-tools", document)
    assert result["results"]["agent"] == {"value": {"prompt": "hello"}}
    assert result["results"]["tool"] == {"value": {}}
    assert "note" not in result["results"]
    assert result["warnings"] == [
        {
            "code": "graph",
            "message": "edges.2 from 'start' to 'tool' has no port at its source and target: "
            "it delivers nothing (DATA-1)",
        },
        {
            "code": "graph",
            "message": "tool edge 'tool.tool -> agent.tools' is ignored: tools are not available",
        },
    ]
