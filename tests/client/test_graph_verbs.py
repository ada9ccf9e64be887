"""``graph check`` and ``graph show`` on documents of the short form."""

from collections.abc import Callable
from pathlib import Path

import pytest
from command_runner import Answer

from workflows.graph.digest import graph_digest
from workflows.graph.document import read_graph
from workflows.graph.text import parse_document

Command = Callable[..., Answer]

GREET = """
id: greet
nodes:
  - {id: items, type: value}
  - {id: each, type: for_each}
  - {id: say, type: greeting}
edges:
  - items.value -> each.items
  - each.current_item -> say.item
  - say.text -> each.loop_back
"""
BROKEN = """
id: broken
nodes:
  - {id: items, type: value}
  - {id: later, type: switch}
edges:
  - items.vlaue -> later.data
"""


@pytest.fixture
def document(tmp_path: Path) -> Callable[[str], str]:
    def write(text: str) -> str:
        file = tmp_path / "graph.yaml"
        file.write_text(text)
        return str(file)

    return write


class TestCheck:
    def test_a_graph_that_can_run_is_named_with_its_digest(
        self, fermata: Command, document: Callable[[str], str]
    ) -> None:
        digest = graph_digest(read_graph(parse_document(GREET, "greet.yaml")))[:16]

        answer = fermata("graph", "check", document(GREET))

        assert (answer.code, answer.out, answer.err) == (0, f"greet@{digest} can run\n", "")

    def test_problems_stand_one_a_line_and_exit_1(
        self, fermata: Command, document: Callable[[str], str]
    ) -> None:
        file = document(BROKEN)

        answer = fermata("graph", "check", file)

        assert answer.code == 1
        assert len(answer.out.splitlines()) == 2
        assert "node 'later': type 'switch' is not available" in answer.out
        assert "no output port 'vlaue'" in answer.out
        assert answer.err == f"InvalidGraph: {file} has 2 problems\n"

    def test_with_json_there_is_one_document(
        self, fermata: Command, document: Callable[[str], str]
    ) -> None:
        report = fermata("graph", "check", document(GREET), "--json").document

        assert (report["problems"], report["warnings"]) == ([], [])
        assert report["graph"].startswith("greet@")

    def test_where_node_modules_are_named_an_unknown_type_is_a_problem(
        self,
        fermata: Command,
        document: Callable[[str], str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setenv("FERMATA_NODES", "sample_nodes")

        answer = fermata("graph", "check", document(GREET))

        assert answer.code == 1
        assert "node 'say': unknown type 'greeting'" in answer.out

    def test_a_file_that_is_not_there_is_a_usage_error(self, fermata: Command) -> None:
        assert "none.yaml cannot be read" in fermata("graph", "check", "none.yaml").usage_error

    def test_a_document_that_is_no_yaml_is_a_problem(
        self, fermata: Command, document: Callable[[str], str]
    ) -> None:
        answer = fermata("graph", "check", document("id: [\n"))

        assert (answer.code, len(answer.out.splitlines())) == (1, 1)


class TestShow:
    def test_it_is_a_mermaid_flowchart(
        self, fermata: Command, document: Callable[[str], str]
    ) -> None:
        assert fermata("graph", "show", document(GREET)).out.splitlines() == [
            "flowchart TD",
            '    n0["each (for_each)"]',
            '    n1["items (value)"]',
            '    n2["say (greeting)"]',
            '    n0 -->|"current_item → item"| n2',
            '    n1 -->|"value → items"| n0',
            '    n2 -.->|"text → loop_back"| n0',
        ]

    def test_names_hold_no_syntax(self, fermata: Command, document: Callable[[str], str]) -> None:
        text = "id: odd\nnodes:\n  - {id: 'say \"hi\" <b>#1', type: reply}\nedges: []\n"

        assert fermata("graph", "show", document(text)).out.splitlines()[1] == (
            '    n0["say #quot;hi#quot; #lt;b#gt;#35;1 (reply)"]'
        )
