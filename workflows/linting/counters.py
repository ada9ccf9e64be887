"""Loop counters that are kept in the thread's data."""

import re
from collections.abc import Iterator

from seeding.model import as_object
from workflows.linting.advice import Advice
from workflows.linting.ways import Ways
from workflows.plan import Plan

_COUNTING = re.compile(
    r"(^|_)(count|counter|counts|index|iteration|iterations|round|rounds|attempt|attempts|try|"
    r"tries|retry|retries|step|steps|loop|loops|pass|passes|visit|visits|i|n)($|_)"
)


def counter_advice(plan: Plan, ways: Ways) -> Iterator[Advice]:
    """Yield the nodes in loops that keep what looks like a count in the thread's data."""
    del ways
    for node in plan.nodes.values():
        if node.node.type != "set" or not node.loops:
            continue
        update = as_object(node.node.config.get("state_update")) or {}
        for cell in ("data", "metadata"):
            for key in sorted(as_object(update.get(cell)) or {}):
                if _COUNTING.search(_words(key)):
                    yield Advice(
                        code="counter_in_thread_data",
                        message=f"node {node.node.id!r} keeps {cell} key {key!r} in the loop of "
                        f"{node.loops[-1]!r}: what the thread keeps outlives the run, so the next "
                        "turn goes on counting where this one stopped; limit the loop by config "
                        "maxRounds of its head, which starts anew in every run",
                        node=node.node.id,
                    )


def _words(key: str) -> str:
    """Return a key in lower case with its words apart: ``loopCount`` as ``loop_count``."""
    return re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).lower())
