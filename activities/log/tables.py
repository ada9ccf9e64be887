"""The tables of the commit log.

``commits``, ``messages``, ``cells``, ``run_rows``, ``run_owners``, ``branches``, ``effects``,
``floors``, ``queued_turns`` and ``graphs`` are the truth; what a thread accumulated is
append-only, one sequence of versions per thread over all its branches. ``threads``, ``runs`` and
``tickets`` are projections that can be made again from it. JSON is kept as text, so that every
database stores the same bytes; text is compared byte by byte everywhere. Messages and cells
outlive the commits they came with once those are pruned, so no table refers to another.
"""

from collections.abc import Sequence

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.engine.default import DefaultExecutionContext

from activities.log.encoding import (
    BRANCH_CHECKED,
    COMMIT_CHECKED,
    GRAPH_CHECKED,
    OWNER_CHECKED,
    TURN_CHECKED,
    checksum,
)

SCHEMA_VERSION = 3

metadata = MetaData()


_TEXT = Text().with_variant(Text(collation="C"), "postgresql")


def _text(name: str, *, key: bool = False, null: bool = False) -> Column[str]:
    return Column(name, _TEXT, primary_key=key, nullable=null)


def _number(name: str, *, key: bool = False, null: bool = False) -> Column[int]:
    return Column(name, BigInteger, primary_key=key, nullable=null, autoincrement=False)


def _checksum_of(columns: Sequence[str]) -> Column[int]:
    """Return a column that is filled by itself where a row is inserted."""

    def made(context: DefaultExecutionContext) -> int:
        given = context.get_current_parameters()
        return checksum(*(given.get(name) for name in columns))

    return Column("checksum", BigInteger, nullable=False, default=made)


schema_version = Table("schema_version", metadata, _number("id", key=True), _number("version"))

commits = Table(
    "commits",
    metadata,
    _text("thread_id", key=True),
    _number("thread_version", key=True),
    _text("run_id"),
    _number("ordinal"),
    _number("owner_epoch"),
    _text("branch"),
    _text("kind"),
    _text("payload_hash"),
    _text("listed"),
    _text("disposition"),
    _text("opening", null=True),
    _text("position", null=True),
    _text("opened", null=True),
    _text("closed", null=True),
    _text("events", null=True),
    _text("node_id", null=True),
    _text("checkpoint", null=True),
    _text("result", null=True),
    _number("message_count"),
    _text("created_at"),
    _checksum_of(COMMIT_CHECKED),
    UniqueConstraint("run_id", "ordinal"),
    Index("commits_of_branch", "thread_id", "branch", "thread_version"),
    sqlite_with_rowid=False,
)
"""One row a commit. ``listed`` holds the part hashes of messages, state and rows, whose bodies
are in their own tables; the other parts are columns. ``message_count`` is the length of the
lineage's message prefix after the commit."""

messages = Table(
    "messages",
    metadata,
    _text("thread_id", key=True),
    _text("branch", key=True),
    _number("place", key=True),
    _number("version"),
    _text("message_id"),
    _text("body"),
    _number("checksum"),
    Index("messages_by_id", "message_id", "thread_id"),
)
"""``place`` is the zero-based place in the lineage's prefix of messages. On SQLite its rows lie in
the order in which they were appended: clustered by their key, as the tables around it are, a
message of 2 KB would take a page of its own."""

cells = Table(
    "cells",
    metadata,
    _text("thread_id", key=True),
    _text("branch", key=True),
    _text("scope", key=True),
    _text("owner", key=True),
    _text("cell", key=True),
    _text("key", key=True),
    _number("version", key=True),
    _number("place", key=True),
    _text("value", null=True),
    _text("policy"),
    _text("stamp", null=True),
    _text("given", null=True),
    _number("checksum"),
    sqlite_with_rowid=False,
)
"""One row a state command, at ``place`` in its commit. ``value`` is what the cell holds after it
(NULL is a tombstone), ``given`` the command's own value where that is another, ``stamp`` the run
it named, ``owner`` the run a run's cell belongs to ('' for a thread's)."""

run_rows = Table(
    "run_rows",
    metadata,
    _text("run_id", key=True),
    _text("kind", key=True),
    _text("node_id", key=True),
    _number("occurrence", key=True),
    _number("idx", key=True),
    _number("version", key=True),
    _number("place", key=True),
    _text("thread_id"),
    _text("body"),
    _number("checksum"),
    Index("run_rows_by_completion", "run_id", "kind", "version", "place"),
    sqlite_with_rowid=False,
)
"""Append-only rows of a run. A row given again under one address replaces the earlier one for
readers from its version on; the earlier one stays."""

