"""Whether the packages that would be imported are this project's own.

Their names are plain words. A folder of the same name that Python searches first, such as one
that ``PYTHONPATH=.`` adds, would be imported in their place.
"""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
OWN_PACKAGES = ("seeding", "workflows", "activities")


def other_package() -> str | None:
    """Return which package is somebody else's and what to do, None where all are ours."""
    for name in OWN_PACKAGES:
        places = list(_places(name))
        if PROJECT / name not in places:
            found = str(places[0]) if places else "nowhere"
            return (
                f"the package {name!r} of Fermata is needed and Python finds {found}; rename "
                "yours, or take its folder off PYTHONPATH"
            )
    return None


def _places(name: str) -> Iterator[Path]:
    spec = find_spec(name)
    if spec is None:
        return
    for place in spec.submodule_search_locations or [spec.origin or name]:
        yield Path(place).resolve()
