"""Whatever is missing, every verb says so on one line of stderr and exits 1."""

from collections.abc import Callable
from pathlib import Path

import pytest
from command_runner import Answer
from live_stage import REVIEW, SOON, Served
from written_log import WrittenThread

from client.threads import Threads

Command = Callable[..., Answer]

OF_A_THREAD = {
    "state": (),
    "messages": (),
    "runs": (),
    "checkpoints": (),
    "provenance": (),
    "effects": (),
    "tickets": (),
    "prune": (),
    "events": (),
    "verify": (),
    "rebuild": (),
}
"""The verbs that read a thread of the log."""

ON_A_RUN = {
    "watch": (),
    "send": ("good day",),
    "resume": ("--decision", "approve"),
    "pause": ("--reason", "checking"),
    "cancel": (),
}
"""The verbs that reach a thread's run on the server."""

json_or_not = pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])


@json_or_not
@pytest.mark.parametrize("verb", OF_A_THREAD)
def test_a_thread_the_log_does_not_know(
    fermata: Command, alice: WrittenThread, verb: str, form: tuple[str, ...]
) -> None:
    alice.open()

    assert (
        fermata(verb, "bob", *form).refusal == "UnknownThread: the log has no run of thread 'bob'"
    )


@json_or_not
@pytest.mark.parametrize("verb", [*OF_A_THREAD, "threads"])
def test_no_log(fermata: Command, verb: str, form: tuple[str, ...]) -> None:
    thread = () if verb == "threads" else ("alice",)

    assert fermata(verb, *thread, *form).refusal.startswith("LogError: there is no log at ")


@pytest.mark.parametrize("url", ["log.db", "sqlite+nothing:///log.db", "sqlite://"])
def test_a_log_url_that_cannot_be_used(
    fermata: Command, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("FERMATA_LOG_URL", url)

    assert fermata("threads").refusal.startswith("LogError: ")


@json_or_not
@pytest.mark.parametrize("verb", ON_A_RUN)
def test_no_server(fermata: Command, verb: str, form: tuple[str, ...]) -> None:
    refusal = fermata(verb, "alice", *ON_A_RUN[verb], *form).refusal

    assert refusal.startswith("ServerUnreachable: no Temporal server answers at 127.0.0.1:1; ")


@pytest.mark.parametrize("arguments", [("start", "alice", "greet"), ("worker",)])
def test_no_server_to_start_on_or_to_serve(fermata: Command, arguments: tuple[str, ...]) -> None:
    assert fermata(*arguments).refusal.startswith("ServerUnreachable: ")


@pytest.mark.parametrize("verb", ["watch", "tickets", "worker"])
def test_an_address_that_is_none(
    fermata: Command, alice: WrittenThread, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    alice.open()
    monkeypatch.setenv("TEMPORAL_ADDRESS", "not an address")

    answer = fermata(verb, *(() if verb == "worker" else ("alice",)))

    if verb == "tickets":  # It reads the log; the server only says what is live.
        assert (answer.code, answer.err) == (0, "")
    else:
        assert answer.refusal.startswith("InvalidSettings: TEMPORAL_ADDRESS 'not an address' ")


def test_a_profile_that_is_not_there(fermata: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEMPORAL_PROFILE", "nowhere")

    assert fermata("watch", "alice").refusal.startswith("InvalidSettings: the Temporal profile ")


@pytest.mark.parametrize("verb", [verb for verb in ON_A_RUN if verb != "send"])
async def test_a_thread_the_server_does_not_know(here: Served, thread: str, verb: str) -> None:
    refusal = (await here.answer(verb, thread, *ON_A_RUN[verb])).refusal

    assert refusal.startswith(
        f"UnknownThread: the Temporal server knows no run of thread '{thread}'"
    )


async def test_a_message_to_a_thread_nobody_knows_and_no_log(
    nobody_here: Served, thread: str
) -> None:
    refusal = (await nobody_here.answer("send", thread, "good day")).refusal

    assert refusal.startswith("LogError: there is no log at ")


async def test_no_worker(nobody_here: Served, thread: str) -> None:
    await nobody_here.threads.start(thread, REVIEW)

    for verb, arguments in ON_A_RUN.items():
        answer = await nobody_here.answer(verb, thread, *arguments, "--timeout", "0.2")

        assert answer.refusal.startswith("NoWorker: no worker answered for the run of thread"), verb


async def test_a_run_that_is_over_takes_no_command(here: Served, thread: str) -> None:
    await _ended(here.threads, thread)

    for verb in ("resume", "pause", "cancel"):
        answer = await here.answer(verb, thread, *ON_A_RUN[verb])

        assert answer.refusal.startswith("PIPELINE_TERMINAL: "), verb


async def _ended(threads: Threads, thread: str) -> None:
    await threads.start(thread, REVIEW)
    await threads.wait(thread, within=SOON)
    await threads.cancel(thread)
    await threads.result(thread, within=SOON)


@pytest.mark.parametrize(
    ("graph", "code"),
    [("nowhere", "UnknownGraph"), ("expense-review@0123456789abcdef", "UnknownGraph")],
)
async def test_a_start_that_is_refused(here: Served, thread: str, graph: str, code: str) -> None:
    assert (await here.answer("start", thread, graph, "--json")).refusal.startswith(f"{code}: ")


def test_a_file_that_is_no_graph(fermata: Command, tmp_path: Path) -> None:
    file = tmp_path / "list.yaml"
    file.write_text("- 1\n")

    assert fermata("graph", "show", str(file)).refusal.startswith("InvalidGraph: ")
