"""What ``start`` and ``resume`` accept as options, and how a wrong one is named."""

from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from command_runner import Answer

from client.command import options

Command = Callable[..., Answer]


class TestInput:
    def test_a_port_is_given_by_its_address(self) -> None:
        assert options.node_inputs("--input", ["items.value=[50, 150]"]) == {
            "items": {"value": [50, 150]}
        }

    def test_the_last_dot_parts_node_and_port(self) -> None:
        assert options.node_inputs("--input", ["a.b.value=1"]) == {"a.b": {"value": 1}}

    def test_an_object_and_ports_add_up(self) -> None:
        given = ['{"a": {"x": 1}}', "a.y=2", "b.x=null"]

        assert options.node_inputs("--input", given) == {"a": {"x": 1, "y": 2}, "b": {"x": None}}

    def test_a_file_holds_an_object(self, tmp_path: Path) -> None:
        file = tmp_path / "input.json"
        file.write_text('{"items": {"value": [1]}}')

        assert options.node_inputs("--input", [str(file)]) == {"items": {"value": [1]}}

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("items.value=[50,", "the value of items.value is no JSON"),
            ("items.value=NaN", "NaN is no JSON value"),
            ("value=1", "'value' is no <node>.<port>"),
            ("{", "the value is no JSON"),
            ('{"items": 1}', "'items' is no object of values by port"),
            ('{"a": {}, "a": {}}', "key 'a' is given twice"),
            ("nowhere.json", "'nowhere.json' is neither a JSON object"),
        ],
    )
    def test_what_cannot_be_read_is_a_usage_error_naming_the_option(
        self, fermata: Command, text: str, said: str
    ) -> None:
        error = fermata("start", "alice", "greet", "--input", text).usage_error

        assert "Invalid value for --input: " in error
        assert said in error


class TestObjects:
    @pytest.mark.parametrize("option", ["--data", "--metadata", "--config"])
    @pytest.mark.parametrize("text", ["{bad", "[1]", "nothing"])
    def test_bad_json_is_a_usage_error_naming_the_option(
        self, fermata: Command, option: str, text: str
    ) -> None:
        error = fermata("start", "alice", "greet", option, text).usage_error

        assert f"Invalid value for {option}: " in error

    @pytest.mark.parametrize("text", ["null", "[]", "{"])
    def test_a_snapshot_file_holds_an_object(
        self, fermata: Command, tmp_path: Path, text: str
    ) -> None:
        file = tmp_path / "snapshot.json"
        file.write_text(text)

        error = fermata("start", "alice", "greet", "--snapshot", str(file)).usage_error

        assert "Invalid value for --snapshot: " in error

    def test_a_snapshot_file_that_is_not_there_is_named(self, fermata: Command) -> None:
        error = fermata("start", "alice", "greet", "--snapshot", "none.json").usage_error

        assert "none.json cannot be read: No such file or directory" in error

    def test_an_empty_state_counts_as_a_snapshot(self, tmp_path: Path) -> None:
        file = tmp_path / "snapshot.json"
        file.write_text("{}")

        assert options.snapshot("--snapshot", file) == {}
        assert options.snapshot("--snapshot", None) is None


class TestGraph:
    @pytest.mark.parametrize("name", ["greet", "greet@0123456789abcdef"])
    def test_an_id_is_sent_as_it_is(self, name: str) -> None:
        assert options.graph(name) == name

    def test_a_path_is_sent_as_the_document_it_holds(self, tmp_path: Path) -> None:
        file = tmp_path / "greet.yaml"
        file.write_text("id: greet\nnodes:\n  - {id: hello, type: reply}\nedges: []\n")

        assert options.graph(str(file)) == {
            "id": "greet",
            "nodes": [{"id": "hello", "type": "reply"}],
            "edges": [],
        }

    def test_a_path_that_is_not_there_is_a_usage_error(self) -> None:
        with pytest.raises(typer.BadParameter, match="cannot be read"):
            options.graph("graphs/none.yaml")

    def test_a_file_that_is_no_document_is_refused_by_name(
        self, fermata: Command, tmp_path: Path
    ) -> None:
        file = tmp_path / "list.yaml"
        file.write_text("- 1\n")

        refusal = fermata("start", "alice", str(file)).refusal

        assert refusal.startswith("InvalidGraph: ")
        assert "holds no graph document" in refusal


class TestValue:
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("5", 5),
            ("null", None),
            ('{"a": [1]}', {"a": [1]}),
            ('"5"', "5"),
            ("yes please", "yes please"),
            ("NaN", "NaN"),
            ("", ""),
        ],
    )
    def test_json_is_read_and_anything_else_is_a_text(self, text: str, value: object) -> None:
        assert options.answer_value(text) == value


class TestBeforeTheServer:
    def test_an_unknown_key_of_the_config_is_named(self, fermata: Command) -> None:
        refusal = fermata("start", "alice", "greet", "--config", '{"maxRounds": 3}').refusal

        assert refusal == (
            "InvalidRequest: the request cannot be read: config.maxRounds: unknown field"
        )

    def test_keys_of_the_config_are_camel_case_only(self, fermata: Command) -> None:
        refusal = fermata("start", "alice", "greet", "--config", '{"max_iterations": 3}').refusal

        assert "config.max_iterations: unknown field" in refusal

    def test_a_thread_id_with_a_slash_is_refused(self, fermata: Command) -> None:
        assert fermata("start", "a/b", "greet").refusal.startswith("InvalidRequest: ")

    @pytest.mark.parametrize("arguments", [("start", "alice"), ("state",), ("sing", "alice")])
    def test_a_wrong_use_exits_2(self, fermata: Command, arguments: tuple[str, ...]) -> None:
        assert fermata(*arguments).usage_error
