"""Generated JSON values, states and commits for the property tests."""

import string
from typing import Any

from hypothesis import strategies as st

from seeding.state import RunState

NAMES = st.text(string.ascii_letters + "_/é", min_size=1, max_size=6)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8).filter(lambda text: text.isprintable())
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(NAMES, JSON, max_size=4)


def _message(role: str, content: Any, more: dict[str, Any]) -> dict[str, Any]:
    return {**more, "role": role, "content": content}


ROLES = st.sampled_from(["user", "assistant", "system", "tool"])
MESSAGES = st.lists(st.builds(_message, ROLES, JSON, OBJECTS), max_size=3)
KNOWN_FIELDS = frozenset(
    spelling
    for name, field in RunState.model_fields.items()
    for spelling in (name, field.alias or name)
)
UNKNOWN_FIELDS = st.dictionaries(
    NAMES.filter(lambda name: name not in KNOWN_FIELDS and name != "run"), JSON, max_size=3
)


@st.composite
def iterators(draw: st.DrawFn) -> dict[str, Any]:
    """An iterator in progress: at least one item, an index among them."""
    items = draw(st.lists(JSON, min_size=1, max_size=4))
    index = draw(st.integers(0, len(items) - 1))
    results = draw(st.lists(JSON, min_size=index, max_size=index))
    return {"items": items, "index": index, "results": results}


@st.composite
def live_states(draw: st.DrawFn) -> dict[str, Any]:
    """The JSON of a state of a run that has not ended, with fields nobody knows."""
    return {
        **draw(UNKNOWN_FIELDS),
        "status": None,
        "isComplete": False,
        "error": None,
        "messages": draw(MESSAGES),
        "data": draw(OBJECTS),
        "metadata": draw(OBJECTS),
        "threadId": draw(NAMES),
        "currentNodeId": draw(NAMES | st.just("")),
        "iterationCount": draw(st.integers(0, 1000)),
        "iterator": draw(st.none() | iterators()),
    }


@st.composite
def states(draw: st.DrawFn) -> dict[str, Any]:
    """The JSON of any state: live, or with one of the three outcomes."""
    state = draw(live_states())
    status = draw(st.sampled_from([None, "completed", "failed", "cancelled"]))
    if status is not None:
        error = draw(st.text(max_size=5)) if status == "failed" else None
        state |= {"status": status, "isComplete": True, "error": error}
    return state
