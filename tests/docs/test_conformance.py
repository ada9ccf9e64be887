"""docs/conformance.md: no case without a row, no row that names a test that is not there."""

import re

import pytest

from tests.docs.examples import PROJECT, read_text

AWAKEN = {
    "5.1": (1, 3, 4, 6, 7, 9, 10, 11, 12, 14, 15, 17),
    "5.2": (18, 19, 21, 22, 24),
    "5.3": (25, 26, 27, 28, 30, 31, 32, 34),
    "5.5": (52, 53, 55, 56, 57, 59, 61, 62, 64, 65, 66),
    "5.6": (67, 69, 70, 72, 73, 74),
}
"""The numbers of the model's cases, by section."""

ROW = re.compile(r"^\| ((?:AW|FD|KU|PB|SG)-\w+) \| (.+) \| (.+) \|$", re.MULTILINE)
NAMED = re.compile(r"def (test_\w*aw_\d\w*)\(")
SHOWN = re.compile(r"`([\w/]+\.py)(?:::(test_\w+))?`")


def rows() -> list[tuple[str, str, str]]:
    return ROW.findall(read_text("docs/conformance.md"))


@pytest.mark.parametrize("section", AWAKEN)
def test_every_case_has_a_row_and_only_one(section: str) -> None:
    listed = [case for case, _, _ in rows()]
    for number in AWAKEN[section]:
        assert listed.count(f"AW-{number}") == 1, number


def test_every_test_that_is_named_is_there() -> None:
    for case, _, shown in rows():
        named = SHOWN.findall(shown)
        assert named or shown == "does not arise", case
        for path, function in named:
            text = (PROJECT / "tests" / path).read_text(encoding="utf-8")
            assert not function or f"def {function}(" in text, (case, path, function)


def test_what_does_not_arise_says_why() -> None:
    for case, asked, shown in rows():
        if shown == "does not arise":
            assert ". " in asked, case


def test_a_test_that_is_named_for_a_case_is_in_the_row_of_that_case() -> None:
    shown = {case: shown for case, _, shown in rows()}
    for path in sorted((PROJECT / "tests").glob("*/test_*.py")):
        for function in NAMED.findall(path.read_text(encoding="utf-8")):
            for number in re.findall(r"_aw_(\d+)", function):
                assert function in shown[f"AW-{number}"], function
