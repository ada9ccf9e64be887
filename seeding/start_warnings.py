"""What a start that goes through still tells its caller.

A warning names what it is about and, where there is one, the command that undoes it, quoted
for a shell.
"""

import shlex

from seeding.counting import counted
from seeding.decisions import StartWarning
from seeding.facts import CheckpointFact, RunFact, ThreadFacts
from seeding.identity import checkpoint_id
from seeding.request import RunRequest

MAX_NAMED = 20
"""How many effects a warning names."""


def unknown_checkpoint(named: str, facts: ThreadFacts, *, ends: bool) -> StartWarning:
    """Warn of a checkpoint that does not exist, and of what the fresh start leaves behind.

    Args:
        named: The checkpoint id as the caller gave it.
        facts: The thread's facts.
        ends: Whether the start ends the latest run; its end is then the point to return to.
    """
    opening = f"checkpoint {named!r} {facts.why_missing(named)}; the run starts fresh"
    latest = facts.latest
    if latest is None:
        return _unknown(f"{opening}, and thread {facts.thread_id!r} has no run to leave behind")
    point = checkpoint_id(latest.run_id, latest.last_ordinal + (1 if ends else 0))
    command = shlex.join(["fermata", "start", facts.thread_id, latest.graph, "--fork-from", point])
    return _unknown(
        f"{opening}, without the state of thread {facts.thread_id!r}. Branch {latest.branch!r} "
        f"is left behind at run {latest.run_id}; once this run has ended, return to it with: "
        f"{command}"
    )


def effects_run_again(checkpoint: CheckpointFact) -> StartWarning:
    """Warn that a start at an earlier position repeats what its run did behind it."""
    run, name = checkpoint.run, checkpoint.checkpoint_id
    behind = list(checkpoint.effects_behind)
    named = ", ".join(behind[:MAX_NAMED]) + (
        f" and {len(behind) - MAX_NAMED} more" if len(behind) > MAX_NAMED else ""
    )
    said = f": {named}" if behind else "; it has begun none"
    if run.has_ended:
        return StartWarning(
            code="effects_run_again",
            message=f"this run starts at {name}, in the middle of run {run.run_id}; effects of "
            f"that run behind it run again under new keys{said}",
        )
    retired = f" Its tickets are retired: {', '.join(run.tickets)}." if run.tickets else ""
    return StartWarning(
        code="effects_run_again",
        message=(
            f"run {run.run_id} is ended as superseded and a new run starts at {name}; effects "
            f"of the old run behind it, up to {run.last_checkpoint}, run again under new "
            f"keys{said}.{retired}"
        ),
    )


def run_was_lost(run: RunFact) -> StartWarning:
    """Warn that the run before was ended because nothing executes it any more."""
    reason = run.lost_because or "unknown"
    times = counted(run.takeovers, "time")
    taken = f", taken over {times} without a commit" if run.takeovers else ""
    return StartWarning(
        code="run_was_lost",
        message=(
            f"run {run.run_id} was left running at {run.last_checkpoint} and its workflow is "
            f"gone (reason: {reason}{taken}); it is ended as Indeterminate. Whether an effect it "
            "had begun was done is not known"
        ),
    )


def pinned(
    request: RunRequest, requested_graph: str | None, run: RunFact, *, config: bool = True
) -> tuple[StartWarning, ...]:
    """Warn where the request's graph or config differs from what an adopted run has pinned.

    Only config fields that the request gave are compared; ``onUnknownCheckpoint`` means
    nothing after the start.

    Args:
        request: The request.
        requested_graph: The graph it names, None where that is not known.
        run: The run that has pinned both.
        config: Whether the run's config goes on too, as it does in an adopted run.
    """
    warnings: list[StartWarning] = []
    if requested_graph is not None and run.graph and requested_graph != run.graph:
        warnings.append(
            StartWarning(
                code="pinned_graph",
                message=f"run {run.run_id} goes on with its own graph {run.graph}, "
                f"not with {requested_graph}"
                if config
                else f"the position is of graph {run.graph}, which goes on; not {requested_graph}",
            )
        )
    if not config:
        return tuple(warnings)
    asked = request.config.model_dump(mode="json", by_alias=True, exclude_unset=True)
    differing = [
        f"{name} {run.config[name]!r}, not {value!r}"
        for name, value in asked.items()
        if name != "onUnknownCheckpoint" and name in run.config and run.config[name] != value
    ]
    if differing:
        warnings.append(
            StartWarning(
                code="pinned_config",
                message=f"run {run.run_id} goes on with its own config: {'; '.join(differing)}",
            )
        )
    return tuple(warnings)


def _unknown(message: str) -> StartWarning:
    return StartWarning(code="unknown_checkpoint", message=message)
