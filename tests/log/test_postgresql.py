"""What only a log on a PostgreSQL server has: the server, its connections, its locks."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from log_writer import Clock, Writer, locked, opening
from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine import make_url

from activities.log import CommitLog, ReadOnlyLog
from activities.log.dialect import shown
from seeding.commits import BranchPoint
from seeding.errors import CommitUnavailable, LogError
from tests.postgresql_server import PostgresqlServer


@pytest.fixture
def server() -> Iterator[PostgresqlServer]:
    """A server of this test alone, which it may stop."""
    started = PostgresqlServer()
    yield started
    started.close()


@pytest.fixture
def pg(postgresql_url: str) -> Iterator[Writer]:
    """Run r1 on thread t of a log on PostgreSQL."""
    with CommitLog.open(postgresql_url, clock=Clock()) as log:
        writer = Writer(log)
        writer.open()
        yield writer


def engine_of(log: CommitLog) -> Engine:
    return log._engine  # pyright: ignore[reportPrivateUsage]


def terminate(postgresql: PostgresqlServer) -> None:
    """End every connection to the server, as its administrator does."""
    postgresql.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'fermata'"
    )


def test_a_held_thread_stops_no_other(pg: Writer, postgresql_url: str) -> None:
    made = pg.make(pg.commit())
    other = Writer(pg.log, "r2", "other")
    with locked(postgresql_url):
        other.open()
        other.step()
        with pytest.raises(CommitUnavailable, match="lock timeout"):
            pg.log.append([made], quick=True)
    assert pg.log.append([made]).accepted == 1
    assert pg.log.thread_version("other") == 2


def test_a_writer_that_waits_on_one_thread_holds_up_no_writer_of_another(
    pg: Writer, postgresql_url: str
) -> None:
    """The log has several threads of its own, so one process is not one queue."""
    made = pg.make(pg.commit())
    with ThreadPoolExecutor(1) as pool:
        with locked(postgresql_url):
            waiting = pool.submit(pg.log.append, [made])
            Writer(pg.log, "r2", "other").open()
            assert not waiting.done()
        assert waiting.result().accepted == 1


def test_runs_that_open_on_one_another_do_not_lock_each_other_out(
    pg: Writer, postgresql_url: str
) -> None:
    """Every writer takes the locks of several threads in one order."""

    def fork(number: int, source: str, thread: str) -> int:
        writer = Writer(log, f"f{number}.{thread}", thread)
        lineage = (BranchPoint(thread_id=source, branch="main", up_to=1),)
        how = opening(run_epoch=2, chain_id=writer.run_id, branch="b", lineage=lineage)
        made = writer.make(writer.commit(opening=how))
        barrier.wait()
        return log.append([made]).accepted

    barrier = Barrier(2)
    log = pg.log
    with ThreadPoolExecutor(2) as pool:
        for number in range(10):
            names = [f"{number}.a", f"{number}.b"]
            for name in names:
                writer = Writer(log, f"r.{name}", name)
                writer.open()
                writer.end()
            forks = [
                pool.submit(fork, number, source, thread) for source, thread in (names, names[::-1])
            ]
            assert [done.result() for done in forks] == [1, 1]


def test_a_log_whose_connections_were_ended_goes_on_with_new_ones(
    pg: Writer, postgresql: PostgresqlServer
) -> None:
    terminate(postgresql)
    pg.step()
    terminate(postgresql)
    assert pg.log.state("t").version == 2


def test_a_server_that_was_away_is_found_again(server: PostgresqlServer) -> None:
    url = server.new_url()
    with CommitLog.open(url, clock=Clock()) as log, ReadOnlyLog.open(url) as reader:
        writer = Writer(log)
        writer.open()
        made = writer.make(writer.commit())
        server.stop()
        with pytest.raises(CommitUnavailable):
            log.append([made])
        with pytest.raises(CommitUnavailable):
            reader.state("t")
        server.start()
        assert reader.state("t").version == 1
        assert log.append([made]).accepted == 1
        assert reader.state("t").version == 2


@pytest.mark.parametrize("lost", ["before it", "after it"])
def test_a_commit_that_is_cut_off_is_unavailable_and_sent_again(
    pg: Writer, postgresql: PostgresqlServer, lost: str
) -> None:
    made = pg.make(pg.commit())
    cut: list[None] = []

    def cut_off(connection: Connection) -> None:
        if cut:
            return
        cut.append(None)
        if lost == "after it":
            driver: Any = connection.connection.driver_connection
            driver.commit()
            driver.execute("SELECT 1")
        terminate(postgresql)

    event.listen(engine_of(pg.log), "commit", cut_off)
    with pytest.raises(CommitUnavailable):
        pg.log.append([made])
    answer = pg.log.append([made])
    assert answer.receipt is not None
    assert (answer.receipt.thread_version, answer.receipt.duplicate) == (2, lost == "after it")


@pytest.mark.parametrize("kind", [CommitLog, ReadOnlyLog])
@pytest.mark.parametrize(
    ("said", "changes"),
    [
        ("password authentication failed", {"password": "very-secret"}),
        ('database "nowhere" does not exist', {"database": "nowhere"}),
        ("too many connections", {"username": "nobody", "password": None}),
    ],
    ids=["password", "database", "connections"],
)
def test_what_the_server_refuses_is_said_without_the_password(
    guarded: PostgresqlServer,
    kind: type[CommitLog] | type[ReadOnlyLog],
    said: str,
    changes: dict[str, Any],
) -> None:
    given: dict[str, Any] = {"username": "guest", "password": "very-secret", **changes}
    if changes.get("database"):
        given |= {"username": "postgres", "password": None}
    url = guarded.address.set(**given).render_as_string(hide_password=False)
    with pytest.raises(CommitUnavailable, match=said) as refused:
        kind.open(url)
    assert "very-secret" not in str(refused.value)


@pytest.fixture(scope="module")
def guarded() -> Iterator[PostgresqlServer]:
    """A server that asks role guest for a password, and lets role nobody never in."""
    started = PostgresqlServer()
    started.run(
        "CREATE ROLE guest LOGIN PASSWORD 'another'", "CREATE ROLE nobody LOGIN CONNECTION LIMIT 0"
    )
    rules = started.folder / "data" / "pg_hba.conf"
    rules.write_text(f"local all guest scram-sha-256\n{rules.read_text()}")
    started.run("SELECT pg_reload_conf()")
    yield started
    started.close()


def test_a_schema_that_does_not_exist_is_said_by_the_server(postgresql: PostgresqlServer) -> None:
    url = postgresql.address.update_query_dict({"options": "-csearch_path=nowhere"})
    with pytest.raises(CommitUnavailable, match="no schema has been selected to create in"):
        CommitLog.open(url.render_as_string(hide_password=False))


@pytest.mark.parametrize("scheme", ["postgresql", "postgresql+psycopg"])
def test_both_schemes_mean_the_one_driver(postgresql_url: str, scheme: str) -> None:
    url = make_url(postgresql_url).set(drivername=scheme).render_as_string(hide_password=False)
    with CommitLog.open(url) as log:
        assert log.threads() == []
        assert engine_of(log).driver == "psycopg"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql://guest:very@secret@host/log", "postgresql://***@host/log"),
        ("postgresql://host/log?password=secret&sslmode=require", "?sslmode=require"),
        ("postgresql://guest:secret@host:port/log", "postgresql://***@host:port/log"),
        ("sqlite:///a b/log.db", "sqlite:///a b/log.db"),
    ],
)
def test_a_url_is_shown_without_what_is_secret_in_it(url: str, said: str) -> None:
    assert said in shown(url)
    assert "secret" not in shown(url)


@pytest.mark.parametrize("scheme", ["postgresql+psycopg2", "postgresql+asyncpg"])
def test_another_driver_is_refused_by_name(scheme: str) -> None:
    with pytest.raises(LogError, match=rf"driver of {scheme.replace('+', '.')}"):
        CommitLog.open(f"{scheme}://host/log")


def test_a_missing_driver_is_named_with_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "psycopg"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(LogError, match=r"install fermata\[postgresql\]"):
        CommitLog.open("postgresql://host/log")
