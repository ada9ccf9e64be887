"""A SQLite file that was cut or changed on disk: its prefix, or a refusal; never less (AW-53)."""

import shutil
from pathlib import Path

import pytest
from full_log import write_full_log
from log_writer import Clock, Writer, message

from activities.log import CommitLog
from seeding.errors import CorruptLog, LogError

WAL_HEADER = 32
FRAME_HEADER = 24


def url_of(file: Path) -> str:
    return f"sqlite:///{file}"


def page_size(file: Path) -> int:
    return int.from_bytes(file.read_bytes()[16:18], "big")


@pytest.fixture
def lost(tmp_path: Path) -> Path:
    """The files of a log as a machine leaves them that lost its power after the sixth commit."""
    live, left = tmp_path / "live", tmp_path / "left"
    with CommitLog.open(url_of(live / "log.db"), clock=Clock()) as log:
        writer = Writer(log)
        writer.open(messages=(message("m0"),))
        for number in range(1, 6):
            writer.step(messages=(message(f"m{number}", "x" * 6_000),))
        shutil.copytree(live, left)
    return left / "log.db"


def test_what_was_acknowledged_is_there_after_the_power_was_lost(lost: Path) -> None:
    with CommitLog.open(url_of(lost)) as log:
        assert log.verify() == []
        assert [found["id"] for found in log.messages("t")] == [f"m{n}" for n in range(6)]


def test_a_last_write_that_was_torn_leaves_the_prefix_before_it(lost: Path) -> None:
    wal = lost.with_name("log.db-wal")
    frame = FRAME_HEADER + page_size(lost)
    assert (wal.stat().st_size - WAL_HEADER) % frame == 0
    with wal.open("r+b") as file:
        file.truncate(wal.stat().st_size - frame // 2)

    with CommitLog.open(url_of(lost)) as log:
        assert log.verify() == []
        assert [found["id"] for found in log.messages("t")] == [f"m{n}" for n in range(5)]
        assert log.thread_version("t") == 5
        writer = Writer(log)
        writer.ordinal = 5
        writer.step(messages=(message("m5"),))
        assert log.verify() == []


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """A log in one closed file."""
    file = tmp_path / "log.db"
    with CommitLog.open(url_of(file), clock=Clock()) as log:
        write_full_log(log)
    return file


@pytest.mark.parametrize("part", [0.2, 0.4, 0.6, 0.8, 0.95])
def test_a_file_that_was_cut_is_found(whole: Path, part: float) -> None:
    with whole.open("r+b") as file:
        file.truncate(int(whole.stat().st_size * part))

    try:
        with CommitLog.open(url_of(whole)) as log:
            assert log.verify() != []
    except CorruptLog as error:
        assert error.message


def test_a_byte_flipped_anywhere_in_the_file_is_found_or_was_nobodys(whole: Path) -> None:
    with CommitLog.open(url_of(whole)) as log:
        before = _everything(log)
    original = whole.read_bytes()
    found = 0
    used = [offset for offset, byte in enumerate(original) if byte and offset >= 100]
    for offset in used[:: len(used) // 90]:
        changed = bytearray(original)
        changed[offset] ^= 0x20
        whole.write_bytes(changed)
        try:
            with CommitLog.open(url_of(whole)) as log:
                if log.verify() == []:
                    assert _everything(log) == before, offset
                else:
                    found += 1
        except LogError:
            found += 1
        for beside in ("log.db-wal", "log.db-shm"):
            whole.with_name(beside).unlink(missing_ok=True)
    assert found > 45


def _everything(log: CommitLog) -> list[object]:
    return [
        log.threads(),
        *(
            [log.runs(name), log.branches(name), log.commits(name), log.messages(name)]
            for name in ("t", "other")
        ),
        log.checkpoints("t"),
        log.state("t"),
        log.closed_tickets("r1", 10),
    ]
