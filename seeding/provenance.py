"""Why a source won: what the start table passed over before it.

The table has three steps, always in this order: an explicit snapshot (``initialSnapshot``; a
``forkFrom`` is read as one), the named ``checkpoint``, the ``thread``. Each step that did not
win is listed with its reason:

- ``not given``: the request says nothing of it.
- ``not consulted``: an earlier step won, so it made no difference whether it was given.
- ``unknown: <id>``: the named checkpoint does not exist.
- ``not taken: a checkpoint was named``: the thread's state, after an unknown checkpoint.
- ``no run yet``: the thread has no run to start from.

What won at the third step lists nothing behind itself: ``thread``, ``paused`` and
``recovered`` pass over the snapshot and the checkpoint only.
"""

from seeding.decisions import PassedOver, Source, Start

NOT_GIVEN = "not given"
NOT_CONSULTED = "not consulted"

_NO_SNAPSHOT = PassedOver(source="initialSnapshot", why=NOT_GIVEN)
_NO_CHECKPOINT = PassedOver(source="checkpoint", why=NOT_GIVEN)
_CHECKPOINT_UNREAD = PassedOver(source="checkpoint", why=NOT_CONSULTED)
_THREAD_UNREAD = PassedOver(source="thread", why=NOT_CONSULTED)


def by_snapshot() -> Start:
    """Return the provenance of a start from the request's own snapshot."""
    return Start(source="initialSnapshot", passed_over=(_CHECKPOINT_UNREAD, _THREAD_UNREAD))


def by_fork() -> Start:
    """Return the provenance of a start from ``forkFrom``."""
    return Start(source="forkFrom", passed_over=(_NO_SNAPSHOT, _CHECKPOINT_UNREAD, _THREAD_UNREAD))


def by_checkpoint() -> Start:
    """Return the provenance of a start from the named checkpoint."""
    return Start(source="checkpoint", passed_over=(_NO_SNAPSHOT, _THREAD_UNREAD))


def by_thread(source: Source) -> Start:
    """Return the provenance of a start that the thread decided: its latest run, or its branch."""
    return Start(source=source, passed_over=(_NO_SNAPSHOT, _NO_CHECKPOINT))


def by_branch() -> Start:
    """Return the provenance of the first run on a branch that a fork has left."""
    return Start(
        source="forkFrom",
        passed_over=(_NO_SNAPSHOT, _NO_CHECKPOINT, _passed_thread("no run yet")),
    )


def by_default() -> Start:
    """Return the provenance of the fresh state of a thread without a run."""
    return Start(
        source="fresh", passed_over=(_NO_SNAPSHOT, _NO_CHECKPOINT, _passed_thread("no run yet"))
    )


def by_unknown_checkpoint(checkpoint: str) -> Start:
    """Return the provenance of the fresh state after a checkpoint that does not exist."""
    return Start(
        source="fresh",
        passed_over=(
            _NO_SNAPSHOT,
            PassedOver(source="checkpoint", why=f"unknown: {checkpoint}"),
            _passed_thread("not taken: a checkpoint was named"),
        ),
    )


def _passed_thread(why: str) -> PassedOver:
    return PassedOver(source="thread", why=why)
