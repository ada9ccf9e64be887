"""The examples of README and docs: every fenced block, by file and name, and how one is compared.

The info line of a block is its language and its name: ``json state``, ``sh demo``. In an example
``…`` stands for whatever a run puts there, and a text that is ``R`` or begins with ``R:`` for the
id of the run it is compared with.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from seeding.model import Json, JsonObject, as_list, as_object

PROJECT = Path(__file__).resolve().parents[2]
DOCUMENTS = ("README.md", *sorted(f"docs/{path.name}" for path in PROJECT.glob("docs/*.md")))
ELLIPSIS = "…"

_FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    """One fenced block of a document."""

    document: str
    language: str
    name: str
    text: str

    @property
    def value(self) -> Json:
        """The value of a JSON example."""
        return json.loads(self.text)


def read_text(document: str) -> str:
    """Return a document's text."""
    return (PROJECT / document).read_text(encoding="utf-8")


def all_examples() -> list[Example]:
    """Return every fenced block of every document, in order."""
    found: list[Example] = []
    for document in DOCUMENTS:
        for block in _FENCE.finditer(read_text(document)):
            language, _, name = block["info"].strip().partition(" ")
            found.append(Example(document, language, name, block["text"]))
    return found


def example(document: str, name: str) -> Example:
    """Return the example of that name in a document."""
    [found] = [one for one in all_examples() if (one.document, one.name) == (document, name)]
    return found


def difference(shown: Json, actual: Json, run_id: str, where: str = "$") -> str | None:
    """Return where ``actual`` is not what an example shows, or None where it is all of it."""
    ours, theirs = as_object(shown), as_object(actual)
    if ours is not None and theirs is not None:
        return _object_difference(ours, theirs, run_id, where)
    left, right = as_list(shown), as_list(actual)
    if left is not None and right is not None:
        return _list_difference(left, right, run_id, where)
    if isinstance(shown, str) and (shown == ELLIPSIS or _fits(shown, actual, run_id)):
        return None
    # JSON alone tells 1, 1.0 and true apart.
    same = json.dumps(shown) == json.dumps(actual)
    return None if same else f"{where}: {shown!r} in the example, {actual!r} in the run"


def _object_difference(
    shown: JsonObject, actual: JsonObject, run_id: str, where: str
) -> str | None:
    if sorted(shown) != sorted(actual):
        return f"{where} has {sorted(shown)} in the example, {sorted(actual)} in the run"
    found = (difference(shown[name], actual[name], run_id, f"{where}.{name}") for name in shown)
    return next((one for one in found if one), None)


def _list_difference(shown: list[Json], actual: list[Json], run_id: str, where: str) -> str | None:
    if len(shown) != len(actual):
        return f"{where} has {len(shown)} items in the example, {len(actual)} in the run"
    pairs = enumerate(zip(shown, actual, strict=True))
    found = (difference(a, b, run_id, f"{where}[{index}]") for index, (a, b) in pairs)
    return next((one for one in found if one), None)


def _fits(shown: str, actual: Json, run_id: str) -> bool:
    if not isinstance(actual, str):
        return False
    if shown == "R" or shown.startswith("R:"):
        shown = run_id + shown[1:]
    parts = (re.escape(part) for part in shown.split(ELLIPSIS))
    return re.fullmatch(".*".join(parts), actual, re.DOTALL) is not None
