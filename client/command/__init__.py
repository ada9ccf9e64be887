"""The ``fermata`` command: verbs that read the log, verbs that act on runs, graphs, the worker.

What lives here: options and their refusals, and how answers are printed. What must not: anything
a program would want to call; that is ``client.threads`` and ``client.reading``.
"""

import sys

from client.own_packages import other_package


def main() -> None:
    """Run the command: exit 0 done, 1 refused or failed with one line why, 2 usage."""
    if other := other_package():
        sys.exit(f"InvalidSettings: {other}")
    # Not before: what is imported here imports those packages.
    from client.command.output import leave
    from client.command.verbs import app

    try:
        app(prog_name="fermata")
    except SystemExit as ending:
        leave(ending.code if isinstance(ending.code, int) else 0)
