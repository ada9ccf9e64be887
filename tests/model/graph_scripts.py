"""What the effects of generated graphs do: pure functions of a script and of what they get.

A node's config holds its script, so that one document says everything: the interpreter, the
scheduler's runs and the nodes of a real worker all perform it here.
"""

import json
import random
import zlib
from dataclasses import dataclass
from typing import Any, cast

from seeding.model import Json, JsonObject
from workflows.graph.model import NodeType

TASK, ROUTER, PATIENT = "model_task", "model_router", "model_patient"
BRANCHES = ("again", "done", "left", "right")
"""The branch ports of a router."""

SCRIPTED_TYPES = (
    NodeType(name=TASK, kind="effect", can_ask=True),
    NodeType(name=ROUTER, kind="effect", branches=BRANCHES, can_ask=True),
    NodeType(name=PATIENT, kind="effect", max_retries=2, can_ask=True),
)
"""The effect types of generated graphs."""

_FLAGS: tuple[Json, ...] = (True, False, 1, 0, "1", "yes", "TRUE", "no", None)


@dataclass(frozen=True)
class Done:
    """An execution that completed, with its outputs as it gave them."""

    outputs: JsonObject


@dataclass(frozen=True)
class Failed:
    """An execution that failed; one that is not ``routable`` crashed (ERR-3)."""

    message: str
    code: str = "scripted"
    retryable: Json = False
    details: Json = None
    routable: bool = True


@dataclass(frozen=True)
class Asks:
    """An execution that asks a question."""

    message: str


Outcome = Done | Failed | Asks


def perform(
    config: JsonObject,
    node_id: str,
    occurrence: int,
    inputs: JsonObject,
    attempt: int,
    answers: list[Json],
) -> Outcome:
    """Return what one call of a scripted effect comes to.

    Args:
        config: The node's config; ``script`` says how it behaves.
        node_id: The node.
        occurrence: Which execution of it this is.
        inputs: Its inputs by port.
        attempt: Failed attempts of this execution since it last asked.
        answers: What it was told so far.
    """
    script = config.get("script", {})
    said = json.dumps([without_texts(inputs), answers], sort_keys=True)
    chance = random.Random(f"{script.get('seed', 0)} {node_id} {occurrence} {said}")
    if len(answers) < script.get("asks", 0):
        return Asks(f"{node_id}:{occurrence} asks")
    if attempt < _at(script.get("stumbles"), occurrence, 0):
        return Failed(f"{node_id} stumbles", retryable=script.get("retryable", True))
    if chance.randrange(100) < script.get("fails", 0):
        details = {"at": occurrence} if chance.random() < 0.5 else None
        return Failed(f"{node_id} fails at {occurrence}", code="refused", details=details)
    if chance.randrange(100) < script.get("crashes", 0):
        return Failed(f"{node_id} crashes at {occurrence}", routable=False)
    outputs = _outputs(script, f"{node_id}#{occurrence}#{zlib.crc32(said.encode())}", chance)
    active = _active(script, occurrence, chance)
    if active is not None:
        outputs["active_branches"] = active
    update = _update(script, node_id, occurrence, chance)
    if update is not None:
        outputs["state_update"] = update
    return Done(outputs)


def without_texts(value: Json) -> Json:
    """Return a value with the messages of error objects left out: they are for people."""
    if isinstance(value, list):
        return [without_texts(item) for item in cast(list[Json], value)]
    if not isinstance(value, dict):
        return value
    given = cast(JsonObject, value)
    is_error = "node_id" in given and "code" in given
    return {
        key: "…" if is_error and key == "message" else without_texts(item)
        for key, item in given.items()
    }


def answer_to(seed: int, node_id: str, occurrence: int, ask: int, gate: bool) -> JsonObject:
    """Return how a question of an execution is answered: a decision, or a value, or both."""
    chance = random.Random(f"{seed} {node_id} {occurrence} {ask}")
    if not gate:
        return {"value": f"answer {chance.randrange(9)}"}
    given: JsonObject = {"decision": "approve" if chance.random() < 0.65 else "deny"}
    if chance.random() < 0.3:
        given["value"] = chance.choice([None, 7, ["a", "b"]])
    return given


def _outputs(script: JsonObject, told: str, chance: random.Random) -> JsonObject:
    outputs: JsonObject = {"number": chance.randrange(6), "flag": chance.choice(_FLAGS)}
    kind = chance.randrange(100)
    if kind >= 8:
        outputs["out"] = told
    elif kind >= 4:
        outputs["out"] = None
    if script.get("lists"):
        outputs["items"] = chance.choice(([told, 2], [told], [1, None, 3], [], "single", {"a": 1}))
    if chance.random() < 0.1:
        outputs["error_retryable"] = True
    return outputs


def _active(script: JsonObject, occurrence: int, chance: random.Random) -> Json:
    """Return the active branches, or None where the node says nothing of them."""
    if "rounds" in script:
        rounds = int(script["rounds"])
        again = occurrence % (rounds + 1) < rounds
        return [cast(str, script.get("back", "again") if again else script.get("on", "done"))]
    if "plan" in script:
        return _at(script["plan"], occurrence, None)
    if "chooses" in script:
        names: list[str] = list(script["chooses"])
        one = chance.choice(names)
        spelled: list[Any] = [[one]] * 6
        return chance.choice([*spelled, one, [f" {one.upper()} ", 3], names, [], None, ["nobody"]])
    return None


def _update(
    script: JsonObject, node_id: str, occurrence: int, chance: random.Random
) -> JsonObject | None:
    update: JsonObject = {}
    for kind in script.get("updates", ()):
        if kind == "data":
            update["data"] = {node_id: occurrence, "shared": f"{node_id}:{occurrence}"}
        elif kind == "metadata":
            update["metadata"] = {"last": node_id}
        elif kind == "messages":
            update["messages"] = [{"role": "assistant", "content": f"{node_id}:{occurrence}"}]
        elif kind == "clear" and occurrence % 2 == 1:
            update["data"] = None
        elif kind == "count" and occurrence < 2:
            update["iterationCount"] = chance.randrange(4)
        elif kind == "far" and occurrence == 1:
            update["iterationCount"] = 5000
        elif kind == "bad" and chance.random() < 0.5:
            return chance.choice(({"iterationCount": -1}, {"status": "completed"}, {"data": 3}))
    return update or None


def _at(listed: Json, occurrence: int, otherwise: Json) -> Json:
    """Return the item for an occurrence; the last one for all that follow."""
    if not listed:
        return otherwise
    return listed[min(occurrence, len(listed) - 1)]
