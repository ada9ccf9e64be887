"""What the reference lists as not yet available is refused as it says; the thread stays free."""

import subprocess
import sys
from typing import Any

import pytest

from seeding.model import JsonObject
from tests.docs.documented import Documented

pytestmark = pytest.mark.xdist_group("docs")

REVIEW: JsonObject = {"graph": "expense-review", "input": {"items": {"value": [50]}}}


def of_one_node(node_type: str, **config: Any) -> JsonObject:
    node = {"id": "only", "type": node_type, "config": config}
    return {"graph": {"id": "one", "nodes": [node]}}


@pytest.mark.parametrize(
    ("code", "request_", "named"),
    [
        ("InvalidRequest", {**REVIEW, "data": {"k": "x" * 66_000}}, "65536"),
        ("InvalidGraph", of_one_node("flow"), "type 'flow'"),
        ("InvalidGraph", of_one_node("foreach", continueOnError=True), "continueOnError"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_start_is_refused_by_name(
    documented: Documented, code: str, request_: JsonObject, named: str
) -> None:
    documented.start("not-yet", request_)

    refused = documented.until("not-yet", "refused")["run"]

    assert refused["code"] == code
    assert named in refused["message"]


def test_a_node_cannot_be_declared_with_a_queue_of_its_own() -> None:
    code = "from activities import node\nnode('x', task_queue='elsewhere')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert "TypeError" in done.stderr


def test_a_log_in_a_database_that_is_not_known_is_refused(documented: Documented) -> None:
    done = documented.shell("FERMATA_LOG_URL=mysql://localhost/fermata fermata threads")

    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith("LogError: ")
