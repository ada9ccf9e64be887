"""No example without a test, no link into nothing."""

import ast
import re
from pathlib import Path

import pytest

from tests.docs.examples import DOCUMENTS, PROJECT, all_examples, difference, read_text

TESTS = Path(__file__).parent
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def _tested() -> dict[tuple[str, str], str]:
    """Document and name of every ``example(document, name)`` in the tests beside this one."""
    found: dict[tuple[str, str], str] = {}
    for path in sorted(TESTS.glob("*.py")):
        for part in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(part, ast.Call) and getattr(part.func, "id", "") == "example":
                document, name = (ast.literal_eval(argument) for argument in part.args)
                found[(document, name)] = path.name
    return found


def test_every_fenced_block_has_a_language_and_a_name_of_its_own() -> None:
    named = [(one.document, one.name) for one in all_examples()]

    assert all(one.language and one.name for one in all_examples())
    assert len(named) == len(dict.fromkeys(named))


def test_every_fenced_block_is_used_by_a_test() -> None:
    tested = _tested()

    assert [
        (one.document, one.name) for one in all_examples() if (one.document, one.name) not in tested
    ] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_link_leads_to_a_file_a_heading_or_public_documentation(document: str) -> None:
    for target in LINK.findall(read_text(document)):
        path, _, anchor = target.partition("#")
        if path.startswith("https://"):
            assert path.startswith(("https://temporal.io", "https://jmespath.org"))
            continue
        linked = (PROJECT / document).parent / path if path else PROJECT / document
        assert linked.exists(), target
        if anchor:
            assert anchor in _anchors(linked.read_text(encoding="utf-8")), target


def _anchors(text: str) -> list[str]:
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]


class TestComparing:
    def test_what_is_elided_fits_anything_and_the_run_id_only_itself(self) -> None:
        assert difference({"a": "R:1", "b": "x@…"}, {"a": "run:1", "b": "x@12"}, "run") is None
        assert difference({"a": "R:1"}, {"a": "other:1"}, "run") is not None
        assert difference(["…", "…"], [1, {"b": []}], "run") is None

    @pytest.mark.parametrize(
        ("shown", "actual"),
        [({"a": 1}, {"a": 1, "b": 2}), ([1], [1, 2]), (1, True), (1, 1.0), (None, False)],
    )
    def test_everything_else_must_be_equal_type_included(
        self, shown: object, actual: object
    ) -> None:
        assert difference(shown, actual, "run") is not None
