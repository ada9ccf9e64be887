"""The verb ``prune``: taking what is old out of the log."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from activities.log import PruneReport, PruneRule
from client.command.arguments import AsJson, examples
from client.command.output import print_json, print_line, print_table
from client.log_opening import open_log, open_writable_log
from client.settings import settings
from seeding.durations import parse_duration
from seeding.errors import InvalidRequest
from seeding.model import JsonObject

EXAMPLES = {
    "prune": (
        "fermata prune",
        "fermata prune alice --older-than 7d --keep 3",
        "fermata prune --apply --shrink",
    )
}


def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command(epilog=examples(*EXAMPLES["prune"]))(prune)


def prune(
    thread: Annotated[
        str | None, typer.Argument(metavar="THREAD", help="The thread; by default all.")
    ] = None,
    older_than: Annotated[
        str, typer.Option(help="Only runs that ended longer ago; 0 is any age.")
    ] = "30d",
    keep: Annotated[
        int, typer.Option(min=0, help="So many of the newest runs of each branch stay.")
    ] = 10,
    apply: Annotated[bool, typer.Option("--apply", help="Remove it; else it is shown.")] = False,
    shrink: Annotated[
        bool,
        typer.Option("--shrink", help="Write a SQLite file anew afterwards; writers wait."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show, or with --apply remove, the old checkpoints and ended branches of the log.

    A run that is old enough keeps how it began and ended; no conversation gets shorter. What
    the next turn starts from, or a branch stands on, always stays. A branch that was left
    behind goes whole once all its runs are old enough, --keep included.
    """
    if shrink and not apply:
        raise typer.BadParameter("only together with --apply", param_hint="--shrink")
    age = _age(older_than)
    if apply:
        with open_writable_log(settings().log_url) as log:
            report = log.prune(thread, older_than=age, keep=keep, apply=True)
            shrunk = log.write_anew() if shrink else None
            on_server = log.reuses_space
    else:
        with open_log(settings().log_url) as log:
            report = log.prunable(PruneRule.older_than(age, datetime.now(UTC), keep), thread)
            shrunk, on_server = None, False
    if as_json:
        print_json({**report.to_json(), "shrunk": shrunk})
    else:
        _print(report, shrunk, on_server=on_server)


def _age(text: str) -> timedelta:
    try:
        return timedelta(seconds=parse_duration(text, "--older-than") or 0)
    except InvalidRequest as error:
        raise typer.BadParameter(error.message, param_hint="--older-than") from error


def _print(report: PruneReport, shrunk: bool | None, *, on_server: bool) -> None:
    columns = ("thread", "branch", "goes", "runs", "commits", "checkpoints", "messages", "bytes")
    rows: list[tuple[str | int, ...]] = []
    for item in report.branches:
        row: JsonObject = item.to_json()
        goes = "whole" if item.whole else "in part"
        rows.append((row["threadId"], row["branch"], goes, *(row[name] for name in columns[3:])))
    print_table(columns, rows, empty="nothing is old enough to go")
    if report.branches and not report.applied:
        print_line("nothing was written; add --apply to remove it")
    if shrunk is False and on_server:
        print_line("nothing is written anew on a server, which uses the space again by itself")
    elif shrunk is False:
        print_line("the file was not written anew: others hold it open")
