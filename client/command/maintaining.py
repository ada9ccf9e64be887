"""The verbs that look at the log as a whole: ``verify`` and ``rebuild``."""

from typing import Annotated

import typer

from activities.log import Finding, RebuildReport
from client.command.application import FAILED
from client.command.arguments import AsJson, examples
from client.command.output import print_json, print_line
from client.log_opening import open_log, open_writable_log
from client.settings import settings
from seeding.counting import counted

EXAMPLES = {
    "verify": ("fermata verify", "fermata verify alice"),
    "rebuild": ("fermata rebuild", "fermata rebuild alice"),
}

OneThread = Annotated[
    str | None, typer.Argument(metavar="THREAD", help="The thread; by default all.")
]


def register(app: typer.Typer) -> None:
    """Add the verbs to the application."""
    for verb in (verify, rebuild):
        app.command(epilog=examples(*EXAMPLES[verb.__name__]))(verb)


def verify(thread: OneThread = None, as_json: AsJson = False) -> None:
    """Compare all that the log holds with the hashes it was accepted under.

    Prints a line for each thing that is not as it was, and exits 1 if there is any. It changes
    nothing and reads everything, so on a large log it takes its time.
    """
    with open_log(settings().log_url) as log:
        findings = log.verify(thread)
    if as_json:
        print_json([finding.to_json() for finding in findings])
    else:
        for line in map(_finding_line, findings):
            print_line(line)
        if not findings:
            print_line("everything is as it was accepted")
    if findings:
        raise typer.Exit(FAILED)


def rebuild(thread: OneThread = None, as_json: AsJson = False) -> None:
    """Make the lists of threads, runs and tickets again from the commits.

    They hold nothing of their own: what is right stays, what is wrong or missing is written
    anew. Exits 1 where a thread's commits are damaged; its lists stay as they are.
    """
    with open_writable_log(settings().log_url) as log:
        report = log.rebuild(thread)
    if as_json:
        print_json(report.to_json())
    else:
        for line in _report_lines(report):
            print_line(line)
    if report.damaged:
        raise typer.Exit(FAILED)


def _finding_line(finding: Finding) -> str:
    if finding.thread_id is None:
        return f"the log: {finding.what}"
    where = "" if finding.version is None else f", version {finding.version}"
    return f"thread {finding.thread_id}{where}: {finding.what}"


def _report_lines(report: RebuildReport) -> list[str]:
    lines = [
        f"thread {one.thread_id}: {one.threads} of its head, {one.runs} of its runs, "
        f"{one.tickets} of its tickets made again"
        for one in report.changed
    ]
    if report.stray_tickets:
        lines.append(f"the log: {counted(report.stray_tickets, 'ticket')} of no run removed")
    lines += [f"thread {one.thread_id} stays as it is: {one.what}" for one in report.damaged]
    return lines or [f"nothing to do, {counted(report.looked_at, 'thread')} looked at"]
