"""The server script: where it listens, what it refuses, that nothing is left behind."""

import os
import signal
import socket
from pathlib import Path

import pytest

from child_process import StopRequest
from seeding.errors import ServerUnreachable
from server import Ports, dev_server, free_port
from tests.stage.scripts import is_alive, read_until, script, server_process


def any_ports() -> dict[str, str]:
    return {"TEMPORAL_PORT": str(free_port()), "TEMPORAL_UI_PORT": str(free_port())}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_server_stops_with_its_script_and_the_script_exits_0(
    tmp_path: Path, number: signal.Signals
) -> None:
    with script("server.py", tmp_path, **any_ports()) as process:
        read_until(process, "ready")
        server = server_process(tmp_path)
        assert is_alive(server)

        process.send_signal(number)

        assert process.wait(timeout=30) == 0
        assert not is_alive(server)


def test_it_listens_where_it_was_told_and_says_so(tmp_path: Path) -> None:
    ports = any_ports()
    with script("server.py", tmp_path, **ports) as process:
        said = read_until(process, "ready")
        server = server_process(tmp_path)

        assert said == [
            f"server  127.0.0.1:{ports['TEMPORAL_PORT']} (process {server})",
            f"UI      http://127.0.0.1:{ports['TEMPORAL_UI_PORT']}",
        ]
        for port in ports.values():
            socket.create_connection(("127.0.0.1", int(port)), timeout=5).close()


def test_the_database_is_a_file_in_the_data_folder(tmp_path: Path) -> None:
    with script("server.py", tmp_path / "deep" / "home", **any_ports()) as process:
        read_until(process, "ready")

        assert (tmp_path / "deep" / "home" / "temporal.db").is_file()


def test_a_second_server_on_the_same_data_folder_is_refused(tmp_path: Path) -> None:
    with script("server.py", tmp_path, **any_ports()) as first:
        read_until(first, "ready")

        with script("server.py", tmp_path, **any_ports()) as second:
            _, errors = second.communicate(timeout=30)

        assert second.returncode == 1
        assert errors == (
            f"ServerUnreachable: another dev server (process {server_process(tmp_path)}) uses "
            f"the data folder {tmp_path}; stop it, or choose another folder with FERMATA_HOME\n"
        )
        assert is_alive(server_process(tmp_path))


def test_a_stopped_server_leaves_its_data_folder_free_for_the_next(tmp_path: Path) -> None:
    for _ in range(2):
        with script("server.py", tmp_path, **any_ports()) as process:
            read_until(process, "ready")


def test_a_taken_port_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        with script("server.py", tmp_path, TEMPORAL_PORT=port) as process:
            _, errors = process.communicate(timeout=30)

    assert process.returncode == 1
    assert errors == (
        f"ServerUnreachable: TEMPORAL_PORT: port {port} on 127.0.0.1 is already in use\n"
    )


@pytest.mark.parametrize("port", ["seven", "0", "65536", "-1"])
def test_what_is_no_port_is_named(tmp_path: Path, port: str) -> None:
    with script("server.py", tmp_path, TEMPORAL_UI_PORT=port) as process:
        _, errors = process.communicate(timeout=30)

    assert process.returncode == 1
    assert errors == (
        f"ServerUnreachable: TEMPORAL_UI_PORT is {port!r}; a port is a number from 1 to 65535\n"
    )


def test_a_server_that_dies_is_reported_with_its_exit_code(tmp_path: Path) -> None:
    with script("server.py", tmp_path, **any_ports()) as process:
        read_until(process, "ready")

        os.kill(server_process(tmp_path), signal.SIGKILL)

        _, errors = process.communicate(timeout=30)
    assert process.returncode == 1
    assert errors.startswith("ServerUnreachable: the server ended by itself with exit code -9")


def test_a_failure_of_its_user_leaves_no_server_behind(tmp_path: Path) -> None:
    with (
        pytest.raises(ValueError, match="the user's"),
        dev_server(tmp_path, Ports(free_port(), None), StopRequest()) as server,
    ):
        raise ValueError("the user's")

    assert not is_alive(server.process.pid)


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "temporal.db").mkdir()

    with (
        pytest.raises(ServerUnreachable, match="the server ended by itself with exit code"),
        dev_server(tmp_path, Ports(free_port(), None), StopRequest()),
    ):
        raise AssertionError("it started")


def test_its_clients_see_this_server_whatever_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", "elsewhere:7233")
    monkeypatch.setenv("TEMPORAL_API_KEY", "not-for-us")
    monkeypatch.setenv("TEMPORAL_NAMESPACE", "theirs")
    port = free_port()

    with dev_server(tmp_path, Ports(port, None), StopRequest()) as server:
        environment = server.environment()

    assert {key: value for key, value in environment.items() if key.startswith("TEMPORAL_")} == {
        "TEMPORAL_ADDRESS": f"127.0.0.1:{port}",
        "TEMPORAL_CONFIG_FILE": os.devnull,
    }
