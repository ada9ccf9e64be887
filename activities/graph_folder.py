"""Graph documents in folders, found by id."""

import os
import re
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, cast

from seeding.errors import InvalidGraph, UnknownGraph
from seeding.model import Json
from workflows.graph.digest import graph_digest
from workflows.graph.document import read_graph
from workflows.graph.fields import listing
from workflows.graph.model import Graph
from workflows.graph.text import MAX_DOCUMENT_BYTES, parse_document

SUFFIXES = (".json", ".yaml", ".yml")
MIN_DIGEST = 16
"""How many hex digits of a digest a reference must give."""

_DIGEST = re.compile(rf"[0-9a-f]{{{MIN_DIGEST},64}}")


class _Stamp(NamedTuple):
    """What changes when a file does."""

    modified_ns: int
    size: int
    inode: int


class _Read(NamedTuple):
    """What one file holds: a graph, or why it is none; its id where that could be read."""

    path: Path
    stamp: _Stamp
    graph_id: str | None
    graph: Graph | None
    problem: str | None


class GraphFolder:
    """The graph documents of some folders; files are read again when they change.

    A document that cannot be read spoils no other: it is refused when it is asked for, and
    listed by :meth:`problems`. Safe to use from several threads.

    Args:
        paths: Folders; ``*.json``, ``*.yaml`` and ``*.yml`` directly inside them are read.

    Raises:
        UnknownGraph: A folder does not exist.
    """

    def __init__(self, paths: Iterable[Path | str]) -> None:
        self._folders = list(dict.fromkeys(Path(path).resolve() for path in paths))
        self._known: dict[Path, _Read] = {}
        self._lock = threading.Lock()
        self._read_all()

    def find(self, reference: str) -> Graph:
        """Return the graph of an id, or of ``id@digest`` with at least 16 digits of it.

        Raises:
            UnknownGraph: No document has that id, or the one that has it has another digest.
            InvalidGraph: The document cannot be read, or two files hold one id.
        """
        graph_id, at, digest = reference.partition("@")
        if at and not _DIGEST.fullmatch(digest):
            raise UnknownGraph(
                f"graph {reference!r}: after '@' stand {MIN_DIGEST} to 64 digits of a digest, "
                "in lower-case hex"
            )
        graph = self._named(graph_id)
        if at and not (own := graph_digest(graph)).startswith(digest):
            raise UnknownGraph(
                f"graph {graph_id!r} is known as {graph_id}@{own[:MIN_DIGEST]}, not as {reference}"
            )
        return graph

    def ids(self) -> list[str]:
        """Return the ids of all documents that can be read, sorted."""
        return sorted({read.graph_id: True for read in self._read_all() if read.graph_id})

    def problems(self) -> list[str]:
        """Return what is wrong with the folders' files, one text a problem."""
        files = self._read_all()
        problems = [read.problem for read in files if read.problem is not None]
        for graph_id in self.ids():
            same = [read for read in files if read.graph_id == graph_id]
            if len(same) > 1:
                problems.append(_twice(graph_id, same))
        return problems

    def _named(self, graph_id: str) -> Graph:
        files = self._read_all()
        found = [read for read in files if read.graph_id == graph_id]
        if len(found) > 1:
            raise InvalidGraph(_twice(graph_id, found))
        if not found:
            raise UnknownGraph(_unknown(graph_id, files))
        if found[0].graph is None:
            raise InvalidGraph(found[0].problem or f"{found[0].path} cannot be read")
        return found[0].graph

    def _read_all(self) -> list[_Read]:
        with self._lock:
            fresh: dict[Path, _Read] = {}
            for path, stamp in self._files():
                known = self._known.get(path)
                fresh[path] = known if known and known.stamp == stamp else _read(path, stamp)
            self._known = fresh
            return list(fresh.values())

    def _files(self) -> list[tuple[Path, _Stamp]]:
        files: list[tuple[Path, _Stamp]] = []
        for folder in self._folders:
            try:
                with os.scandir(folder) as entries:
                    listed = sorted((entry for entry in entries), key=lambda entry: entry.name)
            except OSError as error:
                raise UnknownGraph(
                    f"the folder of graph documents {folder} cannot be read: {error.strerror}"
                ) from error
            for entry in listed:
                if entry.name.endswith(SUFFIXES) and entry.is_file():
                    found = entry.stat()
                    stamp = _Stamp(found.st_mtime_ns, found.st_size, found.st_ino)
                    files.append((Path(entry.path), stamp))
        return files


def _read(path: Path, stamp: _Stamp) -> _Read:
    document: Json = None
    try:
        if stamp.size > MAX_DOCUMENT_BYTES:
            raise InvalidGraph(
                f"it has {stamp.size} bytes; a graph document has at most {MAX_DOCUMENT_BYTES}"
            )
        document = parse_document(path.read_text(encoding="utf-8"), path.name)
        graph = read_graph(document)
    except InvalidGraph as error:
        return _Read(path, stamp, _id_of(document), None, f"{path}: {error.message}")
    except UnicodeDecodeError as error:
        return _Read(path, stamp, None, None, f"{path}: it is no UTF-8 text: {error}")
    except OSError as error:
        return _Read(path, stamp, None, None, f"{path}: it cannot be read: {error.strerror}")
    return _Read(path, stamp, graph.id, graph, None)


def _id_of(document: Json) -> str | None:
    given = cast(dict[str, Json], document).get("id") if isinstance(document, dict) else None
    return given if isinstance(given, str) else None


def _twice(graph_id: str, files: list[_Read]) -> str:
    paths = " and ".join(str(read.path) for read in files)
    return f"graph {graph_id!r} stands in more than one file: {paths}; give one another id"


def _unknown(graph_id: str, files: list[_Read]) -> str:
    known = sorted({read.graph_id: True for read in files if read.graph_id})
    said = (
        f"no graph document has the id {graph_id!r}; known are {listing(known)} (all workers of a "
        "task queue need the same FERMATA_GRAPHS)"
    )
    nameless = [read.problem for read in files if read.graph_id is None and read.problem]
    return f"{said}; these could not be read: {'; '.join(nameless[:5])}" if nameless else said
