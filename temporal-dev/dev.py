"""``make dev``: a server with its UI and a worker, in the foreground until Ctrl-C or SIGTERM."""

import sys

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
                say(f"for other terminals: export TEMPORAL_ADDRESS={server.address}")
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
