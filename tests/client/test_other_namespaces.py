"""One log, two namespaces: what one executes the other neither takes over, ends nor erases.

The server guarantees one open run a thread within one namespace only, so none can tell that
another's run is lost.
"""

import asyncio
import uuid
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace

import pytest
import pytest_asyncio
from google.protobuf.duration_pb2 import Duration
from live_stage import REVIEW, SOON, WITHIN_LIMIT, Served
from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode
from temporalio.testing import WorkflowEnvironment

from activities.log import Execution
from client import reconciling
from client.failures import DATA_CONVERTER
from client.log_opening import open_log, open_writable_log
from client.threads import Threads
from client.worker import build_worker, open_resources
from seeding.errors import ThreadBusy


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def other_client(temporal: WorkflowEnvironment) -> Client:
    """A client of a second namespace on the test server."""
    name = f"elsewhere-{uuid.uuid4().hex[:8]}"
    await temporal.client.workflow_service.register_namespace(
        RegisterNamespaceRequest(
            namespace=name, workflow_execution_retention_period=Duration(seconds=86400)
        )
    )
    client = await Client.connect(
        temporal.client.service_client.config.target_host,
        namespace=name,
        data_converter=DATA_CONVERTER,
    )
    for _ in range(1200):  # The server reads its namespaces anew every few seconds.
        try:
            await client.get_workflow_handle("nothing").describe()
        except RPCError as error:
            if "NamespaceNotFound" not in str(error.grpc_status.details):
                assert error.status == RPCStatusCode.NOT_FOUND
                return client
        await asyncio.sleep(0.05)
    raise AssertionError(f"the server never served namespace {name}")


@dataclass(frozen=True)
class Two:
    """The same log and queue served in two namespaces; the command is set to the other one."""

    home: Served
    other: Served

    @property
    def there(self) -> str:
        return f"TEMPORAL_NAMESPACE={self.home.client.namespace}"

    async def paused_at_home(self, thread: str) -> str:
        run = await self.home.threads.start(thread, REVIEW)
        await self.home.threads.wait(thread, within=SOON)
        return run.run_id


