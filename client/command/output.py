"""What the command prints: one JSON document, or text for people; problems on one line."""

import json
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from rich.console import Console
from rich.table import Table
from rich.text import Text

from seeding.model import Json

_HIDDEN = {code: "\N{REPLACEMENT CHARACTER}" for code in (*range(9), *range(11, 32), 127)}
_HIDDEN.update({code: "\N{REPLACEMENT CHARACTER}" for code in range(0x80, 0xA0)})


TABLE_WIDTH = 1000
"""Wider than any row: a row is one line, and an id in it can be copied or searched for."""


def console(width: int | None = None) -> Console:
    """Return the console for people; text is printed as it is, never as markup."""
    return Console(markup=False, highlight=False, emoji=False, width=width)


def print_json(document: Json) -> None:
    """Print one JSON document, whatever the width of the terminal."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def complain(line: str) -> None:
    """Print one line on stderr, also where the message has several."""
    sys.stderr.write(" ".join(printable(line).split()) + "\n")


def print_line(text: str) -> None:
    """Print a line that is never wrapped, so that it can be pasted."""
    sys.stdout.write(printable(text) + "\n")


def leave(code: int) -> NoReturn:
    """End the process with an exit code once everything is printed.

    The threads of the Temporal SDK may still call into an interpreter that is being taken down,
    which aborts one exit in ten; so it is not taken down. What has to be closed is closed by
    then: logs and workers live inside the verbs.
    """
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        code = code or 1
    os._exit(code)


def printable(text: str) -> str:
    """Return ``text`` without what would steer a terminal."""
    return text.translate(_HIDDEN)


def shown(value: Json) -> str:
    """Return a value as people read it: a text as it is, null as nothing, else JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Json]], *, empty: str) -> None:
    """Print rows under their columns, each on one line; for a narrow terminal, value by value.

    No value is cut or wrapped, so that an id can always be copied.

    Args:
        columns: The names of the columns.
        rows: The values, one sequence a row.
        empty: What is said where there are none.
    """
    if not rows:
        print_line(empty)
        return
    texts = [[printable(shown(value)) for value in row] for row in rows]
    table = Table(box=None, pad_edge=False, show_edge=False)
    for column in columns:
        table.add_column(column, no_wrap=True)
    for row in texts:
        table.add_row(*map(Text, row))
    terminal, wide = console(), console(TABLE_WIDTH)
    if terminal.is_terminal and wide.measure(table).maximum > terminal.width:
        _print_value_by_value(columns, texts)
    else:
        wide.print(table)


def _print_value_by_value(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    longest = max(map(len, columns))
    for number, row in enumerate(rows):
        if number:
            print_line("")
        for column, text in zip(columns, row, strict=True):
            if text:
                print_line(f"{column:<{longest}}  {text}")
