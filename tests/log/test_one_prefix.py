"""Reads that belong together are of one prefix, whatever is written meanwhile."""

from concurrent.futures import ThreadPoolExecutor

from log_writer import Writer, message

from activities.log import CommitLog


def test_what_is_written_meanwhile_is_not_seen_before_the_block_ends(
    log: CommitLog, running: Writer
) -> None:
    with log.one_prefix("thread t"):
        assert log.thread_version("t") == 1
        running.step(messages=(message("m1"),))
        assert log.thread_version("t") == 1
        assert len(log.messages("t")) == 1
        with ThreadPoolExecutor(1) as another:
            assert another.submit(log.thread_version, "t").result() == 2
    assert log.thread_version("t") == 2
    assert len(log.messages("t")) == 2
