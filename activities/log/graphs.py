"""Graph documents by digest: inserted once, never changed."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select

from activities.log.dialect import lock_name
from activities.log.encoding import GRAPH_CHECKED, dump, load, verify_checksum
from activities.log.stored import StoredGraph
from activities.log.tables import graphs
from seeding.model import JsonObject

_BY_DIGEST = (
    select(graphs)
    .where(graphs.c.digest == bindparam("digest"))
    .order_by(graphs.c.created_at, graphs.c.graph_id)
)
_BY_NAME = (
    select(graphs)
    .where(graphs.c.graph_id == bindparam("name"))
    .order_by(graphs.c.created_at, graphs.c.digest)
)


def write_graph(
    connection: Connection, digest: str, graph_id: str, body: JsonObject, at: str
) -> None:
    """Keep a graph unless it is there; the first document of a digest and id stays."""
    lock_name(connection, f"graph {digest}")
    there = _BY_DIGEST.where(graphs.c.graph_id == graph_id)
    if connection.execute(there, {"digest": digest}).first() is None:
        row = {"digest": digest, "graph_id": graph_id, "body": dump(body), "created_at": at}
        connection.execute(insert(graphs), row)


def read_graph(
    connection: Connection, digest: str, graph_id: str | None = None
) -> StoredGraph | None:
    """Return the graph of a digest; with ``graph_id`` the document kept under that id."""
    statement = _BY_DIGEST if graph_id is None else _BY_DIGEST.where(graphs.c.graph_id == graph_id)
    row = connection.execute(statement, {"digest": digest}).mappings().first()
    return stored_graph(row) if row else None


def read_graphs_named(connection: Connection, graph_id: str) -> list[StoredGraph]:
    """Return every version of a graph, oldest first."""
    return [
        stored_graph(row) for row in connection.execute(_BY_NAME, {"name": graph_id}).mappings()
    ]


def stored_graph(row: Mapping[Any, Any]) -> StoredGraph:
    """Return the graph of a whole row.

    Raises:
        CorruptLog: The row changed since it was written.
    """
    where = f"graph {row['graph_id']}@{row['digest']}"
    verify_checksum(row, GRAPH_CHECKED, where)
    return StoredGraph(
        digest=row["digest"],
        graph_id=row["graph_id"],
        body=load(row["body"], where),
        created_at=row["created_at"],
    )
