"""What the start table decides: which run goes on or opens, from what, and why.

A decision is data. It is recorded as the result of the start activity and its ``start`` and
``warnings`` are shown in the run's result (contract, section 3).
"""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from seeding.commits import BranchPoint, EndCause
from seeding.model import Model

Source = Literal[
    "initialSnapshot", "forkFrom", "checkpoint", "thread", "paused", "recovered", "fresh"
]
WarningCode = Literal[
    "unknown_checkpoint", "effects_run_again", "run_was_lost", "pinned_graph", "pinned_config"
]


class PassedOver(Model):
    """A source that did not win, and why."""

    source: Source
    why: str


class Start(Model):
    """Provenance: the source that won and those that were passed over, in the table's order."""

    source: Source
    passed_over: tuple[PassedOver, ...] = ()


class StartWarning(Model):
    """Something the caller should read although the start goes through."""

    code: WarningCode
    message: str


class Base(Model):
    """Where the new run's state is read from.

    Attributes:
        kind: ``none`` is the fresh state; ``thread`` the latest state of the thread;
            ``checkpoint`` the state at a named one; ``snapshot`` the request's own.
        checkpoint_id: The commit the state is read at, for ``thread`` and ``checkpoint``.
        cleared: Whether ``begin_turn`` clears it (SG-12); otherwise it is taken with its
            position.
    """

    kind: Literal["none", "thread", "checkpoint", "snapshot"]
    checkpoint_id: str | None = None
    cleared: bool = False


class RunEnding(Model):
    """A run that is ended in the same transaction that opens the new one."""

    run_id: str
    cause: EndCause


class Restore(Model):
    """The chain's own run goes on; the table was skipped.

    ``start`` is what the run's opening recorded.
    """

    kind: Literal["restore"] = "restore"
    run_id: str
    run_epoch: int
    has_ended: bool
    start: Start | None = None
    warnings: tuple[StartWarning, ...] = ()


class Adopt(Model):
    """A run that lost its workflow goes on under its own id, untouched.

    ``queues_content`` tells that what the request carried is to be queued as the next turn.
    """

    kind: Literal["adopt"] = "adopt"
    run_id: str
    run_epoch: int
    queues_content: bool = False
    start: Start
    warnings: tuple[StartWarning, ...] = ()


class Open(Model):
    """A new run is opened.

    Attributes:
        branch: The branch the run goes on in.
        opens_branch: Whether its opening commit makes that branch.
        stands_on: What the branch stands on, where it is new or no run was opened on it yet;
            None for one that stands on nothing.
        ends: What is ended first, in the same transaction.
        thread_version: The version the decision was made at, for the compare-and-set.
    """

    kind: Literal["open"] = "open"
    run_epoch: int
    branch: str
    opens_branch: bool
    stands_on: BranchPoint | None = None
    base: Base
    ends: tuple[RunEnding, ...] = ()
    thread_version: int
    start: Start
    warnings: tuple[StartWarning, ...] = ()

    @property
    def goes_on_at(self) -> str | None:
        """The checkpoint whose position the run goes on at; None for one that begins anew."""
        return (
            None
            if self.base.kind != "checkpoint" or self.base.cleared
            else (self.base.checkpoint_id)
        )


StartDecision: TypeAlias = Annotated[Restore | Adopt | Open, Field(discriminator="kind")]
"""One of three: the chain's run, an adopted run, or a new one."""
