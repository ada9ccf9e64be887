"""The reference's examples, each run and compared with what really happens."""

import json

import pytest

from seeding.model import JsonObject
from seeding.request import RunRequest, parse_request
from tests.docs.documented import Documented
from tests.docs.examples import Example, difference, example
from workflows.graph.document import read_graph
from workflows.graph.text import parse_document
from workflows.wire import NodeCallInput, NodeCallResult

pytestmark = pytest.mark.xdist_group("docs")


def of_thread(shown: Example, thread: str) -> JsonObject:
    """Return an example's value, for another thread than alice."""
    return json.loads(shown.text.replace('"alice"', f'"{thread}"'))


def request(thread: str) -> JsonObject:
    return of_thread(example("docs/reference.md", "start-request"), thread)


def expect_shown(shown: JsonObject | list[JsonObject], actual: object, run_id: str) -> None:
    assert difference(shown, actual, run_id) is None


class TestStarting:
    def test_the_request_shows_every_field_with_its_default(self) -> None:
        shown = example("docs/reference.md", "start-request").value
        only_what_is_no_default = {
            "graph": "expense-review",
            "message": "please check these",
            "input": {"items": {"value": [50, 150]}},
        }

        assert sorted(shown) == sorted(
            field.alias or name
            for name, field in RunRequest.model_fields.items()
            if name not in ("messages", "queued_turn")
        )
        assert parse_request(shown, "thread/alice") == parse_request(
            only_what_is_no_default, "thread/alice"
        )

    def test_the_lines_start_show_and_answer_a_run(self, documented: Documented) -> None:
        documented.typed(example("docs/reference.md", "start"), "lines")
        waiting = documented.until("lines", "awaiting")["run"]["waitingFor"]
        shown = documented.typed(example("docs/reference.md", "state"), "lines")
        answer = example("docs/reference.md", "answer")
        documented.typed(answer, "lines", ticket=waiting[0]["ticket"])

        assert waiting[0]["ticket"] in shown
        assert documented.result("lines")["results"]["gate"]["decision"] == "approve"


@pytest.fixture(scope="module")
def run_id(documented: Documented) -> str:
    """The run of thread `paused`, waiting at its second item."""
    started = documented.start("paused", request("paused"))
    documented.until("paused", "awaiting")
    return started


class TestThePausedRun:
    def test_state_as_the_log_has_it(self, documented: Documented, run_id: str) -> None:
        shown = of_thread(example("docs/reference.md", "paused-state"), "paused")

        expect_shown(shown, documented.fermata("state paused"), run_id)

    def test_state_as_the_run_answers_it(self, documented: Documented, run_id: str) -> None:
        shown = of_thread(example("docs/reference.md", "paused-state"), "paused")
        counted = {"count": 1, "checkpointId": "R:6"}

        expect_shown({**shown, "messages": counted}, documented.query("paused", "state"), run_id)

    def test_progress(self, documented: Documented, run_id: str) -> None:
        shown = example("docs/reference.md", "progress").value

        expect_shown(shown, documented.query("paused", "progress"), run_id)

    def test_a_row_of_checkpoints(self, documented: Documented, run_id: str) -> None:
        shown = example("docs/reference.md", "checkpoint-row").value

        expect_shown(shown, documented.fermata("checkpoints paused")[-1], run_id)

    def test_a_row_of_effects(self, documented: Documented, run_id: str) -> None:
        shown = example("docs/reference.md", "effect-row").value

        expect_shown(shown, documented.fermata("effects paused")[0], run_id)

    def test_a_row_of_events(self, documented: Documented, run_id: str) -> None:
        shown = example("docs/reference.md", "event-row").value
        rows = documented.fermata("events paused --after 6")

        expect_shown(shown, rows[0], run_id)

    def test_a_thread_that_was_forked_there(self, documented: Documented, run_id: str) -> None:
        made = documented.shell(f"fermata fork paused --at {run_id}:6 --to forked")
        assert made.returncode == 0

        shown = example("docs/reference.md", "forked-run").value
        expect_shown(shown, documented.fermata("state forked")["run"], run_id)

    def test_refusals(self, documented: Documented, run_id: str) -> None:
        documented.signal("paused", "resume", {})

        shown = example("docs/reference.md", "refusals").value
        expect_shown(shown, documented.query("paused", "refusals"), run_id)

    def test_the_call_of_its_node(self, documented: Documented, run_id: str) -> None:
        shown = of_thread(example("docs/reference.md", "node-call"), "paused")

        expect_shown(shown, documented.calls("paused")[0], run_id)


