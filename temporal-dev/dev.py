"""``make dev``: a server with its UI and a worker, in the foreground until Ctrl-C or SIGTERM."""

import os
import sys
from pathlib import Path
from shlex import quote

from child_process import ChildProcess, StopRequest, StopRequested, complain, say
from seeding.errors import ClientError, NoWorker, ServerUnreachable
from server import DevServer, chosen_ports, data_folder, dev_server
from worker import stage_worker, worker_environment


def watch(server: DevServer, worker: ChildProcess, stop: StopRequest) -> None:
    """Return never: either it is asked to stop, or one of the two has ended.

    Raises:
        ServerUnreachable: The server ended.
        NoWorker: The worker ended.
        StopRequested: It was asked.
    """
    while True:
        if server.process.exit_code is not None:
            raise ServerUnreachable(server.process.describe_end())
        if worker.exit_code is not None:
            raise NoWorker(worker.describe_end())
        stop.sleep(0.2)


def exports(server: DevServer, home: Path) -> str:
    """Return the line that makes another terminal reach this server, its runs and its log.

    The caller's own log and queue are what the worker uses, so others need them too.
    """
    needed = {"TEMPORAL_ADDRESS": server.address, "FERMATA_HOME": str(home)}
    for name in ("FERMATA_LOG_URL", "FERMATA_TASK_QUEUE"):
        if given := os.environ.get(name):
            needed[name] = given
    return f"export {' '.join(f'{name}={quote(value)}' for name, value in needed.items())}"


def main() -> int:
    """Run the stage; return 0 when asked to stop, 1 when server or worker fails."""
    stop = StopRequest()
    stop.listen()
    home = data_folder()
    try:
        with dev_server(home, chosen_ports(), stop) as server:
            say(f"server  {server.address}")
            say(f"UI      {server.ui_address}")
            say(f"data    {home}")
            environment = worker_environment(server, home)
            with stage_worker(server, environment, stop, on_line=say) as worker:
                say(f"for other terminals: {exports(server, home)}")
                say("ready")
                watch(server, worker, stop)
    except StopRequested:
        say("stopped")
    except ClientError as error:
        complain(f"{error.code}: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
