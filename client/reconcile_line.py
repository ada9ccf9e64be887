"""The line a person pastes into a shell about a run whose workflow may be lost."""

from shlex import quote


def reconcile_line(thread_id: str, *, namespace: str | None = None, repair: bool = False) -> str:
    """Return the ``fermata reconcile`` line for a thread, shell-quoted.

    Args:
        thread_id: The thread.
        namespace: The namespace that owns the thread's run; None or empty is the one that is set.
        repair: Whether the line puts right what it finds.
    """
    there = f"TEMPORAL_NAMESPACE={quote(namespace)} " if namespace else ""
    return f"{there}fermata reconcile {quote(thread_id)}{' --repair' if repair else ''}"
