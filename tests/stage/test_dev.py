"""``make dev``: one foreground process for server, UI and worker."""

import os
import signal
from pathlib import Path

import pytest

from tests.stage.scripts import PROJECT, is_alive, read_until, script, server_process
from tests.stage.test_server import any_ports

COMMAND = PROJECT / "client" / "command"
needs_the_command = pytest.mark.skipif(
    not (COMMAND / "__main__.py").exists() and not COMMAND.with_suffix(".py").exists(),
    reason="the command that runs the worker does not exist yet",
)


def test_a_worker_that_cannot_start_stops_the_server_and_exits_1(tmp_path: Path) -> None:
    with script(
        "dev.py", tmp_path, FERMATA_NODES="no_such_module_of_nodes", **any_ports()
    ) as process:
        _, errors = process.communicate(timeout=60)

    assert process.returncode == 1
    assert errors.startswith("NoWorker: the worker ended by itself with exit code 1")
    assert not is_alive(server_process(tmp_path))


@needs_the_command
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_says_ready_and_stops_everything_when_asked(
    tmp_path: Path, number: signal.Signals
) -> None:
    ports = any_ports()
    with script("dev.py", tmp_path, FERMATA_TASK_QUEUE="our own", **ports) as process:
        said = read_until(process, "ready")
        assert f"server  127.0.0.1:{ports['TEMPORAL_PORT']}" in said
        assert f"UI      http://127.0.0.1:{ports['TEMPORAL_UI_PORT']}" in said
        assert (
            f"for other terminals: export TEMPORAL_ADDRESS=127.0.0.1:{ports['TEMPORAL_PORT']} "
            f"FERMATA_HOME={tmp_path} FERMATA_TASK_QUEUE='our own'"
        ) in said
        server = server_process(tmp_path)

        process.send_signal(number)

        assert process.wait(timeout=60) == 0
    assert not is_alive(server)


@needs_the_command
def test_when_the_server_dies_the_worker_is_stopped_and_it_exits_1(tmp_path: Path) -> None:
    with script("dev.py", tmp_path, **any_ports()) as process:
        read_until(process, "ready")

        os.kill(server_process(tmp_path), signal.SIGKILL)

        _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert errors.startswith("ServerUnreachable: the server ended by itself with exit code -9")
