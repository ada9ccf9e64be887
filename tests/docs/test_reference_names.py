"""The reference names what there is: nothing is missing, nothing is made up."""

import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest
import typer.main

from activities.nodes import RESERVED_INPUTS
from client.command.verbs import app
from seeding.commits import CauseKind
from seeding.decisions import Source, WarningCode
from seeding.errors import CommandRefused, FermataError, StartRefused
from seeding.json_values import MAX_PAYLOAD_BYTES, MAX_SAFE_INTEGER, MAX_VALUE_BYTES
from tests.docs.examples import PROJECT, read_text
from workflows.commands import COMMANDS
from workflows.graph.builtin_types import BUILTIN_PORTS, BUILTIN_TYPES, PLANNED
from workflows.graph.gate_config import KEYS, KINDS, ON_DEADLINE
from workflows.inbox_model import RefusalEntry, Reply
from workflows.search_attributes import SEARCH_ATTRIBUTES
from workflows.state_updates import CONTROL_OUTPUTS
from workflows.wire import NodeCallInput

REFERENCE = read_text("docs/reference.md")
HEADINGS = re.compile(r"^## (.+)$", re.MULTILINE)
READ_FROM_THE_ENVIRONMENT = re.compile(r'"((?:FERMATA|TEMPORAL)_[A-Z_]+)"')
NOT_FOR_PEOPLE = ("TEMPORAL_CONFIG_FILE", "TEMPORAL_")
"""What the stage sets for its own children."""


def section(title: str) -> str:
    """Return the text of the section whose heading ends with ``title``."""
    parts = HEADINGS.split(REFERENCE)
    [found] = [text for name, text in zip(parts[1::2], parts[2::2], strict=True) if title in name]
    return found


def names_in(text: str) -> list[str]:
    """Return every word that stands in code, in order; examples are left out."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    spans = re.findall(r"`([^`]+)`", prose)
    return [word for span in spans for word in re.findall(r"[\w/-]+", span)]


def codes(kind: type[FermataError]) -> Iterator[str]:
    for child in kind.__subclasses__():
        yield child.code


def rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


@pytest.mark.parametrize(
    ("title", "names"),
    [
        ("Starting a run", list(codes(StartRefused))),
        ("Starting a run", [*get_args(Source), *get_args(WarningCode)]),
        ("Results and endings", list(get_args(CauseKind))),
        ("Doors", [*COMMANDS, *codes(CommandRefused), *SEARCH_ATTRIBUTES]),
        ("Graph documents", [*BUILTIN_TYPES, *KEYS, *KINDS, *ON_DEADLINE]),
        ("Graph documents", [*CONTROL_OUTPUTS]),
        ("Nodes in Python", [*RESERVED_INPUTS]),
        ("Not yet", [*PLANNED]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_section_names_everything_of_its_kind(title: str, names: list[str]) -> None:
    named = names_in(section(title))

    assert [name for name in names if name not in named] == []


def test_the_fields_of_replies_refusals_and_node_calls_are_named() -> None:
    fields = [
        field.alias or name
        for model in (Reply, RefusalEntry, NodeCallInput)
        for name, field in model.model_fields.items()
    ]

    shown = [name for name in fields if f'"{name}"' in REFERENCE or f"`{name}`" in REFERENCE]
    assert shown == fields


def test_every_type_has_its_ports_in_its_row() -> None:
    table = {name: row for row in rows(section("Graph documents")) for name in names_in(row[0])}
    own_ports = {
        name: known.outputs
        for name, known in BUILTIN_PORTS.items()
        if name not in ("foreach", "prompt_template")
    }

    missing = [
        (name, port)
        for name, ports in own_ports.items()
        for port in ports
        if port not in ("answered", "loop_active") and port not in names_in(table[name][1])
    ]
    assert missing == []


def test_nothing_that_is_there_is_listed_as_not_yet_there() -> None:
    refused = names_in(" ".join(row[0] for row in rows(section("Not yet"))))

    # These two are there, and only some of their config is not.
    there = [name for name in BUILTIN_TYPES if name not in ("gate", "foreach")]
    assert [name for name in refused if name in there] == []


def test_every_variable_that_is_read_is_in_the_table() -> None:
    code = "\n".join(
        path.read_text(encoding="utf-8")
        for folder in ("client", "activities", "temporal-dev")
        for path in sorted((PROJECT / folder).rglob("*.py"))
    )
    table = names_in(" ".join(row[0] for row in rows(section("Commands and environment"))))
    read = dict.fromkeys(READ_FROM_THE_ENVIRONMENT.findall(code))

    assert [name for name in read if name not in table and name not in NOT_FOR_PEOPLE] == []


def test_every_verb_with_its_options_is_named_and_no_other() -> None:
    text = section("Commands and environment")
    words = names_in(text)
    verbs = _verbs()

    assert [verb for verb in verbs if verb not in words] == []
    options = dict.fromkeys(option for taken in verbs.values() for option in taken)
    assert [option for option in options if option not in words] == []
    unavailable = [row[0] for row in rows(section("Not yet")) if row[0].startswith("`fermata")]
    assert [row for row in unavailable for verb in names_in(row)[1:] if verb in verbs] == []


def _verbs() -> dict[str, list[str]]:
    """Return the long options of each verb, without those that all of them have."""
    # Typer leaves the types of its commands open.
    group: Any = typer.main.get_command(app)
    return {
        str(name): [
            str(option)
            for parameter in command.params
            for option in parameter.opts
            if option.startswith("--") and option not in ("--json", "--help")
        ]
        for name, command in group.commands.items()
    }


def test_every_target_of_the_makefile_is_named() -> None:
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r'@echo "make (\w+) ', makefile)

    assert [name for name in targets if f"`make {name}`" not in REFERENCE] == []


def test_the_sizes_are_the_ones_that_are_enforced() -> None:
    text = section("Sizes and bounds")

    assert (MAX_PAYLOAD_BYTES, MAX_VALUE_BYTES, MAX_SAFE_INTEGER) == (256 << 10, 64 << 10, 2**53)
    assert all(size in text for size in ("256 KB", "64 KB", "192 KB", "16 KB", "2^53", "10,000"))


def test_every_entry_of_the_contents_leads_to_its_section() -> None:
    titles = HEADINGS.findall(REFERENCE)
    entries = re.findall(r"^\d+\. \[(.+?)\]\(#", REFERENCE, re.MULTILINE)

    assert entries == [re.sub(r"^\d+\. ", "", title) for title in titles]


def test_every_warning_of_the_linter_is_named_and_no_other() -> None:
    sources = sorted((PROJECT / "workflows" / "linting").glob("*.py"))
    given = {
        code
        for source in sources
        for code in re.findall(r'code="([a-z_]+)"', source.read_text(encoding="utf-8"))
    }
    table = REFERENCE.partition("### What `graph check` warns of")[2].partition("\n\n#")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert sorted(name for row in rows for name in names_in(row)) == sorted(given)