def test_the_answer_to_an_update(documented: Documented) -> None:
    run_id = documented.start("updated", request("updated"))
    documented.until("updated", "awaiting")

    reply = documented.update("updated", "resume", {"decision": "approve"})

    expect_shown(example("docs/reference.md", "update-reply").value, reply, run_id)


def test_a_queued_message_and_the_queue(documented: Documented) -> None:
    documented.start("bob", request("bob"))
    run_id = documented.until("bob", "awaiting")["run"]["runId"]

    reply = documented.update("bob", "message", {"message": "and this", "onBusy": "queue"})

    expect_shown(example("docs/reference.md", "queued-reply").value, reply, run_id)
    shown = documented.fermata("queue bob")
    expect_shown(example("docs/reference.md", "queue").value, shown, run_id)


def test_a_takeover(documented: Documented) -> None:
    run_id = documented.start("taken", request("taken"))
    documented.until("taken", "awaiting")
    stopped = documented.shell("temporal workflow terminate --workflow-id thread/taken")
    assert stopped.returncode == 0
    documented.start("taken", {"graph": "expense-review"})
    documented.until("taken", "awaiting")

    (taken,) = documented.fermata("provenance taken")["takeovers"]
    expect_shown(example("docs/reference.md", "takeover").value, taken, run_id)


def test_provenance_of_a_second_turn(documented: Documented) -> None:
    first = request("turns")
    documented.start("turns", {**first, "input": {"items": {"value": [50, 60]}}})
    documented.result("turns")
    run_id = documented.start("turns", first)
    documented.until("turns", "awaiting")

    shown = example("docs/reference.md", "provenance").value
    expect_shown(shown, documented.query("turns", "provenance"), run_id)


class TestResults:
    def test_a_node_that_ran_twice_and_one_that_was_never_reached(
        self, documented: Documented
    ) -> None:
        graph = {
            "id": "drafts",
            "nodes": [{"id": "draft", "type": "drafting"}, {"id": "late", "type": "reply"}],
            "edges": ["draft.again -> draft.loop_back", "draft.late -> late.text"],
        }
        documented.start("drafts", {"graph": graph})
        documented.result("drafts")
        run_id = documented.start("drafts", {"graph": graph})

        shown = of_thread(example("docs/reference.md", "result"), "drafts")
        expect_shown(shown, documented.result("drafts"), run_id)

    def test_a_run_whose_budget_is_spent(self, documented: Documented) -> None:
        limited = {**request("spent"), "config": {"maxIterations": 1}}
        run_id = documented.start("spent", limited)

        shown = of_thread(example("docs/reference.md", "max-iterations"), "spent")
        expect_shown(shown, documented.result("spent"), run_id)

    def test_a_loop_without_items(self, documented: Documented) -> None:
        documented.start("empty", {**request("empty"), "input": {"items": {"value": []}}})

        shown = example("docs/reference.md", "empty-loop").value
        assert documented.result("empty")["results"]["each"] == shown


class TestGraphs:
    def test_the_graph_is_the_sample(self) -> None:
        shown = parse_document(example("docs/reference.md", "expense-review").text, "shown.yaml")

        assert read_graph(shown).id == "expense-review"

    def test_an_edge_as_an_object_is_the_edge_as_a_text(self) -> None:
        shown = parse_document(example("docs/reference.md", "edge-object").text, "edge.yaml")
        graph = parse_document(example("docs/reference.md", "expense-review").text, "shown.yaml")
        changed = [shown if "check.over" in edge else edge for edge in graph["edges"]]

        assert shown in changed
        assert read_graph({**graph, "edges": changed}).edges == read_graph(graph).edges


class TestTheNodeCall:
    def test_a_field_that_is_left_out_is_at_its_default(self) -> None:
        shown = example("docs/reference.md", "node-call").value

        assert NodeCallInput.model_validate(shown).to_json() == shown

    @pytest.mark.parametrize(
        "shown",
        [
            example("docs/reference.md", "node-outputs"),
            example("docs/reference.md", "node-failure"),
            example("docs/reference.md", "node-question"),
        ],
        ids=lambda shown: shown.name,
    )
    def test_a_result_is_read(self, shown: Example) -> None:
        read = NodeCallResult.model_validate(shown.value)

        [only] = [name for name in ("outputs", "failure", "ask") if getattr(read, name) is not None]
        assert [only] == list(shown.value)
        assert NodeCallResult.model_validate(read.to_json()) == read


def test_the_log_of_these_runs_verifies(documented: Documented) -> None:
    documented.start("verified", {**request("verified"), "input": {"items": {"value": [50]}}})
    documented.result("verified")

    done = documented.shell(example("docs/running.md", "verify").text)

    assert (done.returncode, done.stdout) == (0, "everything is as it was accepted\n")
