"""Whether a stored row holds what its columns are declared for: a SQLite file keeps anything."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from sqlalchemy import Table

from seeding.errors import CorruptLog


def check_types(table: Table, row: Mapping[Any, Any]) -> None:
    """Pass a row of a table whose columns all hold a text or a number, as they should.

    Raises:
        CorruptLog: One holds something else; the message names table, row and column.
    """
    for name, allowed in _allowed(table):
        if type(row[name]) not in allowed:
            raise CorruptLog(
                f"{_named(table, row)} holds {shown_value(row[name])} as its {name}, which is "
                f"{'a number' if int in allowed else 'a text'}"
            )


def shown_value(value: object) -> str:
    """Return a value that should not be there, cut to a few characters."""
    return f"{value!r:.40}"


@cache
def _allowed(table: Table) -> tuple[tuple[str, tuple[type, ...]], ...]:
    return tuple(
        (
            column.name,
            (column.type.python_type, type(None))
            if column.nullable
            else (column.type.python_type,),
        )
        for column in table.columns
    )


def _named(table: Table, row: Mapping[Any, Any]) -> str:
    key = ", ".join(
        f"{column.name} {shown_value(row[column.name])}" for column in table.primary_key
    )
    return f"the row of {table.name} with {key}"
