"""``graph check`` and ``graph show`` on documents of the short form."""

from collections.abc import Callable
from pathlib import Path

import pytest
from command_runner import Answer
from live_stage import STAGE

from client.mermaid import ENTRY_STYLE, LEGEND, TOOL_STYLE, mermaid
from workflows.graph.digest import graph_digest
from workflows.graph.document import read_graph
from workflows.graph.model import Edge, Graph, Node
from workflows.graph.text import parse_document

Command = Callable[..., Answer]

EXPENSE_REVIEW = str(STAGE / "graphs" / "expense-review.yaml")
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
  - {id: each, type: for_each, config: {maxRounds: 0}}
edges:
  - items.vlaue -> each.items
"""

NESTED = """
id: nested
nodes:
  - {id: draft, type: write, config: {maxRounds: 3}}
  - {id: each, type: for_each}
  - {id: check, type: look}
  - {id: judge, type: look}
  - {id: poll, type: look}
edges:
  - draft.parts -> each.items
  - each.current_item -> check.item
  - check.out -> each.loop_back
  - each.collected_results -> judge.results
  - judge.again -> draft.loop_back
  - poll.out -> poll.loop_back
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
        text = GREET.replace("greeting", "http_request").replace("say.item", "say.url")
        digest = graph_digest(read_graph(parse_document(text, "greet.yaml")))[:16]

        answer = fermata("graph", "check", document(text))

        assert (answer.code, answer.out, answer.err) == (0, f"greet@{digest} can run\n", "")

    def test_without_node_modules_an_unknown_type_is_named_and_no_problem(
        self, fermata: Command, document: Callable[[str], str]
    ) -> None:
        digest = graph_digest(read_graph(parse_document(GREET, "greet.yaml")))[:16]

        answer = fermata("graph", "check", document(GREET))

        said = f"greet@{digest} reads well; types not known here: greeting\n"
        assert (answer.code, answer.out, answer.err) == (0, said, "")

    def test_problems_stand_one_a_line_and_exit_1(
        self, fermata: Command, document: Callable[[str], str]
    ) -> None:
        file = document(BROKEN)

        answer = fermata("graph", "check", file)

        assert answer.code == 1
        assert len(answer.out.splitlines()) == 2
        assert "node 'each': config maxRounds is 0" in answer.out
        assert "no output port 'vlaue'" in answer.out
        assert answer.err == f"InvalidGraph: {file} has 2 problems\n"

    def test_with_json_there_is_one_document(
        self, fermata: Command, document: Callable[[str], str]
    ) -> None:
        report = fermata("graph", "check", document(GREET), "--json").document

        assert (report["problems"], report["warnings"]) == ([], [])
        assert report["unknownTypes"] == ["greeting"]
        assert report["graph"].startswith("greet@")

    def test_a_warning_begins_with_its_code_and_keeps_nothing_from_running(
        self, fermata: Command, document: Callable[[str], str]
    ) -> None:
        file = document(NESTED)

        answer = fermata("graph", "check", file)

        assert answer.code == 0
        assert [line.split(": ")[:2] for line in answer.err.splitlines()] == [
            ["warning", "endless_loop"],
        ]

    def test_with_strict_a_warning_is_exit_1(
        self, fermata: Command, document: Callable[[str], str]
    ) -> None:
        file = document(NESTED)

        answer = fermata("graph", "check", file, "--strict")

        assert answer.code == 1
        assert answer.err.splitlines()[-1] == f"{file} has 1 warning"
        assert fermata("graph", "check", document(GREET), "--strict").code == 0

    def test_with_json_a_warning_names_its_node_and_edge(
        self, fermata: Command, document: Callable[[str], str]
    ) -> None:
        warning = fermata("graph", "check", document(NESTED), "--json").document["warnings"][0]

        assert (warning["code"], warning["node"]) == ("endless_loop", "poll")
        assert warning["edge"] == "poll.out -> poll.loop_back"

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
    def test_values_loops_and_the_wire_back_are_told_apart(
        self, fermata: Command, document: Callable[[str], str]
    ) -> None:
        assert fermata("graph", "show", document(GREET)).out.splitlines() == [
            "flowchart TD",
            *(f"    {line}" for line in LEGEND),
            '    n1[/"items (value)"/]',
            '    subgraph loop0["loop of each: once for each item"]',
            '        n0[["each (for_each)"]]',
            '        n2["say (greeting)"]',
            "    end",
            '    n0 -->|"current_item → item"| n2',
            '    n1 -->|"value → items"| n0',
            '    n2 -.->|"text → loop_back"| n0',
            f"    {ENTRY_STYLE}",
            "    class n1 entry",
        ]

    def test_loops_in_loops_are_frames_in_frames(
        self, fermata: Command, document: Callable[[str], str]
    ) -> None:
        lines = fermata("graph", "show", document(NESTED)).out.splitlines()

        frames = [line for line in lines if "subgraph" in line or line.strip() == "end"]
        assert frames == [
            '    subgraph loop0["loop of draft: at most 3 rounds"]',
            '        subgraph loop1["loop of each: once for each item"]',
            "        end",
            "    end",
            '    subgraph loop2["loop of poll: no limit of its own"]',
            "    end",
        ]
        back = [index for index, line in enumerate(lines) if "-.->" in line]
        forward = [index for index, line in enumerate(lines) if "-->" in line and "-." not in line]
        assert max(forward) < min(back)

    def test_a_gate_has_a_shape_and_a_style_of_its_own(self, fermata: Command) -> None:
        lines = fermata("graph", "show", EXPENSE_REVIEW).out.splitlines()

        asks = "Over the limit. Pay {item}?<br/>by 2d, else deny"
        assert f'        n2{{{{"gate (gate)<br/>{asks}"}}}}' in lines
        assert '    n0 -->|"over → item"| n2' in lines
        assert "    class n2 gate" in lines

    @pytest.mark.parametrize(
        ("edge", "drawn"),
        [
            ("a.done -> b.trigger", '==>|"done → trigger"|'),
            ("a.error -> b.problem", '--x|"error → problem"|'),
            ("a.done -> b.item", '-->|"done → item"|'),
        ],
    )
    def test_every_kind_of_wire_has_its_own_line(
        self, fermata: Command, document: Callable[[str], str], edge: str, drawn: str
    ) -> None:
        text = f"id: two\nnodes: [{{id: a, type: x}}, {{id: b, type: x}}]\nedges: ['{edge}']\n"

        assert f"    n0 {drawn} n1" in fermata("graph", "show", document(text)).out.splitlines()

    def test_a_tool_wire_ends_in_a_ring_and_is_pale(self) -> None:
        nodes = (Node(id="a", type="x"), Node(id="b", type="x"))
        wire = Edge(source="a", source_port="tool", target="b", target_port="tools", kind="tool")

        lines = mermaid(Graph(id="two", nodes=nodes, edges=(wire,))).splitlines()
        assert '    n0 --o|"tool → tools"| n1' in lines
        assert lines[-1] == f"    linkStyle 0 {TOOL_STYLE}"

    @pytest.mark.parametrize(
        ("node_id", "shown"),
        [
            ('say "hi" <b>#1', "say #quot;hi#quot; #lt;b#gt;#35;1"),
            ("`code` a|b;c", "#96;code#96; a#124;b#59;c"),
            ("%%{init}%% $$x$$ &amp;", "#37;#37;{init}#37;#37; #36;#36;x#36;#36; #amp;amp#59;"),
            ("two\nlines", "two lines"),
            ("end", "end"),
        ],
    )
    def test_names_hold_no_syntax(self, node_id: str, shown: str) -> None:
        graph = Graph(id="odd", nodes=(Node(id=node_id, type="fetch"),), edges=())

        assert mermaid(graph).splitlines()[3] == f'    n0["{shown} (fetch)"]'

    def test_with_json_there_is_one_document(
        self, fermata: Command, document: Callable[[str], str]
    ) -> None:
        shown = fermata("graph", "show", document(GREET), "--json").document

        assert shown["graph"] == "greet"
        assert shown["mermaid"].startswith("flowchart TD\n")
