"""Calls of node functions, and the failures they raise."""

from collections.abc import Sequence

from activities import NodeCall
from seeding.model import JsonObject

KEY = "0123456789abcdef0123456789abcdef01234567"


def call_of(
    config: JsonObject,
    inputs: JsonObject | None = None,
    *,
    allowed: Sequence[str] = (),
    internal: JsonObject | None = None,
) -> NodeCall:
    """Return a call of node ``n``, the first of its run."""
    return NodeCall(
        inputs=inputs or {},
        config=config,
        effect_key=KEY,
        thread_id="t",
        run_id="r",
        node_id="n",
        occurrence=0,
        internal=internal or {},
        allowed_hosts=tuple(allowed),
    )
