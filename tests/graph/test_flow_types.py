"""The config and the ports of types that branch, merge, set, stop or call a server."""

import json
from pathlib import Path

import pytest

from seeding.model import JsonObject
from tests.graph.documents import (
    EFFECTS,
    SAMPLES,
    editor,
    editor_node,
    load,
    problems,
    short,
    wires,
)
from workflows.graph.builtin_types import BUILTIN_TYPES, output_ports
from workflows.graph.checks import find_problems
from workflows.graph.document import read_graph
from workflows.graph.model import Node
from workflows.graph.resolution import resolve

NO_CONDITION = "has no condition and is no default; it could never be followed"

CONFIG_PROBLEMS: list[tuple[str, JsonObject, str]] = [
    (
        "branch",
        {"branch": []},
        "unknown config key 'branch'; known are branches, matchText, operator, caseSensitive",
    ),
    ("branch", {"branches": {}}, "config branches is an object; it must be a list"),
    ("branch", {"branches": ["yes"]}, "config branches.0 has no name; it is the branch's port"),
    (
        "branch",
        {"branches": [{"name": "a", "condition": "x"}]},
        "config branches.0 has an unknown field 'condition'; known are name, label, value, "
        "isDefault",
    ),
    (
        "branch",
        {"branches": [{"name": "Yes"}, {"name": " yes"}]},
        "config branches names ' yes' twice; case makes no difference (BR-3)",
    ),
    (
        "branch",
        {"branches": [{"name": "a", "isDefault": True}, {"name": "b", "isDefault": True}]},
        "config branches has more than one default",
    ),
    (
        "branch",
        {"branches": [{"name": "Error"}]},
        "config branches.0: 'Error' is a reserved port; name the branch otherwise",
    ),
    ("if_else", {"matchText": 3}, "config matchText is a number; it must be a text"),
    (
        "if_else",
        {"matchText": "a", "operator": "regex"},
        "config operator 'regex' is not available: a pattern may run for ever on an unlucky "
        "text; write one of equals, not_equals, contains, starts_with, ends_with, or match in a "
        "node of your own",
    ),
    (
        "if_else",
        {"operator": "like"},
        "config operator is 'like'; write one of equals, not_equals, contains, starts_with, "
        "ends_with",
    ),
    (
        "if_else",
        {"caseSensitive": "no"},
        "config caseSensitive is a text; it must be true or false",
    ),
    ("switch", {}, "config branches is missing; list name and condition of each branch"),
    ("switch", {"branches": [{"name": "a"}]}, f"config branches.0 {NO_CONDITION}"),
    (
        "gateway",
        {"branches": [{"name": "a", "condition": ""}]},
        f"config branches.0 {NO_CONDITION}",
    ),
    (
        "switch",
        {"branches": [{"name": "a", "condition": True}]},
        "config branches.0: condition is a boolean; it must be a text",
    ),
    (
        "switch",
        {"branches": [{"name": "a", "condition": "eval(x)"}]},
        "config branches.0: condition 'eval(x)' is no JMESPath condition: 'eval' is none of its "
        "functions: abs, avg, ceil, contains, ends_with, floor, keys, length, map, max, max_by, "
        "min, min_by, not_null, reverse, sort, sort_by, starts_with, sum, to_array, to_number, "
        "to_string, type, values",
    ),
    ("merge", {"ports": 2}, "unknown config key 'ports'; type 'merge' has no config"),
    ("stop", {"message": "x"}, "unknown config key 'message'; type 'stop' has no config"),
    ("set", {}, "config state_update is null; it must be an object"),
    (
        "set",
        {"state_update": {"status": "completed"}},
        "config state_update has an unknown field 'status'; known are messages, data, metadata, "
        "iterationCount, iterator",
    ),
    ("template", {}, "config template is missing; it is the text to fill in"),
    ("prompt_template", {"template": 1}, "config template is a number; it must be a text"),
    (
        "http_request",
        {"method": "STEAL"},
        "config method is 'STEAL'; write one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
    ),
    ("http_request", {"timeout": 0}, "config timeout is 0; it is a number of seconds up to 280"),
    (
        "http_request",
        {"maxRetries": 11},
        "config maxRetries is 11; it is a whole number from 0 to 10",
    ),
    (
        "http_request",
        {"metod": "POST"},
        "unknown config key 'metod'; known are url, method, headers, body, timeout, maxRetries",
    ),
    (
        "http_request",
        {"follow_redirects": False},
        "config follow_redirects cannot be false in this version: redirects are followed on the "
        "same host; leave it out",
    ),
    ("chat", {"model": "m"}, "config baseUrl is missing"),
    (
        "chat_model",
        {"apiKey": "sk-secret"},
        "config apiKey would be kept with the graph; put the key into an environment variable of "
        "the worker and name that in apiKeyEnv",
    ),
    ("chat_model", {"temperature": "hot"}, "config temperature is a text; it must be a number"),
]


@pytest.mark.parametrize(("type_name", "config", "problem"), CONFIG_PROBLEMS)
def test_the_config_is_checked(type_name: str, config: JsonObject, problem: str):
    assert problems(short(n={"type": type_name, "config": config})) == [f"node 'n': {problem}"]


