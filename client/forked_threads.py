"""A thread that was forked and has no run yet: what it stands on, as its first run will find it."""

from shlex import quote
from typing import NamedTuple

from activities.log import AsyncLogReader, StateView, StoredBranch
from seeding.clearing import begin_turn
from seeding.errors import CorruptLog
from seeding.model import JsonObject
from seeding.state import RunState

FORKED = "forked"
"""The phase of such a thread."""


class ForkedThread(NamedTuple):
    """A thread without a run, and the point of another one that it stands on."""

    branch: StoredBranch
    checkpoint_id: str | None

    @property
    def origin(self) -> str:
        """The thread it was forked from."""
        return self.branch.lineage[-1].thread_id

    @property
    def point(self) -> str:
        """The checkpoint it stands on.

        Raises:
            CorruptLog: The log has lost it; without it the thread stands on nothing, least of all
                on what its origin has come to since.
        """
        if self.checkpoint_id is None:
            tip = self.branch.lineage[-1]
            raise CorruptLog(
                f"thread {self.branch.thread_id!r} was forked from thread {tip.thread_id!r} at its "
                f"commit {tip.up_to}, which is missing; see `fermata verify "
                f"{quote(tip.thread_id)}`"
            )
        return self.checkpoint_id


def find_forked(log: AsyncLogReader, thread_id: str) -> ForkedThread | None:
    """Return a thread that was forked and has no run yet; None for any other."""
    if log.latest_run(thread_id) is not None:
        return None
    for branch in log.forks():
        if branch.thread_id == thread_id:
            return described(log, branch)
    return None


def described(log: AsyncLogReader, branch: StoredBranch) -> ForkedThread:
    """Return the thread of a branch on which no run was opened."""
    point = branch.lineage[-1]
    return ForkedThread(branch, log.checkpoint_at(point.thread_id, point.up_to))


def forked_state(log: AsyncLogReader, forked: ForkedThread) -> tuple[RunState, JsonObject]:
    """Return the state that the first run will start from, and its ``run`` block.

    At a run's end that is what its next turn keeps; elsewhere the position, untouched.

    Raises:
        CorruptLog: The log has lost the checkpoint.
    """
    view: StateView = log.state(forked.origin, forked.point)
    state = begin_turn(view.state) if view.phase == "ended" else view.state
    block: JsonObject = {
        "runId": None,
        "runEpoch": 0,
        "phase": FORKED,
        "pausedReason": None,
        "graph": None,
        "branch": forked.branch.name,
        "checkpointId": None,
        "waitingFor": [],
        "forkedFrom": forked.point,
    }
    return state.model_copy(update={"thread_id": forked.branch.thread_id}), block
