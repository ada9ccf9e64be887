"""The request that starts a run: its shape, its defaults, its refusals (contract, section 2).

The whole request is validated before anything is written. What needs the world (does the graph
exist, does the checkpoint) is the start activity's business, not this module's.
"""

from typing import Literal

from pydantic import Field, ValidationError

from seeding.errors import InvalidRequest, UnknownCheckpointStore
from seeding.identity import WORKFLOW_END, check_thread_id, parse_checkpoint_id, thread_of_workflow
from seeding.json_values import MAX_PAYLOAD_BYTES, MAX_VALUE_BYTES, find_not_json, size_in_bytes
from seeding.model import Json, JsonObject, Model, as_object

DURABLE = "durable"
EPHEMERAL = "ephemeral"
STORES = (DURABLE, EPHEMERAL)


class RunConfig(Model):
    """The run's configuration, pinned at the opening commit (SG-13).

    Attributes:
        max_iterations: The largest ``iterationCount`` a run may reach (SG-14).
        max_passes: Scheduler activations that dispatched an effect before the run pauses;
            None is no limit (ORC-10).
        checkpoint_store: ``durable``, or ``ephemeral`` for a run that leaves nothing (SG-11).
        on_unknown_checkpoint: What a ``checkpointId`` that resolves to nothing does (SG-12).
        on_busy: What a message does while the run is open.
    """

    max_iterations: int = Field(default=10_000, ge=0, le=10_000_000, strict=True)
    max_passes: int | None = Field(default=None, ge=1, le=10_000_000, strict=True)
    checkpoint_store: str = "durable"
    on_unknown_checkpoint: Literal["fresh", "refuse"] = "fresh"
    on_busy: Literal["reject", "queue", "supersede"] = "reject"


class RunRequest(Model):
    """What a caller asks for when starting a run; only ``graph`` is required.

    ``initial_snapshot`` counts as given when it is not None, ``{}`` included. ``queued_turn`` is
    the number of the queued turn that this is the start of; the thread's queue gives it.
    """

    graph: str | JsonObject
    thread_id: str = ""
    message: str | JsonObject | None = None
    messages: list[JsonObject] | None = None
    input: dict[str, JsonObject] = {}
    data: JsonObject = {}
    metadata: JsonObject = {}
    initial_snapshot: Json = None
    fork_from: str | None = None
    checkpoint_id: str | None = None
    recover: bool = Field(default=False, strict=True)
    abandon: bool = Field(default=False, strict=True)
    idempotency_key: str | None = Field(
        default=None, min_length=1, max_length=255, pattern=r"^[^\x00]*$"
    )
    queued_turn: int | None = Field(default=None, ge=1, le=2**53, strict=True)
    config: RunConfig = RunConfig()

    @property
    def carries_content(self) -> bool:
        """Whether the request brings anything a paused run could not simply go on without."""
        return bool(
            self.message is not None or self.messages or self.input or self.data or self.metadata
        )

    def new_messages(self) -> list[JsonObject]:
        """Return the messages the opening commit appends, without ids.

        A string becomes a user message; what the caller gave is kept as it is.
        """
        given: list[JsonObject] = []
        if isinstance(self.message, str):
            given.append({"role": "user", "content": self.message})
        elif self.message is not None:
            given.append(self.message)
        return [*given, *(self.messages or [])]


def parse_request(payload: Json, workflow: str) -> RunRequest:
    """Return the validated request that ``payload`` is, for the workflow id ``workflow``.

    Args:
        payload: The one argument of the start, decoded from JSON; its fields are camelCase and
            nothing else.
        workflow: The workflow id the run was started under.

    Raises:
        InvalidRequest: The id or the payload is not of the documented shape; fields are named.
        UnknownCheckpointStore: The configured store does not exist.
    """
    thread_id = thread_of_workflow(workflow)
    given = as_object(payload)
    if given is None:
        raise InvalidRequest(
            f"a run takes one JSON object as its argument, this is {_kind(payload)}"
        )
    given = {name: value for name, value in given.items() if name != "executionId"}
    _check_values(given)
    _check_kinds(given)
    try:
        request = RunRequest.model_validate(given, by_alias=True, by_name=False)
    except ValidationError as error:
        raise InvalidRequest(f"the request cannot be read: {describe(error)}") from error
    request = _bind_thread(request, thread_id)
    _check_request(request)
    return request