@pytest_asyncio.fixture(loop_scope="session")
async def two(
    served: Served, other_client: Client, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[Two]:
    """A worker in each namespace."""
    threads = Threads(other_client, served.configured.task_queue)
    other = Served(threads, other_client, served.configured)
    for name in ("TEMPORAL_PROFILE", "FERMATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in other.environment().items():
        monkeypatch.setenv(name, value)
    async with (
        open_resources(served.configured) as resources,
        build_worker(
            other_client, replace(resources, search_attributes=()), served.configured.task_queue
        ),
    ):
        yield Two(served, other)


async def test_no_command_elsewhere_touches_a_run_and_its_answer_at_home_goes_through(
    two: Two, thread: str
) -> None:
    run = await two.paused_at_home(thread)
    with open_log(two.home.configured.log_url) as log:
        logged, owners = log.commits(thread), log.owners(run)

    repaired = await two.other.answer("reconcile", thread, "--repair", "--json")
    (finding,) = repaired.document
    assert (finding["action"], finding["namespace"]) == ("leave", two.home.client.namespace)
    assert finding["repaired"] == (
        f"left alone; see to it there: {two.there} fermata reconcile {thread}"
    )
    shown = await two.other.answer("reconcile", thread)
    assert (shown.code, shown.err) == (0, "")
    assert f"leave: {two.there} fermata reconcile {thread}" in shown.out

    for ways in ((), ("--recover",), ("--abandon",), ("--fork-from", f"{run}:2", "--abandon")):
        started = await two.other.answer("start", thread, "expense-review", *ways, "--watch")
        assert started.code == 1, ways
        assert started.err.splitlines()[-1] == (
            f"ThreadBusy: run {run} of thread '{thread}' has not ended and is awaiting "
            f"{run}:gate:0:0; it belongs to namespace '{two.home.client.namespace}' and may still "
            f"be executed there, this start is in '{two.other.client.namespace}', which neither "
            f"takes it over nor ends it. See to it there: {two.there} fermata reconcile {thread}; "
            f"or go on beside it on another thread: fermata fork {thread} --at "
            f"{run}:{len(logged) - 1} --to THREAD"
        ), ways
    assert (
        (await two.other.answer("send", thread, "hurry", "--watch"))
        .err.splitlines()[-1]
        .startswith(f"ThreadBusy: run {run} of thread '{thread}' has not ended")
    )
    assert (await two.other.answer("delete", thread)).refusal == (
        f"ThreadBusy: run {run} of thread '{thread}' has not ended and belongs to namespace "
        f"'{two.home.client.namespace}'; cancel it there first: {two.there} fermata cancel {thread}"
    )

    with open_log(two.home.configured.log_url) as log:
        assert (log.commits(thread), log.owners(run)) == (logged, owners)
    await two.home.threads.resume(thread, decision="approve")
    ended = await two.home.threads.result(thread, within=SOON)
    assert (ended["runId"], ended["status"]) == (run, "completed")


@pytest.mark.parametrize("verb", ["resume", "pause", "cancel", "watch"])
async def test_a_command_elsewhere_is_told_which_namespace_has_the_run(
    two: Two, thread: str, verb: str
) -> None:
    run = await two.paused_at_home(thread)

    assert (await two.other.answer(verb, thread)).refusal == (
        f"UnknownThread: namespace '{two.other.client.namespace}' has no open run of thread "
        f"'{thread}': run {run} belongs to namespace '{two.home.client.namespace}'; say the same "
        f"with {two.there}"
    )
    (ticket,) = (await two.other.answer("tickets", thread, "--json")).document
    assert ticket["live"] == "unknown"


async def test_a_run_lost_at_home_is_repaired_at_home_alone(two: Two, thread: str) -> None:
    run = await two.paused_at_home(thread)
    await two.home.client.get_workflow_handle(f"thread/{thread}").terminate(reason="lost")

    with open_writable_log(two.home.configured.log_url) as log:
        for served, action in ((two.other, "leave"), (two.home, "adopt")):
            (found,) = await reconciling.find(served.client, served.threads, log, thread)
            assert found.action == action
            await reconciling.repair(served.threads, log, served.client, found)
        namespaces = [owner.execution.namespace for owner in log.owners(run)]

    assert namespaces == [two.home.client.namespace] * 2


async def test_a_repair_leaves_alone_what_has_gone_over_to_another_namespace_meanwhile(
    two: Two, thread: str
) -> None:
    run = await two.paused_at_home(thread)
    await two.home.client.get_workflow_handle(f"thread/{thread}").terminate(reason="lost")
    with open_writable_log(two.home.configured.log_url) as log:
        (found,) = await reconciling.find(two.home.client, two.home.threads, log, thread)
        log.take_over(run, "another chain", Execution(execution_run_id="x", namespace="third"))

        repaired = await reconciling.repair(two.home.threads, log, two.home.client, found)

    assert (found.action, repaired.repaired) == (
        "adopt",
        f"left alone; see to it there: TEMPORAL_NAMESPACE=third fermata reconcile {thread}",
    )


async def test_a_thread_whose_run_has_ended_goes_on_in_any_namespace(two: Two, thread: str) -> None:
    await two.home.threads.start(thread, WITHIN_LIMIT)
    await two.home.threads.result(thread, within=SOON)
    await two.other.threads.start(thread, REVIEW)
    waiting = await two.other.threads.wait(thread, within=SOON)

    await two.home.threads.start(thread, {**WITHIN_LIMIT, "abandon": True})
    with pytest.raises(ThreadBusy, match=f"belongs to namespace '{two.other.client.namespace}'"):
        await two.home.threads.result(thread, within=SOON)

    await two.other.threads.resume(thread, decision="deny")
    assert (await two.other.threads.result(thread, within=SOON))["runId"] == waiting.run_id
