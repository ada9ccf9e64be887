"""A request to stop that arrives between any two steps of a wait, one after the other.

A signal handler runs in the main thread between two steps of whatever it does. So here the
signal comes at the first step of a wait, in the next wait at the second, and so on until every
step has had it. What a handler waits for must not be held by the wait that it interrupts.
"""

import signal
import sys
from collections.abc import Callable, Iterator
from functools import partial
from types import FrameType, TracebackType
from typing import Any, Protocol

import pytest

from child_process import StopRequest, StopRequested


class Stop(Protocol):
    def ask(self) -> None: ...

    def sleep(self, seconds: float) -> None: ...


class LockedUp(Exception):
    """Where a real lock would wait for itself for ever."""


class Lock:
    """A lock that says so where its own holder would wait for it."""

    def __init__(self) -> None:
        self.held = False

    def __enter__(self) -> None:
        if self.held:
            raise LockedUp
        self.held = True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.held = False


class LockedStop:
    """The control: a request to stop behind a lock, as ``threading.Event`` has one."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._asked = False

    def ask(self) -> None:
        with self._lock:
            self._asked = True

    def sleep(self, seconds: float) -> None:
        with self._lock:
            asked = self._asked
        if asked:
            raise StopRequested


class Interruption:
    """Calls ``strike`` right before step ``at`` of what it is told to run."""

    def __init__(self, at: int, strike: Callable[[], None]) -> None:
        self._left = at
        self._strike = strike
        self.struck = False

    def run(self, work: Callable[[], None]) -> None:
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            work()
        finally:
            sys.settrace(before)

    def _enter(self, frame: FrameType, event: str, _: Any) -> Any:
        frame.f_trace_opcodes = True
        return self._step

    def _step(self, frame: FrameType, event: str, _: Any) -> Any:
        if event == "opcode" and not self.struck:
            self._left -= 1
            if self._left < 0:
                self.struck = True
                self._strike()
        return self._step


def is_noticed(wait: Callable[[], None]) -> bool:
    try:
        wait()
    except StopRequested:
        return True
    return False


def interrupted_waits(make: Callable[[], Stop], strike: Callable[[Stop], None]) -> Iterator[bool]:
    """Interrupt a wait at its first step, another at its second, until one has no such step.

    Yields, for each, whether it or the wait after it noticed the request.
    """
    at = 0
    while True:
        stop = make()
        wait = partial(stop.sleep, 0)
        interruption = Interruption(at, partial(strike, stop))
        noticed = is_noticed(partial(interruption.run, wait))
        if not interruption.struck:
            return
        yield noticed or is_noticed(wait)
        at += 1


@pytest.fixture
def handlers() -> Iterator[None]:
    """The signal handlers of this process as they were, put back after the test."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def listening() -> Stop:
    stop = StopRequest()
    stop.listen()
    return stop


@pytest.mark.usefixtures("handlers")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_at_any_step_of_a_wait_is_noticed_by_that_wait_or_the_next(
    number: signal.Signals,
) -> None:
    noticed = list(interrupted_waits(listening, lambda stop: signal.raise_signal(number)))
    assert len(noticed) > 10
    assert all(noticed)


def test_a_request_behind_a_lock_would_lock_up_at_some_step() -> None:
    with pytest.raises(LockedUp):
        list(interrupted_waits(LockedStop, lambda stop: stop.ask()))