def describe(error: ValidationError) -> str:
    """Return the problems of a validation error on one line, each with its field's path."""
    problems: list[str] = []
    for problem in error.errors(include_url=False, include_input=False):
        path = ".".join(str(part) for part in problem["loc"])
        said = "unknown field" if problem["type"] == "extra_forbidden" else problem["msg"]
        problems.append(f"{path or 'value'}: {said}")
    return "; ".join(problems)


def _check_values(given: JsonObject) -> None:
    found = find_not_json(given)
    if found is not None:
        raise InvalidRequest(f"{found.path}: {found.kind} is no JSON value this engine keeps")
    size = size_in_bytes(given)
    if size > MAX_PAYLOAD_BYTES:
        raise InvalidRequest(
            f"the request is {size} bytes of JSON, at most {MAX_PAYLOAD_BYTES} are taken"
        )


def _check_kinds(given: JsonObject) -> None:
    """Refuse what may be of two kinds, or has fields of its own, in plain words."""
    problems: list[str] = []
    graph, message = given.get("graph", ""), given.get("message")
    if not isinstance(graph, str) and as_object(graph) is None:
        problems.append(f"graph: is {_kind(graph)}; give a graph's id or a graph document")
    if message is not None and not isinstance(message, str) and as_object(message) is None:
        problems.append(f"message: is {_kind(message)}; give a text or a message object")
    if "config" in given and as_object(given["config"]) is None:
        problems.append(f"config: is {_kind(given['config'])}; give an object")
    if problems:
        raise InvalidRequest(f"the request cannot be read: {'; '.join(problems)}")


def _bind_thread(request: RunRequest, thread_id: str) -> RunRequest:
    if not request.thread_id:
        return request.model_copy(update={"thread_id": thread_id})
    if check_thread_id(request.thread_id) != thread_id:
        raise InvalidRequest(
            f"threadId is {request.thread_id!r}, but the workflow id names thread {thread_id!r}; "
            "leave threadId out or make them agree"
        )
    return request


def _check_request(request: RunRequest) -> None:
    if request.config.checkpoint_store not in STORES:
        raise UnknownCheckpointStore(
            f"config.checkpointStore is {request.config.checkpoint_store!r}; "
            f"the stores are {' and '.join(STORES)}"
        )
    if request.initial_snapshot is not None and request.fork_from is not None:
        raise InvalidRequest("give initialSnapshot or forkFrom, not both")
    if request.message is not None and request.messages is not None:
        raise InvalidRequest("give message or messages, not both")
    named = request.fork_from
    if named not in (None, WORKFLOW_END) and parse_checkpoint_id(named) is None:
        raise InvalidRequest(f"forkFrom {named!r} is not <run id>:<ordinal>")
    for message in request.new_messages():
        check_message(message)
    _check_sizes(request)


def check_message(message: JsonObject) -> None:
    """Refuse a caller's message without a proper role, or with the role ``system``.

    Raises:
        InvalidRequest: The role is missing, not a string, or ``system``; the id is no string.
    """
    role = message.get("role")
    if not isinstance(role, str) or not role:
        raise InvalidRequest("a message has a role, a non-empty string, such as 'user'")
    if role.strip().lower() == "system":
        raise InvalidRequest("a caller's message may not have the role 'system'")
    if "content" not in message:
        raise InvalidRequest("a message has a content")
    identity = message.get("id")
    if identity is not None and (not isinstance(identity, str) or not identity):
        raise InvalidRequest("a message's id is a non-empty string")


def _check_sizes(request: RunRequest) -> None:
    parts: list[tuple[str, Json]] = [
        *((f"messages.{index}", item) for index, item in enumerate(request.new_messages())),
        *((f"data.{key}", value) for key, value in request.data.items()),
        *((f"metadata.{key}", value) for key, value in request.metadata.items()),
        *(
            (f"input.{node}.{port}", value)
            for node, ports in request.input.items()
            for port, value in ports.items()
        ),
    ]
    for name, value in parts:
        size = size_in_bytes(value)
        if size > MAX_VALUE_BYTES:
            raise InvalidRequest(
                f"{name} is {size} bytes of JSON; a single value may have {MAX_VALUE_BYTES}"
            )


def _kind(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, bytes):
        return "binary data"
    return "a list" if isinstance(value, list) else "a number"
