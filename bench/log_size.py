"""What a long thread takes on disk."""

from collections.abc import Iterator
from pathlib import Path

from activities.log import CommitLog
from bench.databases import Database, on_each_database
from bench.figures import Figure
from bench.threads import ThreadWriter

TURNS = 500
TURNS_BETWEEN_TIDYING = 25
MESSAGE_BYTES = 2_048
COMMITS_A_TURN = 3
BYTES_A_COMMIT = 2_048
"""What a commit may take beside its messages."""

MESSAGES_FACTOR = 1.5
"""What the messages may take, as a multiple of their own bytes."""


def measure(folder: Path) -> Iterator[Figure]:
    """Yield the size of a log of 500 turns of 2 messages of 2 KB, on every database."""
    yield from on_each_database(folder, _measure)


def _measure(database: Database) -> Iterator[Figure]:
    for ledger in (False, True):
        url = database.url("log-size-with-effects" if ledger else "log-size")
        with CommitLog.open(url) as log:
            empty = database.bytes_on_disk(url)
            writer = ThreadWriter(log)
            for turn in range(TURNS):
                _write_turn(writer, ledger=ledger)
                if turn % TURNS_BETWEEN_TIDYING == 0:
                    database.tidy(url)
            taken = database.bytes_on_disk(url)
        yield from _figures(database.name, writer.messages * MESSAGE_BYTES, taken, empty, ledger)


def _write_turn(writer: ThreadWriter, *, ledger: bool) -> None:
    """Write a turn as a run does: each commit in a transaction of its own."""
    writer.append([writer.opening(MESSAGE_BYTES)])
    answered = writer.completion("answer", MESSAGE_BYTES)
    if ledger:
        writer.record_effect("answer", answered)
    writer.append([answered])
    writer.append([writer.end()])


def _figures(
    database: str, messages: int, taken: int, empty: int, ledger: bool
) -> Iterator[Figure]:
    commits = TURNS * COMMITS_A_TURN
    bar = MESSAGES_FACTOR * messages + commits * BYTES_A_COMMIT
    subject = f"log on disk, {database}"
    told = f"{TURNS} turns of 2 messages of 2 KB" + (", an effect each" if ledger else "")
    yield Figure(
        subject=subject,
        name=told,
        value=taken / 1024,
        unit="KB",
        bar=bar / 1024,
        note=f"an empty log takes {empty / 1024:.0f} KB",
    )
    yield Figure(
        subject=subject,
        name="beside the messages' own bytes, a commit",
        value=(taken - messages) / commits / 1024,
        unit="KB",
    )
