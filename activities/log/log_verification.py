"""Comparing what belongs to no one thread: graphs, stray rows, the database itself."""

from collections.abc import Iterator

from pydantic import ValidationError
from sqlalchemy import Connection, select

from activities.log.dialect import structure_problems
from activities.log.graphs import stored_graph
from activities.log.projections import read_stray_rows
from activities.log.stored import StoredGraph
from activities.log.tables import graphs, run_owners, tickets
from activities.log.verification import Finding
from seeding.errors import FermataError
from workflows.graph.digest import graph_digest
from workflows.graph.model import Graph

_GRAPHS = (
    select(graphs).order_by(graphs.c.graph_id, graphs.c.digest).execution_options(yield_per=50)
)


def verify_shared(connection: Connection) -> list[Finding]:
    """Return what is wrong with that which belongs to no one thread.

    Raises:
        CorruptLog: The database itself cannot be read on.
    """
    found = [*structure_problems(connection), *_graphs(connection), *_stray(connection)]
    return [Finding(thread_id=None, version=None, what=what) for what in found]


def _graphs(connection: Connection) -> Iterator[str]:
    for row in connection.execute(_GRAPHS).mappings():
        name = f"graph {row['graph_id']}@{row['digest'][:16]}"
        try:
            found = _digest_of(stored_graph(row))
        except ValidationError:
            yield f"{name} is no graph"
        except FermataError as error:
            yield error.message
        else:
            if found != row["digest"]:
                yield f"{name} is another graph than its digest says: {found[:16]}"


def _digest_of(stored: StoredGraph) -> str:
    return graph_digest(Graph.model_validate(stored.body))


def _stray(connection: Connection) -> Iterator[str]:
    for run_id, ticket in read_stray_rows(connection, tickets):
        yield (
            f"ticket {ticket} is of run {run_id}, which has no commit; fermata rebuild removes it"
        )
    for run_id, _ in read_stray_rows(connection, run_owners):
        yield f"an owner is of run {run_id}, which has no commit"
