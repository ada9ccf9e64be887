"""Commits as raw JSON, past every model of ours, through the activity that appends them."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from log_writer import Writer, dump
from temporalio.api.common.v1 import Payload
from temporalio.testing import ActivityEnvironment

from activities.commit import CommitActivities
from activities.graph_folder import GraphFolder
from activities.log import CommitLog
from activities.nodes import NodeRegistry
from activities.resources import Resources
from client.failures import DATA_CONVERTER
from seeding.canonical import canonical_hash
from seeding.commits import hash_parts
from seeding.model import Json, JsonObject
from workflows.wire import CommitInput, CommitReply

OWN = {"ticket": "r1:gate:0:0", "runId": "r1", "threadId": "t"}
OF_ANOTHER_RUN = {**OWN, "ticket": "r9:gate:0:0", "runId": "r9"}
OF_ANOTHER_THREAD = {**OWN, "threadId": "elsewhere"}
BODY = {**OWN, "nodeId": "gate", "occurrence": 0, "kind": "approval"}
CAUSE = {"kind": "NaturalEnd"}

NINE_CELLS: list[tuple[str, str, JsonObject, str | None]] = [
    ("Running", "no ticket", {}, None),
    ("Running", "its own", OWN, "TicketForbidden"),
    ("Running", "another run's", OF_ANOTHER_RUN, "TicketForbidden"),
    ("Awaiting", "no ticket", {}, "TicketRequired"),
    ("Awaiting", "its own", OWN, None),
    ("Awaiting", "another run's", OF_ANOTHER_RUN, "TicketRunMismatch"),
    ("Ended", "no ticket", {}, None),
    ("Ended", "its own", OWN, "TicketForbidden"),
    ("Ended", "another run's", OF_ANOTHER_RUN, "TicketForbidden"),
]


class RawCommits:
    """Sends JSON to the commit activity as a server would hand it over."""

    def __init__(self, resources: Resources) -> None:
        self._activities = CommitActivities(resources)

    async def send(self, commit: JsonObject, *, ordinal: int = 1) -> CommitReply:
        """Append one commit of run r1, hashed as it is written."""
        operation: Json = {
            "runId": "r1",
            "ordinal": ordinal,
            "ownerEpoch": 1,
            "expectedThreadVersion": ordinal,
            "payloadHash": canonical_hash(hash_parts(commit)),
            "commit": commit,
        }
        read = decoded({"operations": [operation]})
        return await ActivityEnvironment().run(self._activities.commit, read)


def decoded(given: JsonObject) -> CommitInput:
    """Return what a worker reads where a payload holds this JSON."""
    payload = Payload(metadata={"encoding": b"json/plain"}, data=json.dumps(given).encode())
    [read] = DATA_CONVERTER.payload_converter.from_payloads([payload], [CommitInput])
    return read


def said(kind: str, *tickets: JsonObject, **more: Json) -> JsonObject:
    disposition: JsonObject = {"kind": kind}
    if tickets:
        disposition["tickets"] = list(tickets)
    if kind == "Ended":
        disposition["cause"] = CAUSE
    return {"threadId": "t", "runId": "r1", "disposition": disposition, **more}


@pytest_asyncio.fixture
async def raw(running: Writer) -> AsyncIterator[RawCommits]:
    resources = Resources(log=running.log, graphs=GraphFolder([]), registry=NodeRegistry())
    yield RawCommits(resources)
    resources.close()


@pytest.mark.parametrize(
    ("kind", "whose", "ticket", "code"), NINE_CELLS, ids=[f"{c[0]}, {c[1]}" for c in NINE_CELLS]
)
async def test_aw_26_aw_28_the_nine_cells_are_judged_at_the_log(
    raw: RawCommits, log_url: str, kind: str, whose: str, ticket: JsonObject, code: str | None
) -> None:
    """AW-26, AW-27, AW-28: three pairings are accepted, six refused by name, byte for byte."""
    tickets = [ticket] if ticket else []
    opens = {"opened": [BODY]} if kind == "Awaiting" and whose == "its own" else {}
    before = dump(log_url)
    reply = await raw.send(said(kind, *tickets, **opens))
    assert (reply.refusal.code if reply.refusal else None) == code
    assert (dump(log_url) == before) == (code is not None)


async def test_aw_25_the_ordinal_of_a_refused_commit_is_still_free(
    raw: RawCommits, log: CommitLog
) -> None:
    """AW-25: Awaiting without a ticket is refused; a valid commit at that ordinal succeeds."""
    reply = await raw.send(said("Awaiting"))
    assert reply.refusal is not None
    assert (reply.refusal.code, reply.refusal.ordinal) == ("TicketRequired", 1)
    reply = await raw.send(said("Awaiting", OWN, opened=[BODY]))
    assert (reply.refusal, [times.ticket for times in reply.times]) == (None, ["r1:gate:0:0"])
    run = log.run("r1")
    assert run is not None
    assert (run.phase, run.last_ordinal) == ("awaiting", 1)


async def test_aw_27_a_ticket_of_another_thread_is_refused(raw: RawCommits, log_url: str) -> None:
    """AW-27: the run is the ticket's, the thread is not."""
    before = dump(log_url)
    reply = await raw.send(said("Awaiting", OF_ANOTHER_THREAD))
    assert reply.refusal is not None
    assert reply.refusal.code == "TicketThreadMismatch"
    assert dump(log_url) == before


async def test_aw_34_the_order_of_keys_is_no_difference_and_a_value_is(raw: RawCommits) -> None:
    """AW-34: the same commit with its keys turned round is a duplicate; 1.0 is not 1."""
    command = {"scope": "thread", "cell": "data", "key": "a", "value": {"x": 1, "y": 2}}
    turned = {"value": {"y": 2, "x": 1}, "key": "a", "cell": "data", "scope": "thread"}
    floating = {**command, "value": {"x": 1.0, "y": 2}}
    assert (await raw.send(said("Running", state=[command]))).duplicate is False
    assert (await raw.send(said("Running", state=[turned]))).duplicate is True
    reply = await raw.send(said("Running", state=[floating]))
    assert reply.refusal is not None
    assert reply.refusal.code == "OperationReused"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"colour": "red"}, "colour"),
        ({"disposition": {"kind": "Sleeping"}}, "disposition.kind"),
        ({"runId": None}, "runId"),
    ],
    ids=["an unknown field", "an unknown disposition", "no run id"],
)
def test_json_that_is_no_commit_is_refused_naming_the_field(
    change: dict[str, Any], named: str
) -> None:
    operation: JsonObject = {
        "runId": "r1",
        "ordinal": 1,
        "ownerEpoch": 1,
        "expectedThreadVersion": 1,
        "payloadHash": "0" * 64,
        "commit": {**said("Running"), **change},
    }
    with pytest.raises(ValueError) as caught:
        decoded({"operations": [operation]})
    assert f"commit.{named}" in str(caught.value)