run_owners = Table(
    "run_owners",
    metadata,
    _text("run_id", key=True),
    _number("owner_epoch", key=True),
    _text("chain_id"),
    _text("execution_run_id", null=True),
    _text("namespace", null=True),
    _text("at"),
    _number("last_ordinal"),
    _text("start", null=True),
    _text("warnings", null=True),
    _checksum_of(OWNER_CHECKED),
    Index("run_owners_of_chain", "chain_id"),
)
"""Who opened or took over a run, by owner epoch. ``last_ordinal`` is the run's last commit at
that moment, -1 for who opened it; ``start`` and ``warnings`` say how it was taken over."""

effects = Table(
    "effects",
    metadata,
    _text("effect_key", key=True),
    _text("thread_id"),
    _text("run_id"),
    _text("node_id"),
    _number("occurrence"),
    _number("ask"),
    _text("node_type"),
    _text("arguments_hash"),
    _text("status"),
    _text("code", null=True),
    _text("outcome", null=True),
    _number("attempts"),
    _number("owner_epoch"),
    _text("begun_at"),
    _text("finished_at", null=True),
    _number("checksum"),
    Index("effects_of_run", "run_id"),
    Index("effects_of_thread", "thread_id", "begun_at"),
)
"""The effect ledger: one row a key. ``status`` is ``begun``, ``done``, ``asked`` or ``failed``;
``outcome`` is what the call came to, kept until its run ends, as is its part of ``checksum``;
``attempts`` is also the fence that the newest attempt holds. A row that is still ``begun`` and has
a ``code`` failed in a way that may be tried again."""

floors = Table(
    "floors",
    metadata,
    _text("thread_id", key=True),
    _text("branch", key=True),
    _number("version"),
    _text("at"),
)
"""How far a branch was pruned: of the runs that ended at or before ``version`` only the first
and the last commit are left, and of each cell only what it held there."""

queued_turns = Table(
    "queued_turns",
    metadata,
    _text("thread_id", key=True),
    _number("number", key=True),
    _text("state"),
    _text("operation"),
    _text("request"),
    _text("request_hash"),
    _text("idempotency_key", null=True),
    _text("behind", null=True),
    _text("namespace"),
    _text("run_id", null=True),
    _text("refusal", null=True),
    _text("received_at"),
    _text("settled_at", null=True),
    _checksum_of(TURN_CHECKED),
    Index("queued_turns_by_state", "thread_id", "state", "number"),
    Index("queued_turns_by_key", "thread_id", "idempotency_key"),
    Index("queued_turns_by_operation", "thread_id", "operation", unique=True),
)
"""Turns that came while a run was open, by place. ``state`` is ``queued``, ``started``,
``refused`` or ``withdrawn``; ``request`` is the start that the turn is."""

threads = Table(
    "threads",
    metadata,
    _text("thread_id", key=True),
    _number("version"),
    _text("head_run_id"),
)
"""The head of each thread, which a writer locks."""

runs = Table(
    "runs",
    metadata,
    _text("run_id", key=True),
    _text("thread_id"),
    _text("branch"),
    _number("run_epoch"),
    _number("owner_epoch"),
    _text("chain_id"),
    _text("graph_id"),
    _text("graph_digest"),
    _text("config"),
    _text("start"),
    _text("idempotency_key", null=True),
    _text("request_hash", null=True),
    _text("continues", null=True),
    _text("phase"),
    _text("cause", null=True),
    _text("result", null=True),
    _number("last_ordinal"),
    _number("last_version"),
    _number("message_count"),
    _text("opened_at"),
    _number("opened_version"),
    _text("ended_at", null=True),
    Index("runs_of_thread", "thread_id", "opened_version"),
    Index("runs_by_phase", "thread_id", "phase"),
    Index("runs_by_key", "thread_id", "idempotency_key"),
)

tickets = Table(
    "tickets",
    metadata,
    _text("ticket", key=True),
    _text("run_id"),
    _text("thread_id"),
    _text("body"),
    _number("opened_version"),
    _number("place"),
    _text("created_at"),
    _text("deadline", null=True),
    _number("closed_version", null=True),
    _text("closing", null=True),
    Index("tickets_of_run", "run_id", "closed_version"),
)

branches = Table(
    "branches",
    metadata,
    _text("thread_id", key=True),
    _text("name", key=True),
    _text("lineage"),
    _number("opened_version"),
    _checksum_of(BRANCH_CHECKED),
)
"""``lineage`` is flattened, outermost first, without the branch itself."""

graphs = Table(
    "graphs",
    metadata,
    _text("digest", key=True),
    _text("graph_id", key=True),
    _text("body"),
    _text("created_at"),
    _checksum_of(GRAPH_CHECKED),
    Index("graphs_by_id", "graph_id", "created_at"),
)
