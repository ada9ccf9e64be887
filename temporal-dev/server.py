"""The dev server: Temporal's own, with a database file, on loopback ports.

Run as a script it keeps a server alone in the foreground until Ctrl-C or SIGTERM.
"""

import fcntl
import os
import socket
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from child_process import ChildProcess, StopRequest, StopRequested, complain, run_command, say
from seeding.errors import ClientError, ServerUnreachable
from settings import server_settings, temporal_binary

LOOPBACK = "127.0.0.1"
DEFAULT_PORT = 7233
DEFAULT_UI_PORT = 8233
DEFAULT_HOME = ".fermata"
START_PATIENCE = 60.0
"""Seconds the server has to answer."""


@dataclass(frozen=True)
class Ports:
    """Where the server listens; without ``ui`` it has no user interface."""

    server: int
    ui: int | None


@dataclass(frozen=True)
class DevServer:
    """A server that answers."""

    process: ChildProcess
    ports: Ports
    log: Path

    @property
    def address(self) -> str:
        """What ``TEMPORAL_ADDRESS`` is for clients of this server."""
        return f"{LOOPBACK}:{self.ports.server}"

    @property
    def ui_address(self) -> str | None:
        """Where a browser finds the Temporal UI."""
        return None if self.ports.ui is None else f"http://{LOOPBACK}:{self.ports.ui}"

    def environment(self) -> dict[str, str]:
        """Return the environment for clients: this server, whatever the caller's says."""
        return {**without_temporal(os.environ), "TEMPORAL_ADDRESS": self.address}


def without_temporal(environment: Mapping[str, str]) -> dict[str, str]:
    """Return ``environment`` without a word on which Temporal server to use, and how.

    A profile in the caller's configuration file could add an API key or TLS, hence the empty
    one.
    """
    kept = {key: value for key, value in environment.items() if not key.startswith("TEMPORAL_")}
    return {**kept, "TEMPORAL_CONFIG_FILE": os.devnull}


def data_folder() -> Path:
    """Return the data folder, ``FERMATA_HOME`` or ``.fermata``, absolute."""
    return Path(os.environ.get("FERMATA_HOME") or DEFAULT_HOME).absolute()


def chosen_ports() -> Ports:
    """Return ``TEMPORAL_PORT`` and ``TEMPORAL_UI_PORT``; else the usual ports if they are free.

    Raises:
        ServerUnreachable: One of the variables is no port.
    """
    return Ports(
        server=_port_from("TEMPORAL_PORT", DEFAULT_PORT),
        ui=_port_from("TEMPORAL_UI_PORT", DEFAULT_UI_PORT),
    )


def _port_from(variable: str, usual: int) -> int:
    given = os.environ.get(variable)
    if not given:
        return usual if is_free(usual) else free_port()
    if not given.isdecimal() or not 0 < int(given) < 65536:
        raise ServerUnreachable(f"{variable} is {given!r}; a port is a number from 1 to 65535")
    port = int(given)
    if not is_free(port):
        raise ServerUnreachable(f"{variable}: port {port} on {LOOPBACK} is already in use")
    return port


def is_free(port: int) -> bool:
    """Return whether nothing listens on this loopback port."""
    with socket.socket() as probe:
        # As the server does: a port in TIME_WAIT is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


def free_port() -> int:
    """Return a loopback port on which nothing listens at this moment."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


@contextmanager
def dev_server(home: Path, ports: Ports, stop: StopRequest) -> Generator[DevServer]:
    """Run a server while the block runs; it is gone afterwards, however the block ends.

    Args:
        home: The data folder; the server keeps ``temporal.db`` and ``temporal.log`` there.
        ports: Where it listens.
        stop: A request to stop ends the wait for its first answer.

    Raises:
        ServerUnreachable: Another server uses the folder, or this one did not come up.
        StopRequested: It was asked during the wait.
    """
    home.mkdir(parents=True, exist_ok=True)
    log = home / "temporal.log"
    with _sole_owner(home) as lock, log.open("w", encoding="utf-8", buffering=1) as written:
        process = ChildProcess(
            "server",
            server_command(home, ports),
            environment=without_temporal(os.environ),
            on_line=lambda line: print(line, file=written),
            keep_open=(lock,),
        )
        try:
            os.pwrite(lock, f"{process.pid}\n".encode(), 0)
            server = DevServer(process, ports, log)
            _wait_until_it_answers(server, stop)
            yield server
        finally:
            process.stop()


def server_command(home: Path, ports: Ports) -> list[str]:
    """Return the command line of the server."""
    ui = ["--headless"] if ports.ui is None else ["--ui-port", str(ports.ui)]
    return [
        str(temporal_binary()),
        *("server", "start-dev", "--ip", LOOPBACK, "--port", str(ports.server)),
        *ui,
        *("--db-filename", str(home / "temporal.db")),
        *server_settings(),
    ]


@contextmanager
def _sole_owner(home: Path) -> Generator[int]:
    """Hold the folder's lock; two servers on one database would spoil it.

    The server inherits the descriptor, so the folder stays locked as long as it lives, also
    when its stage was killed.
    """
    path = home / "server.lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ServerUnreachable(
                f"another dev server (process {path.read_text().strip() or 'unknown'}) uses the "
                f"data folder {home}; stop it, or choose another folder with FERMATA_HOME"
            ) from error
        os.ftruncate(descriptor, 0)
        yield descriptor
    finally:
        os.close(descriptor)


def _wait_until_it_answers(server: DevServer, stop: StopRequest) -> None:
    health = [str(temporal_binary()), "operator", "cluster", "health"]
    deadline = time.monotonic() + START_PATIENCE
    while time.monotonic() < deadline:
        if server.process.exit_code is not None:
            raise ServerUnreachable(server.process.describe_end())
        if not is_free(server.ports.server):
            answer = run_command(
                health, environment=server.environment(), stop=stop, timeout=START_PATIENCE
            )
            if answer.returncode == 0:
                return
        stop.sleep(0.05)
    raise ServerUnreachable(
        f"the server did not answer on {server.address} within {START_PATIENCE:.0f} s; "
        f"see {server.log}"
    )


def main() -> int:
    """Keep a server in the foreground; return 0 when asked to stop, 1 when it fails."""
    stop = StopRequest()
    stop.listen()
    try:
        with dev_server(data_folder(), chosen_ports(), stop) as server:
            say(f"server  {server.address} (process {server.process.pid})")
            say(f"UI      {server.ui_address}")
            say("ready")
            while server.process.exit_code is None:
                stop.sleep(0.2)
            raise ServerUnreachable(server.process.describe_end())
    except StopRequested:
        say("stopped")
        return 0
    except ClientError as error:
        complain(f"{error.code}: {error}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
