"""The scripted effects of generated graphs, served by a worker."""

from collections import Counter
from typing import Any

from activities import Ask, NodeCall, NodeError, node
from tests.model.graph_scripts import BRANCHES, PATIENT, ROUTER, TASK, Asks, Done, perform

_ATTEMPTS: Counter[str] = Counter()
"""Failed attempts by effect key, which retries have in common."""


class Crashed(Exception):
    """What is no node error."""


def _perform(call: NodeCall) -> dict[str, Any]:
    made = perform(
        call.config,
        call.node_id,
        call.occurrence,
        call.inputs,
        _ATTEMPTS[call.effect_key],
        list(call.answers),
    )
    if isinstance(made, Done):
        return made.outputs
    if isinstance(made, Asks):
        raise Ask(made.message, kind="text")
    _ATTEMPTS[call.effect_key] += 1
    if not made.routable:
        raise Crashed(made.message)
    raise NodeError(made.message, code=made.code, retryable=made.retryable, details=made.details)


@node(TASK)
async def model_task(call: NodeCall) -> dict[str, Any]:
    """Do what the script says."""
    return _perform(call)


@node(ROUTER, branches=BRANCHES)
async def model_router(call: NodeCall) -> dict[str, Any]:
    """Do what the script says, with branches."""
    return _perform(call)


@node(PATIENT, max_retries=2)
def model_patient(call: NodeCall) -> dict[str, Any]:
    """Do what the script says, with retries; in a thread."""
    return _perform(call)
