"""The application all verbs are part of, and how an error becomes one line and an exit code."""

from typing import Any

import typer
from typer.core import TyperGroup

from client.command.arguments import examples
from client.command.output import complain
from seeding.errors import FermataError

FAILED = 1
"""Exit code of what was refused or has failed; 2 is a wrong use of the command."""


HELP = """Run node graphs on conversation threads, answer what they wait for, read the threads.

A thread keeps messages and data; each run is one turn on it. Where a graph needs a person its
run waits, for as long as it takes, until `fermata resume` answers.

Runs are on the Temporal server of TEMPORAL_ADDRESS, done by a worker (`fermata worker`, or
`make dev` with a server of its own). What threads hold is in the log of FERMATA_LOG_URL, or
log.db in FERMATA_HOME; to read it takes neither server nor worker.
"""


class Verbs(TyperGroup):
    """The group of verbs; an error of this project ends it with one line that says why."""

    # Typer keeps the class of the context to itself.
    def invoke(self, ctx: Any) -> Any:
        """Run the verb that was named."""
        try:
            return super().invoke(ctx)
        except FermataError as error:
            complain(f"{error.code}: {error.message}")
            raise typer.Exit(FAILED) from error
        except UnicodeEncodeError as error:
            complain(f"InvalidRequest: an argument is no Unicode text: {error.object!r}")
            raise typer.Exit(FAILED) from error


# Plain help and plain usage errors: they are read in logs and by programs as well.
app = typer.Typer(
    name="fermata",
    cls=Verbs,
    help=HELP,
    epilog=examples(
        "fermata start alice expense-review --input 'items.value=[50, 150]'",
        "fermata watch alice",
        "fermata resume alice --decision approve",
        "fermata state alice",
    ),
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
