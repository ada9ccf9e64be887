"""From text to a JSON value: what JSON and YAML may say, and what they may not."""

import pytest

from seeding.errors import InvalidGraph
from seeding.json_values import MAX_DEPTH
from seeding.model import Json
from workflows.graph.document import read_graph
from workflows.graph.text import parse_document, parse_json_text


def refusal(text: str, name: str = "x.yaml") -> str:
    with pytest.raises(InvalidGraph) as refused:
        parse_document(text, name)
    return refused.value.message


def test_json_and_yaml_say_the_same():
    text = '{"a": [1, 1.0, true, null, "x"], "b": {}}'
    value: Json = {"a": [1, 1.0, True, None, "x"], "b": {}}
    assert parse_document(text, "x.json") == value
    assert parse_document("a: [1, 1.0, true, null, x]\nb: {}\n", "x.yaml") == value
    assert parse_document("\ufeff" + text, "x.json") == value


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("NO", "NO"),
        ("no", "no"),
        ("yes", "yes"),
        ("On", "On"),
        ("true", True),
        ("False", False),
        ("~", None),
        ("", None),
        ("null", None),
        ("010", 10),
        ("0o10", 8),
        ("0x1F", 31),
        ("-7", -7),
        ("12:30:00", "12:30:00"),
        ("1_000", "1_000"),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("1.2.3", "1.2.3"),
        ("'NO'", "NO"),
        ('"12"', "12"),
        ('"2024-01-01"', "2024-01-01"),
        ("!!str 12", "12"),
        ("=", "="),
        ("&name text", "text"),
    ],
)
def test_a_plain_scalar_means_what_yaml_1_2_says(written: str, value: Json):
    """``NO`` is a text: a country is not turned into false."""
    read = parse_document(f"a: {written}\n", "x.yaml")
    assert read == {"a": value}
    assert type(read["a"]) is type(value)


def test_a_merge_key_is_a_key_like_any_other():
    assert parse_document("<<: {a: 1}\n", "x.yaml") == {"<<": {"a": 1}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a: 2024-01-01",
            "x.yaml, line 1, column 4: 2024-01-01 is a date, which JSON has not: "
            "write it in quotes",
        ),
        (
            "a: 2001-12-14t21:59:43.10-05:00",
            "x.yaml, line 1, column 4: 2001-12-14t21:59:43.10-05:00 is a date, "
            "which JSON has not: write it in quotes",
        ),
        ("a: .nan", "x.yaml, line 1, column 4: .nan is no JSON number"),
        ("a: -.inf", "x.yaml, line 1, column 4: -.inf is no JSON number"),
        (
            "a: !!binary aGk=",
            "x.yaml, line 1, column 4: the tag tag:yaml.org,2002:binary has no meaning "
            "in a graph document",
        ),
        (
            "a: !!python/object/apply:os.system [ls]",
            "x.yaml, line 1, column 4: the tag tag:yaml.org,2002:python/object/apply:os.system "
            "has no meaning in a graph document",
        ),
        (
            "a: !!set {x: null}",
            "x.yaml, line 1, column 4: the tag tag:yaml.org,2002:set has no meaning "
            "in a graph document",
        ),
        ("a: 1\nb: 2\na: 3", "x.yaml, line 3, column 1: the key 'a' stands twice in one object"),
        ("1: x", "x.yaml, line 1, column 1: the key 1 is no text: write it in quotes"),
        ("[a]: x", "x.yaml, line 1, column 1: the key ['a'] is no text: write it in quotes"),
        (
            "a: &b [1]\nc: *b",
            "x.yaml, line 2, column 4: the alias *b: write the value out instead",
        ),
        (
            "a: &b {x: 1}\n<<: *b",
            "x.yaml, line 2, column 5: the alias *b: write the value out instead",
        ),
        ("a: 1\n---\nb: 2", "x.yaml holds more than one YAML document"),
        ("", "x.yaml is empty"),
        ("# nothing", "x.yaml is empty"),
        ("a: " + "9" * 5000, "x.yaml, line 1, column 4: a number has too many digits"),
    ],
)
def test_what_yaml_can_say_and_json_cannot_is_refused(text: str, message: str):
    assert refusal(text) == message


def test_broken_text_is_refused_with_its_place():
    assert refusal("a: [1, 2").startswith("x.yaml is neither JSON nor YAML: ")
    assert "line 1, column 4" in refusal("a: [1, 2")
    assert refusal("a: \x00").startswith("x.yaml is neither JSON nor YAML: ")


def test_yaml_is_not_tried_on_a_json_file():
    assert refusal("a: 1", "x.json").startswith("x.json is no JSON: Expecting value: line 1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1, "a": 2}', "x.json: the key 'a' stands twice in one object"),
        ('{"a": NaN}', "x.json: NaN is no JSON number"),
        ('{"a": -Infinity}', "x.json: -Infinity is no JSON number"),
        ('{"a": ' + "9" * 5000 + "}", "x.json: a number has too many digits"),
        ("[" * 200_000, f"x.json nests deeper than {MAX_DEPTH} levels"),
    ],
)
def test_what_json_readers_do_not_agree_on_is_refused(text: str, message: str):
    assert refusal(text, "x.json") == message


def test_a_deep_yaml_text_is_refused():
    deep = MAX_DEPTH + 1
    said = refusal("a: " + "[" * deep + "x" + "]" * deep)
    assert f"nests deeper than {MAX_DEPTH} levels" in said


def test_a_large_text_is_refused_before_it_is_read():
    text = "a: " + "x" * 1_000_000
    assert refusal(text) == "x.yaml has 1000003 bytes; a graph document has at most 1000000"


def test_an_integer_beyond_what_json_keeps_is_refused_when_the_graph_is_read():
    document = parse_document(
        "id: g\nnodes: [{id: a, type: step, config: {n: 9007199254740993}}]", "x.yaml"
    )
    with pytest.raises(InvalidGraph, match=r"nodes\.0\.config\.n: integer beyond 2\^53"):
        read_graph(document)


def test_the_json_of_a_config_is_read_strictly():
    assert parse_json_text("[1, 2]", "jsonData") == [1, 2]
    for text in ("{a: 1}", "[1e999]", "[9007199254740993]", '["\\ud800"]', "[" * (2 * MAX_DEPTH)):
        with pytest.raises(InvalidGraph, match="jsonData"):
            parse_json_text(text, "jsonData")