@pytest.mark.parametrize(
    ("type_name", "config"),
    [
        ("branch", {}),
        ("branch", {"branches": [{"name": "a", "value": None}, {"name": "b", "isDefault": True}]}),
        ("if_else", {"matchText": "x", "operator": "contains", "mode": "of the editor"}),
        ("if_else", {"branches": [{"name": ""}, {}, None]}),
        (
            "switch",
            {"branches": [{"name": "a", "condition": "x"}, {"name": "b", "isDefault": True}]},
        ),
        ("gateway", {"branches": [{"name": "a", "value": 1, "id": "7"}], "theme": "dark"}),
        ("set", {"state_update": {"data": {"a": "{b}"}, "messages": None}}),
        ("http_request", {"url": "", "headers": [], "body": "", "follow_redirects": True}),
        ("http_request", {"url": "", "nodeType": "default", "instanceTitle": "users"}),
        ("chat", {"baseUrl": "http://localhost/v1", "model": "m", "maxTokens": 10}),
    ],
)
def test_a_proper_config_is_taken(type_name: str, config: JsonObject):
    assert find_problems(read_graph(short(n={"type": type_name, "config": config}))) == []


@pytest.mark.parametrize(
    ("type_name", "config", "ports"),
    [
        ("branch", {}, ("True", "False")),
        ("if_else", {"branches": [{"name": "Yes"}, {"name": "No"}]}, ("Yes", "No")),
        ("switch", {"branches": [{"name": "big", "condition": "x"}]}, ("big",)),
        ("merge", {}, ("merged",)),
        ("set", {}, ("value",)),
        ("stop", {}, ()),
        ("template", {}, ("text", "missing_variables", "success")),
        ("http_request", {}, ("status", "json", "text", "headers", "url", "method")),
        ("chat", {}, ("response", "message")),
    ],
)
def test_the_output_ports_of_a_node(type_name: str, config: JsonObject, ports: tuple[str, ...]):
    node = Node(id="n", type=type_name, config=config)
    assert output_ports(node) == (*ports, "trigger", "error")


def test_a_wire_from_a_branch_that_is_not_listed_is_a_problem():
    config: JsonObject = {"branches": [{"name": "Yes"}, {"name": "No"}]}
    document = short("n.True -> s.x", n={"type": "branch", "config": config}, s="step")
    assert problems(document) == [
        "edge 'n.True -> s.x': node 'n' (branch) has no output port 'True'; its ports are 'Yes', "
        "'No', 'trigger', 'error'"
    ]


def test_the_case_of_a_branch_makes_no_difference_to_its_wire():
    """BR-3, FD-34."""
    config: JsonObject = {"branches": [{"name": "Yes"}, {"name": "No"}]}
    document = short("n.YES -> s.x", n={"type": "branch", "config": config}, s="step")
    assert resolve(read_graph(document), EFFECTS).graph.warnings == ()


@pytest.mark.parametrize(
    ("type_name", "config", "written", "own"),
    [
        ("template", {"template": ""}, "output", "text"),
        ("prompt_template", {"template": ""}, "text", "output"),
        ("http_request", {}, "status_code", "status"),
        ("http_request", {}, "body", "text"),
    ],
)
def test_a_wire_may_use_either_naming(type_name: str, config: JsonObject, written: str, own: str):
    nodes = [editor_node("n", type_name, config), editor_node("s", "step")]
    wire: JsonObject = {
        "source": "n",
        "target": "s",
        "sourceHandle": f"n-output-{written}",
        "targetHandle": "s-input-x",
    }
    graph = read_graph(editor(nodes, wire))
    assert wires(graph) == [(f"n.{own} -> s.x", "data")]
    assert resolve(graph, EFFECTS).type_of("n") == BUILTIN_TYPES[type_name]


# --- what other people drew ----------------------------------------------------------------------


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the editor's samples are not beside this project")
@pytest.mark.parametrize(
    ("name", "unknown"),
    [
        ("chat_pipeline", []),
        ("template_autocomplete", []),
        (
            "content_processing",
            [
                "node 'ai_content_analyzer.1': unknown type 'ai_content_analyzer'",
                "node 'text_formatter.1': unknown type 'text_formatter'",
            ],
        ),
    ],
)
def test_a_sample_of_the_editor_lacks_only_types_that_do_not_exist(name: str, unknown: list[str]):
    path: Path = SAMPLES / f"{name}.json"
    if unknown:
        assert problems(json.loads(path.read_text()))[:-1] == unknown
    else:
        assert resolve(load(path), {}).graph.id


EDITOR_TYPES = (
    *("json_loader", "text_input", "foreach", "chat_output", "text_output", "if_else", "gateway"),
    *("prompt_template", "chat_model", "notes"),
)
"""Types whose config the editor writes, with keys for itself."""


@pytest.mark.parametrize("type_name", [*BUILTIN_TYPES])
def test_an_unknown_config_key_is_refused_by_every_type_that_people_write_by_hand(
    type_name: str,
):
    found = find_problems(read_graph(short(n={"type": type_name, "config": {"unknwon": 1}})))
    refused = [problem for problem in found if "unknown config key 'unknwon'" in problem]
    assert len(refused) == (0 if type_name in EDITOR_TYPES else 1)
