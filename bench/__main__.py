"""``make bench``: measure the subjects named, or all, and print each figure with its bar."""

import argparse
import importlib
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bench.figures import Figure
from bench.report import print_figures, write_json

SUBJECTS = ("commits", "log_size", "seeding")
"""The modules of this package that measure something, in the order in which they run."""

Measure = Callable[[Path], Iterator[Figure]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks; return 1 with ``--strict`` where a bar was missed, else 0."""
    asked = _parser().parse_args(arguments)
    if asked.profile:
        from bench.profiling import print_profile

        print_profile()
        return 0
    figures: list[Figure] = []
    for name in asked.names or SUBJECTS:
        measure: Measure = importlib.import_module(f"bench.{name}").measure
        with tempfile.TemporaryDirectory(prefix="fermata-bench-") as folder:
            found = list(measure(Path(folder)))
        print_figures(found)
        figures.extend(found)
    if asked.json is not None:
        write_json(asked.json, figures)
    missed = any(figure.verdict == "MISSED" for figure in figures)
    return 1 if missed and asked.strict else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "names", nargs="*", type=_subject, metavar="NAME", help=f"of {', '.join(SUBJECTS)}"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    parser.add_argument("--strict", action="store_true", help="exit with 1 where a bar is missed")
    parser.add_argument(
        "--profile", action="store_true", help="print where the time of a commit goes instead"
    )
    return parser


def _subject(name: str) -> str:
    if name not in SUBJECTS:
        raise argparse.ArgumentTypeError(f"no {name!r}; there are {', '.join(SUBJECTS)}")
    return name


if __name__ == "__main__":
    sys.exit(main())
