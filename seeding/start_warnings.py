"""What a start that goes through still tells its caller.

A warning names what it is about and, where there is one, the command that undoes it, quoted
for a shell.
"""

import shlex

from seeding.decisions import StartWarning
from seeding.facts import CheckpointFact, RunFact, ThreadFacts
from seeding.identity import checkpoint_id
from seeding.request import RunRequest


def unknown_checkpoint(named: str, facts: ThreadFacts, *, ends: bool) -> StartWarning:
    """Warn of a checkpoint that does not exist, and of what the fresh start leaves behind.

    Args:
        named: The checkpoint id as the caller gave it.
        facts: The thread's facts.
        ends: Whether the start ends the latest run; its end is then the point to return to.
    """
    opening = f"checkpoint {named!r} does not exist; the run starts fresh"
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
    """Warn that going back repeats what the superseded run did behind the checkpoint."""
    run, name = checkpoint.run, checkpoint.checkpoint_id
    retired = f" Its tickets are retired: {', '.join(run.tickets)}." if run.tickets else ""
    return StartWarning(
        code="effects_run_again",
        message=(
            f"run {run.run_id} is ended as superseded and a new run starts at {name}; effects "
            f"of the old run behind it, up to {run.last_checkpoint}, are not known to the new "
            f"one and run again under new keys.{retired}"
        ),
    )


def run_was_lost(run: RunFact) -> StartWarning:
    """Warn that the run before was ended because nothing executes it any more."""
    reason = run.lost_because or "unknown"
    return StartWarning(
        code="run_was_lost",
        message=(
            f"run {run.run_id} was left running at {run.last_checkpoint} and its workflow is "
            f"gone (reason: {reason}); it is ended as Indeterminate. Whether an effect it had "
            "begun was done is not known"
        ),
    )


def pinned(
    request: RunRequest, requested_graph: str | None, run: RunFact
) -> tuple[StartWarning, ...]:
    """Warn where the request's graph or config differs from what an adopted run has pinned.

    Only config fields that the request gave are compared; ``onUnknownCheckpoint`` means
    nothing after the start.
    """
    warnings: list[StartWarning] = []
    if requested_graph is not None and run.graph and requested_graph != run.graph:
        warnings.append(
            StartWarning(
                code="pinned_graph",
                message=f"run {run.run_id} goes on with its own graph {run.graph}, "
                f"not with {requested_graph}",
            )
        )
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
