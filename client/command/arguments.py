"""Arguments and options that several verbs share, and how a help names its examples."""

from typing import Annotated

import typer

WORKER_SECONDS = 10.0

Thread = Annotated[str, typer.Argument(metavar="THREAD", help="The thread, such as alice.")]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON document on stdout, all else on stderr.")
]
AnswerSeconds = Annotated[
    float,
    typer.Option("--timeout", min=0.1, help="Seconds the run has to answer."),
]
Watch = Annotated[
    bool, typer.Option("--watch", help="Show the run's progress until it waits or ends.")
]
WatchSeconds = Annotated[
    float | None,
    typer.Option(
        "--timeout", min=0.1, help="Seconds to watch; by default for as long as it takes."
    ),
]


def examples(*lines: str) -> str:
    """Return the end of a help text: lines that work as they are printed, never wrapped."""
    return "\n".join(("\b", "Examples:", *(f"  {line}" for line in lines)))
