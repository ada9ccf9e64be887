"""The progress of a run on stderr: a table that moves on a terminal, else a line a change."""

import sys
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from client.command.output import complain, printable
from client.looking import UNSTARTED, Look, changes, new_warnings

_STYLES = {
    "running": "bold cyan",
    "interrupted": "bold yellow",
    "completed": "green",
    "failed": "bold red",
    "cancelled": "yellow",
    "skipped": "dim",
    UNSTARTED: "dim",
}


class ProgressView:
    """Shows each look at a run while it is open; on a terminal as one table in place.

    Args:
        thread_id: The thread whose run is shown.
    """

    def __init__(self, thread_id: str) -> None:
        self._thread_id = thread_id
        self._last: Look | None = None
        self._live: Live | None = None
        if sys.stderr.isatty():
            console = Console(stderr=True, markup=False, highlight=False, emoji=False)
            self._live = Live(console=console, auto_refresh=False)

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, look: Look) -> None:
        """Show how the run stands now."""
        if self._live is not None:
            for line in new_warnings(self._last, look):
                complain(line)  # Stays above the table, which moves on.
            self._live.update(progress_table(self._thread_id, look), refresh=True)
        else:
            for line in changes(self._last, look):
                complain(line)
        self._last = look


def progress_table(thread_id: str, look: Look) -> Group:
    """Return the table of a run's nodes under a line that says where it is."""
    said = [f"thread {thread_id}", look.phase, *filter(None, (look.place, look.held_up))]
    table = Table(box=None, pad_edge=False)
    table.add_column("node")
    table.add_column("status")
    table.add_column("executions", justify="right")
    for node, seen in look.nodes.items():
        status = Text(printable(seen.status), style=_STYLES.get(seen.status, ""))
        table.add_row(Text(printable(node)), status, str(seen.executions))
    return Group(Text(printable(" · ".join(said)), no_wrap=True, overflow="ellipsis"), table)
