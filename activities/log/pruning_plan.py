"""Which runs and branches of a thread may be pruned: pure, over facts that were read before.

The runs of a branch are pruned oldest first, without a gap, up to its **floor**: the last
version of a run that ended. A run stays, and with it every later one of its branch, where

- it has not ended, or is the run opened last on its thread, from whose end the next turn starts;
- it is among the newest ``keep`` of its branch, or ended at or after ``before``;
- a branch of any thread stands on a point at or below its end;
- another run goes on with its position, and is not pruned itself.

A branch goes whole where all its runs may go, it is not the branch of the run opened last, and
no branch stands on it. What stands on a branch that goes whole holds nothing back any more.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from activities.log.records import iso
from seeding.model import Model


class PruneRule(Model):
    """What is old enough to go; both must hold.

    Attributes:
        before: Runs that ended before this time go; ISO 8601 in UTC, to the millisecond.
        keep: So many of the newest runs of each branch stay.
    """

    before: str
    keep: int

    @classmethod
    def older_than(cls, age: timedelta, now: datetime, keep: int) -> "PruneRule":
        """Return the rule by which what ended longer than ``age`` before ``now`` goes."""
        return cls(before=iso(now - age), keep=keep)


class PrunableRun(Model):
    """One run, as far as pruning looks at it."""

    run_id: str
    branch: str
    last_version: int
    ended_at: str | None


class Support(Model):
    """A point of a thread's branch that something stands on.

    Attributes:
        branch: The branch that is stood on.
        up_to: The version up to which it is needed.
        by_branch: The branch of the same thread that needs it; None where another thread does.
    """

    branch: str
    up_to: int
    by_branch: str | None = None


class Continuation(Model):
    """A run that another run goes on with.

    Attributes:
        run_id: The run that is gone on with.
        by_branch: The branch of the run that does, where that is of the same thread.
        by_version: That run's last version.
    """

    run_id: str
    by_branch: str | None = None
    by_version: int = 0


class PruningFacts(Model):
    """What a plan for one thread is made of.

    Attributes:
        runs: All its runs, in the order in which they were opened.
        branches: The names of the branches it has.
        floors: How far each branch was pruned before.
    """

    thread_id: str
    head_run_id: str
    runs: tuple[PrunableRun, ...]
    branches: tuple[str, ...]
    supports: tuple[Support, ...] = ()
    continuations: tuple[Continuation, ...] = ()
    floors: dict[str, int] = {}


class BranchPlan(Model):
    """What goes of one branch.

    Attributes:
        floor: The version up to which it is pruned.
        runs: The runs of which only beginning and end stay, in the order of their opening.
        whole: Whether the branch itself goes, with its messages and cells.
    """

    branch: str
    floor: int
    runs: tuple[str, ...]
    whole: bool = False


class _Progress(NamedTuple):
    """How far planning has come; it only ever grows."""

    floors: dict[str, int]
    removed: dict[str, None]


def plan_pruning(facts: PruningFacts, rule: PruneRule) -> tuple[BranchPlan, ...]:
    """Return what goes of a thread by ``rule``, branch by branch.

    Carried out, the same facts read again give an empty plan.
    """
    own: dict[str, list[PrunableRun]] = {branch: [] for branch in facts.branches}
    for run in facts.runs:
        own.setdefault(run.branch, []).append(run)
    so_far = _Progress(dict(facts.floors), {})
    while True:
        before = (dict(so_far.floors), len(so_far.removed))
        for branch in facts.branches:
            if branch not in so_far.removed:
                _go_on(facts, rule, branch, own[branch], so_far)
        if before == (so_far.floors, len(so_far.removed)):
            break
    plans = (_plan(facts, branch, own[branch], so_far) for branch in facts.branches)
    return tuple(plan for plan in plans if plan.runs or plan.whole)


def _go_on(
    facts: PruningFacts,
    rule: PruneRule,
    branch: str,
    own: Sequence[PrunableRun],
    so_far: _Progress,
) -> None:
    """Move the floor of a branch as far as it may, or remove the branch."""
    supports = [
        support.up_to
        for support in facts.supports
        if support.branch == branch and support.by_branch not in so_far.removed
    ]
    continued = [
        item.run_id
        for item in facts.continuations
        if item.by_branch is None or item.by_version > so_far.floors.get(item.by_branch, 0)
    ]
    needed = min(supports, default=None)
    allowed = _allowed(facts, rule, own)
    for run in own:
        if run.last_version <= so_far.floors.get(branch, 0):
            continue
        stood_on = needed is not None and run.last_version >= needed
        if run.run_id not in allowed or run.run_id in continued or stood_on:
            return
        so_far.floors[branch] = run.last_version
    if own and len(allowed) == len(own) and needed is None:
        so_far.removed[branch] = None


def _allowed(facts: PruningFacts, rule: PruneRule, own: Sequence[PrunableRun]) -> dict[str, None]:
    """Return the runs of a branch that may go by the rule, whatever stands on them."""
    old = own[: len(own) - rule.keep] if rule.keep < len(own) else ()
    return {
        run.run_id: None
        for run in old
        if run.ended_at is not None
        and run.ended_at < rule.before
        and run.run_id != facts.head_run_id
    }


def _plan(
    facts: PruningFacts, branch: str, own: Sequence[PrunableRun], so_far: _Progress
) -> BranchPlan:
    floor, before = so_far.floors.get(branch, 0), facts.floors.get(branch, 0)
    runs = tuple(run.run_id for run in own if before < run.last_version <= floor)
    return BranchPlan(branch=branch, floor=floor, runs=runs, whole=branch in so_far.removed)
