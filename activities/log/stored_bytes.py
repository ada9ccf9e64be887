"""How many bytes a text takes as it is stored, asked of the database itself."""

from typing import Any

from sqlalchemy import BigInteger
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement


class StoredBytes(FunctionElement[int]):
    """The bytes of one text column; NULL for NULL."""

    name = "stored_bytes"
    type = BigInteger()
    inherit_cache = True


@compiles(StoredBytes)
def _octets(element: StoredBytes, compiler: Any, **options: Any) -> str:
    return f"octet_length({compiler.process(element.clauses, **options)})"


@compiles(StoredBytes, "sqlite")
def _octets_of_sqlite(element: StoredBytes, compiler: Any, **options: Any) -> str:
    # Its own octet_length is younger than the oldest SQLite that Python 3.11 comes with.
    return f"length(CAST({compiler.process(element.clauses, **options)} AS BLOB))"
