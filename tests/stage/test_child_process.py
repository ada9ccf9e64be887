"""Children of the stage: their output, their end, their stopping."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from child_process import ChildProcess, StopRequest, StopRequested, run_command
from tests.stage.scripts import STAGE, is_alive

STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
while True:
    time.sleep(60)
"""


def test_lines_of_both_streams_arrive_and_the_last_one_is_kept() -> None:
    lines: list[str] = []
    child = ChildProcess(
        "singer",
        [sys.executable, "-c", "import sys; print('do'); sys.stdout.flush(); sys.exit('re')"],
        environment=os.environ,
        on_line=lines.append,
    )
    child.wait()

    assert child.describe_end() == ("the singer ended by itself with exit code 1; it last said: re")
    assert lines == ["do", "re"]
    child.stop()


def test_a_child_that_ignores_the_polite_signal_is_killed() -> None:
    deaf = threading.Event()
    child = ChildProcess(
        "stubborn child",
        [sys.executable, "-c", STUBBORN],
        environment=os.environ,
        on_line=lambda line: deaf.set(),
    )
    assert deaf.wait(timeout=30)

    child.stop(patience=0.1)

    assert child.exit_code == -signal.SIGKILL
    assert not is_alive(child.pid)


def test_stopping_a_child_twice_changes_nothing() -> None:
    child = ChildProcess(
        "child", [sys.executable, "-c", ""], environment=os.environ, on_line=lambda line: None
    )
    child.stop()
    ended = child.exit_code

    child.stop()

    assert child.exit_code == ended


def test_a_request_to_stop_ends_the_command_that_is_running() -> None:
    stop = StopRequest()
    stop.ask()

    with pytest.raises(StopRequested):
        run_command([sys.executable, "-c", STUBBORN], environment=os.environ, stop=stop, timeout=60)


def test_a_command_beyond_its_time_is_ended() -> None:
    answer = run_command(
        [sys.executable, "-c", STUBBORN], environment=os.environ, stop=StopRequest(), timeout=0.2
    )

    assert answer.returncode == -signal.SIGKILL


def test_a_storm_of_signals_during_a_wait_stops_it_and_never_locks_it_up() -> None:
    """A handler that took a lock would meet the one that the interrupted wait holds."""
    code = (
        "import os, signal, threading, time\n"
        "from child_process import StopRequest, StopRequested\n"
        "for _ in range(200):\n"
        "    stop = StopRequest()\n"
        "    stop.listen()\n"
        "    main = os.getpid()\n"
        "    storm = threading.Thread(\n"
        "        target=lambda: [os.kill(main, signal.SIGTERM) for _ in range(20)]\n"
        "    )\n"
        "    storm.start()\n"
        "    try:\n"
        "        while True:\n"
        "            stop.sleep(0.0001)\n"
        "    except StopRequested:\n"
        "        storm.join()\n"
        "print('stopped', flush=True)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(STAGE)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "stopped\n", done.stderr
