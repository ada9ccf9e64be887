"""Figures as a table for people, and as JSON."""

import json
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.figures import Figure

_WIDTH = 160


def table_of(figures: Sequence[Figure]) -> Table:
    """Return the figures of one or more subjects as a table."""
    table = Table(box=None, pad_edge=False, show_edge=False)
    table.add_column("subject", no_wrap=True)
    table.add_column("measured", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("bar", justify="right", no_wrap=True)
    table.add_column("")
    table.add_column("note")
    subject = ""
    for figure in figures:
        table.add_row(
            figure.subject if figure.subject != subject else "",
            figure.name,
            _shown(figure.value, figure.unit),
            f"< {_shown(figure.bar, figure.unit)}" if figure.bar is not None else "",
            figure.verdict,
            figure.note,
        )
        subject = figure.subject
    return table


def print_figures(figures: Sequence[Figure]) -> None:
    """Print figures for people."""
    Console(markup=False, highlight=False, width=_WIDTH).print(table_of(figures))


def write_json(path: Path, figures: Sequence[Figure]) -> None:
    """Write figures as a JSON list, each with its verdict."""
    shown = [{**figure.to_json(), "verdict": figure.verdict} for figure in figures]
    path.write_text(json.dumps(shown, indent=2) + "\n")


def _shown(value: float | None, unit: str) -> str:
    if value is None:
        return "not measured"
    digits = 0 if value >= 1_000 else 2
    return f"{value:,.{digits}f} {unit}"
