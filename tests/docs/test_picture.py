"""The pictures of the documentation, and the lines beside them."""

import shlex
from xml.etree import ElementTree

import pytest

from picture import PICTURES
from tests.docs.examples import PROJECT, example

DOCS = PROJECT / "docs"
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_of_the_ui_is_1280_wide_and_small(name: str) -> None:
    picture = (DOCS / name).read_bytes()

    assert picture.startswith(PNG)
    assert int.from_bytes(picture[16:20]) == 1280
    assert len(picture) < 300_000


def test_the_line_that_makes_them_names_a_script_and_a_folder_that_exist() -> None:
    words = shlex.split(example("docs/running.md", "picture").text)

    assert words[0] == ".venv/bin/python"
    assert (PROJECT / words[1]).is_file()
    assert (PROJECT / words[2]).is_dir()


def test_the_picture_of_a_thread_describes_itself_and_follows_the_colour_scheme() -> None:
    text = (DOCS / "thread.svg").read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    inside = {child.tag.rpartition("}")[2] for child in root}

    assert {"title", "desc"} <= inside
    assert "prefers-color-scheme: dark" in text
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
