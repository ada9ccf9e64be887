"""Graph documents in folders, found by id."""

import os
from pathlib import Path

import pytest

from activities.graph_folder import GraphFolder
from seeding.errors import InvalidGraph, UnknownGraph
from tests.graph.documents import OWN_GRAPHS
from workflows.graph.digest import graph_digest


def write(folder: Path, name: str, graph_id: str, node_type: str = "step") -> Path:
    path = folder / name
    path.write_text(f"id: {graph_id}\nnodes: [{{id: a, type: {node_type}}}]\n", encoding="utf-8")
    return path


def unknown(folder: GraphFolder, reference: str) -> str:
    with pytest.raises(UnknownGraph) as refused:
        folder.find(reference)
    return refused.value.message


def test_the_projects_own_documents():
    folder = GraphFolder([OWN_GRAPHS])
    assert folder.ids() == ["expense-review", "fruit-loop"]
    assert folder.problems() == []
    assert folder.find("fruit-loop").nodes[0].id == "basket.1"


def test_json_and_yaml_of_several_folders_are_found_by_id(tmp_path: Path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    write(one, "a.yaml", "a")
    write(two, "b.yml", "b")
    (two / "c.json").write_text('{"id": "c", "nodes": [{"id": "a", "type": "step"}]}')
    (two / "README.md").write_text("no graph")
    (two / "inner").mkdir()
    write(two / "inner", "d.yaml", "d")
    folder = GraphFolder([one, str(two), one])
    assert folder.ids() == ["a", "b", "c"]
    assert [folder.find(name).id for name in ("a", "b", "c")] == ["a", "b", "c"]


def test_a_reference_may_name_the_digest(tmp_path: Path):
    write(tmp_path, "a.yaml", "a")
    folder = GraphFolder([tmp_path])
    digest = graph_digest(folder.find("a"))
    assert folder.find(f"a@{digest}").id == "a"
    assert folder.find(f"a@{digest[:16]}").id == "a"
    assert unknown(folder, "a@0123456789abcdef") == (
        f"graph 'a' is known as a@{digest[:16]}, not as a@0123456789abcdef"
    )
    for malformed in (digest[:15], "", "A" * 16, digest + "0"):
        assert "16 to 64 digits" in unknown(folder, f"a@{malformed}")


def test_an_unknown_id_is_refused_with_at_most_20_known_ones(tmp_path: Path):
    for index in range(22):
        write(tmp_path, f"{index:02}.yaml", f"g{index:02}")
    shown = ", ".join(f"'g{index:02}'" for index in range(20))
    assert unknown(GraphFolder([tmp_path]), "nope") == (
        f"no graph document has the id 'nope'; known are {shown} and 2 more "
        "(all workers of a task queue need the same FERMATA_GRAPHS)"
    )


def test_two_files_with_one_id_are_refused_naming_both(tmp_path: Path):
    first, second = write(tmp_path, "a.yaml", "same"), write(tmp_path, "b.yaml", "same")
    write(tmp_path, "c.yaml", "other")
    folder = GraphFolder([tmp_path])
    message = (
        f"graph 'same' stands in more than one file: {first} and {second}; give one another id"
    )
    with pytest.raises(InvalidGraph) as refused:
        folder.find("same")
    assert refused.value.message == message
    assert folder.problems() == [message]
    assert folder.find("other").id == "other"


def test_a_file_is_read_again_when_it_changes(tmp_path: Path):
    path = write(tmp_path, "a.yaml", "a")
    folder = GraphFolder([tmp_path])
    before = folder.find("a")
    assert folder.find("a") is before
    write(tmp_path, "a.yaml", "a", "rest")
    os.utime(path, ns=(1, 1))
    assert folder.find("a").nodes[0].type == "rest"
    write(tmp_path, "b.yaml", "b")
    assert folder.ids() == ["a", "b"]
    path.unlink()
    assert folder.ids() == ["b"]


def test_a_file_that_cannot_be_read_spoils_no_other(tmp_path: Path):
    write(tmp_path, "good.yaml", "good")
    (tmp_path / "bad.yaml").write_text("id: bad\nnodes: []\n")
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "latin.yaml").write_bytes(b"id: \xff")
    folder = GraphFolder([tmp_path])
    assert folder.find("good").id == "good"
    with pytest.raises(InvalidGraph) as refused:
        folder.find("bad")
    assert refused.value.message == f"{tmp_path / 'bad.yaml'}: graph 'bad' has no nodes"
    message = unknown(folder, "broken")
    assert f"{tmp_path / 'broken.json'}: broken.json is no JSON" in message
    assert f"{tmp_path / 'latin.yaml'}: it is no UTF-8 text" in message
    assert len(folder.problems()) == 3


def test_a_large_file_is_refused_before_it_is_read(tmp_path: Path):
    (tmp_path / "large.yaml").write_bytes(b"x" * 1_000_001)
    assert GraphFolder([tmp_path]).problems() == [
        f"{tmp_path / 'large.yaml'}: it has 1000001 bytes; a graph document has at most 1000000"
    ]


def test_a_folder_that_does_not_exist_is_refused_at_once(tmp_path: Path):
    with pytest.raises(UnknownGraph, match="nowhere cannot be read: No such file or directory"):
        GraphFolder([tmp_path / "nowhere"])
