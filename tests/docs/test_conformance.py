"""docs/conformance.md: no case without a row, no row that names a test that is not there."""

import re

import pytest

from tests.docs.examples import PROJECT, read_text

AWAKEN = {
    "5.1": (1, 3, 4, 6, 7, 9, 10, 11, 12, 14, 15, 17),
    "5.2": (18, 19, 21, 22, 24),
    "5.3": (25, 26, 27, 28, 30, 31, 32, 34),
    "5.4": (35, 36, 38, 39, 41, 42, 44, 45, 47, 48, 49, 51),
    "5.5": (52, 53, 55, 56, 57, 59, 61, 62, 64, 65, 66),
    "5.6": (67, 69, 70, 72, 73, 74),
}
"""The numbers of the model's cases, by section."""

GRAPHS = {
    "SG": (*range(1, 21),),
    "ORC": (*range(1, 6), *range(9, 16)),
    "ERR": (*range(1, 12), 13),
    "DATA": (*range(1, 10),),
    "BR": (*range(1, 8),),
    "CMP": (5,),
    "PIPE": (*range(1, 6), 9),
    "INT": (*range(1, 8), 11, 12, 13, 14, 15, 16, 17, 18, 23),
}
"""The numbers of the rules that a run of a graph has to keep, by family."""

FLOWS = {
    "5.1": (1, 2, 4, 5, 6, 7, 9, 10, 11),
    "5.2": (13, 14, 16, 17, 18, 20, 21),
    "5.3": (23, 24, 25, 26, 28, 29, 31),
    "5.4": (32, 34, 35, 36, 37, 38, 39, 40, 41, 42, 44, 45, 47, 48, 49, 50, 51, 53),
}
"""The numbers of the cases (FD) that these rules lead to, by section."""

CONVERSATIONS = {
    "5.1": (1, 3, 5, 6, 8, 9, 11, 12, 13, 15, 16),
    "5.3": (34, 35, 37, 38, 40, 41, 42, 44),
}
"""The numbers of the cases (KU) of waits and of what comes in, by section."""

FAULTS = {
    "B": (1, 2, 4, 5, 7, 8, 10, 11, 13, 14, 16, 17, 19, 20, 22, 23, 25, 26, 28, 29),
    "D": (1, 2, 4, 5, 7, 8, 10, 11),
    "E": (1, 2, 4, 5, 7, 8, 10, 11),
    "F": (1, 2, 4, 8, 10, 11, 13, 14),
}
"""The numbers of the faults (PB) that name answers, cancels, messages or deadlines, by section."""

EXPECTED = {
    **{f"AW {section}": [f"AW-{number}" for number in AWAKEN[section]] for section in AWAKEN},
    **{family: [f"{family}-{number}" for number in GRAPHS[family]] for family in GRAPHS},
    **{f"FD {section}": [f"FD-{number}" for number in FLOWS[section]] for section in FLOWS},
    **{f"KU {part}": [f"KU-{number}" for number in CONVERSATIONS[part]] for part in CONVERSATIONS},
    **{f"PB {part}": [f"PB-{part}{number}" for number in FAULTS[part]] for part in FAULTS},
}
"""Every case and rule that has a row, by table."""

FAMILIES = "|".join(("AW", "FD", "KU", "PB", *GRAPHS))
ROW = re.compile(rf"^\| ((?:{FAMILIES})-\w+) \| (.+) \| (.+) \|$", re.MULTILINE)
NAMED = re.compile(r"def (test_\w*(?:aw|fd|ku|pb)_[b-f]?\d\w*)\(")
CASES = re.compile(r"_(aw|fd|ku|pb)_([b-f]?\d+)")
SAID = re.compile(r"\bFD-\d+\b")
SHOWN = re.compile(r"`([\w/]+\.py)(?:::(test_\w+))?`")


def rows() -> list[tuple[str, str, str]]:
    return ROW.findall(read_text("docs/conformance.md"))


@pytest.mark.parametrize("table", EXPECTED)
def test_every_case_has_a_row_and_only_one(table: str) -> None:
    listed = [case for case, _, _ in rows()]
    assert {case: listed.count(case) for case in EXPECTED[table]} == dict.fromkeys(
        EXPECTED[table], 1
    )


def test_no_table_has_a_rule_that_is_not_expected() -> None:
    listed = [case for case, _, _ in rows() if not case.startswith("AW-")]
    expected = [case for table in EXPECTED for case in EXPECTED[table]]
    assert sorted(set(listed) - set(expected)) == []


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
            for family, number in CASES.findall(function):
                assert function in shown[f"{family.upper()}-{number.upper()}"], function


def test_a_test_that_speaks_of_a_case_speaks_of_one_that_is_listed() -> None:
    listed = {case for case, _, _ in rows()}
    for path in sorted((PROJECT / "tests").glob("*/test_*.py")):
        said = SAID.findall(path.read_text(encoding="utf-8"))
        assert [case for case in said if case not in listed] == [], path.name
