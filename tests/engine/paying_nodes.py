"""Node types that charge at the service outside, with a crash point on either side of the call."""

from typing import Any

from activities import Ask, NodeCall, node
from tests.engine.charges import Charges
from tests.engine.crash_points import POINTS


def _charge(call: NodeCall) -> str:
    where = f"charge {call.node_id}:{call.occurrence}"
    POINTS.reach(f"before {where}")
    what = f"{call.thread_id}/{call.node_id}:{call.occurrence}"
    receipt = Charges(call.config["service"]).charge(call.effect_key, what)
    POINTS.reach(f"after {where}")
    return receipt


@node("pays")
async def pays(call: NodeCall) -> dict[str, Any]:
    """Charge, and return the receipt."""
    return {"receipt": _charge(call)}


@node("pays_in_a_thread")
def pays_in_a_thread(call: NodeCall) -> dict[str, Any]:
    """Do what ``pays`` does, as a plain function."""
    return {"receipt": _charge(call)}


@node("asks_then_pays")
async def asks_then_pays(call: NodeCall) -> dict[str, Any]:
    """Ask whether to pay, and charge once the answer is there."""
    if call.answer is None:
        raise Ask("Pay?", kind="text")
    return {"receipt": _charge(call), "said": call.answer}
