"""The ``fermata`` command: verbs that read the log, verbs that act on runs, graphs, the worker.

What lives here: options and their refusals, and how answers are printed. What must not: anything
a program would want to call; that is ``client.threads`` and ``client.reading``.
"""

from client.command import acting, graphs, reading, sending, serving, starting, watching
from client.command.application import app
from client.command.output import leave

__all__ = ["app", "main"]

starting.register(app)
watching.register(app)
sending.register(app)
acting.register(app)
reading.register(app)
graphs.register(app)
serving.register(app)


def main() -> None:
    """Run the command: exit 0 done, 1 refused or failed with one line why, 2 usage."""
    try:
        app(prog_name="fermata")
    except SystemExit as ending:
        leave(ending.code if isinstance(ending.code, int) else 0)
