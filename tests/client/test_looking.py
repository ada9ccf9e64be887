"""What a look at a run tells, and the lines that say what changed between two."""

from io import StringIO

from rich.console import Console

from client.command.progress_view import progress_table
from client.looking import Look, NodeLook, changes, read_look
from seeding.model import JsonObject

STATE: JsonObject = {
    "iterationCount": 2,
    "iterator": {"items": [50, 150], "index": 1, "results": [50]},
    "run": {"runId": "R", "phase": "awaiting"},
}
PROGRESS: JsonObject = {
    "items": {"status": "completed", "executions": 1},
    "check": {"status": "completed", "executions": 2},
    "gate": {"status": "interrupted", "executions": 1},
    "summary": {"status": "idle", "executions": 0},
}
LOOK = Look(
    run_id="R",
    phase="awaiting",
    round=2,
    item=2,
    items=2,
    nodes={
        "items": NodeLook(status="completed", executions=1),
        "check": NodeLook(status="completed", executions=2),
        "gate": NodeLook(status="interrupted", executions=1),
        "summary": NodeLook(status="idle", executions=0),
    },
)


class TestLook:
    def test_items_of_a_loop_are_counted_from_1(self) -> None:
        assert read_look(STATE, PROGRESS) == LOOK
        assert LOOK.place == "loop round 2, item 2 of 2"

    def test_a_run_that_has_not_opened_cannot_be_looked_at(self) -> None:
        assert read_look({"run": {"phase": "starting"}}, {}) is None
        assert read_look({"run": {"phase": "refused", "code": "UnknownGraph"}}, {}) is None

    def test_items_that_are_shown_by_reference_are_not_counted(self) -> None:
        state: JsonObject = {**STATE, "iterator": {"items": {"$ref": "iterator/items"}, "index": 0}}

        look = read_look(state, {})

        assert look is not None
        assert look.place == "loop round 2, item 1 of ?"

    def test_a_loop_without_items_has_rounds_only(self) -> None:
        assert LOOK.model_copy(update={"item": None}).place == "loop round 2"
        assert LOOK.model_copy(update={"round": 0}).place == ""


class TestChanges:
    def test_the_first_look_tells_everything_that_has_begun(self) -> None:
        assert changes(None, LOOK) == [
            "run R: awaiting",
            "loop round 2, item 2 of 2",
            "node items: completed",
            "node check: completed, 2 executions",
            "node gate: interrupted",
        ]

    def test_the_next_tells_what_is_new(self) -> None:
        nodes = {**LOOK.nodes, "gate": NodeLook(status="completed", executions=1)}
        after = LOOK.model_copy(update={"phase": "running", "nodes": nodes})

        assert changes(LOOK, after) == ["run R: running", "node gate: completed"]

    def test_a_warning_is_one_line_once(self) -> None:
        warned = LOOK.model_copy(update={"warnings": ({"code": "c", "message": "mind this"},)})

        assert changes(None, warned)[:2] == ["run R: awaiting", "warning: c: mind this"]
        assert changes(LOOK, warned) == ["warning: c: mind this"]
        assert changes(warned, warned) == []

    def test_nothing_new_is_no_line(self) -> None:
        assert changes(LOOK, LOOK) == []


class TestTable:
    def test_a_terminal_shows_every_node_under_where_the_run_is(self) -> None:
        screen = StringIO()
        Console(file=screen, width=60).print(progress_table("alice", LOOK))

        assert [line.rstrip() for line in screen.getvalue().splitlines()] == [
            "thread alice · awaiting · loop round 2, item 2 of 2",
            "node     status       executions",
            "items    completed             1",
            "check    completed             2",
            "gate     interrupted           1",
            "summary  idle                  0",
        ]

    def test_a_name_that_would_steer_the_terminal_is_defused(self) -> None:
        screen = StringIO()
        look = LOOK.model_copy(update={"nodes": {"\x1b[2J[b]": LOOK.nodes["items"]}})
        Console(file=screen, width=60).print(progress_table("alice", look))

        assert "\N{REPLACEMENT CHARACTER}[2J[b]" in screen.getvalue()
