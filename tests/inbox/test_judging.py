"""Contract 5: what makes a well-addressed answer wrong, in its order."""

from datetime import UTC, datetime
from typing import Any

import pytest

from seeding.errors import (
    ActorNotAllowed,
    AnswerInvalid,
    CommandRefused,
    DecisionNotAllowed,
    Expired,
)
from seeding.tickets import TicketClosing
from tests.inbox.runs import NOW, ticket
from workflows.commands import Answer
from workflows.judging import judge, schema_problem

NOTE = {
    "type": "object",
    "required": ["items"],
    "properties": {"items": {"type": "array", "items": {"type": "string"}}},
}


def given(value: Any = None, **fields: Any) -> Answer:
    return Answer(value=value, value_given=True, **fields)


def test_a_right_answer_closes_its_ticket():
    answer = Answer(decision="approve", actor="anna", command_id="c1")
    assert judge(ticket(), answer, NOW) == TicketClosing(
        ticket="R:gate:0:0", outcome="answered", decision="approve", actor="anna", command_id="c1"
    )


class TestDeadline:
    at_noon = ticket(deadline="2026-03-01T12:00:00Z")
    yes = Answer(decision="approve")

    def test_the_deadline_itself_is_in_time(self):
        assert judge(self.at_noon, self.yes, "2026-03-01T12:00:00Z").outcome == "answered"

    def test_later_is_expired(self):
        with pytest.raises(
            Expired, match=r"12:00:00Z; the answer was taken up at 2026-03-01T12:00:00\.001"
        ):
            judge(self.at_noon, self.yes, datetime(2026, 3, 1, 12, 0, 0, 1000, tzinfo=UTC))

    def test_no_deadline_never_expires(self):
        assert judge(ticket(), self.yes, "9999-01-01T00:00:00Z").outcome == "answered"

    @pytest.mark.parametrize(
        ("issued", "received", "in_time"),
        [
            ("2026-03-01T11:59:00Z", "2026-03-01T12:01:00Z", True),
            ("2026-03-01T12:00:00Z", "2026-03-01T12:05:00Z", True),
            ("2026-03-01T13:00:00+01:00", "2026-03-01T12:05:00Z", True),
            ("2026-03-01T12:00:00", "2026-03-01T12:05:00Z", True),
            ("2026-03-01T12:00:00Z", "2026-03-01T12:05:01Z", False),
            ("2026-03-01T12:00:01Z", "2026-03-01T12:01:00Z", False),
            ("2026-02-01T12:00:00Z", "2026-03-01T12:01:00Z", False),
        ],
    )
    def test_issued_at_counts_for_five_minutes(self, issued: str, received: str, in_time: bool):
        answer = Answer(decision="approve", issued_at=issued)
        if in_time:
            assert judge(self.at_noon, answer, received).outcome == "answered"
        else:
            with pytest.raises(Expired):
                judge(self.at_noon, answer, received)


class TestActor:
    def test_anybody_may_answer_where_nobody_is_named(self):
        assert judge(ticket(), Answer(decision="deny"), NOW).actor is None

    @pytest.mark.parametrize("actor", ["bob", "Anna", None])
    def test_only_the_named_may_answer(self, actor: str | None):
        with pytest.raises(ActorNotAllowed, match="may be answered by 'anna', 'boss'"):
            judge(ticket(who=["anna", "boss"]), Answer(decision="deny", actor=actor), NOW)

    def test_a_named_one_may(self):
        answer = Answer(decision="deny", actor="boss")
        assert judge(ticket(who=["anna", "boss"]), answer, NOW).actor == "boss"

    def test_an_empty_list_names_nobody(self):
        with pytest.raises(ActorNotAllowed, match="nobody"):
            judge(ticket(who=[]), Answer(decision="deny", actor="anna"), NOW)


class TestDecision:
    @pytest.mark.parametrize("value", [True, "approve", None])
    def test_a_bare_value_is_no_approval(self, value: Any):
        with pytest.raises(DecisionNotAllowed, match="'approve', 'deny'; the answer has none"):
            judge(ticket(), given(value), NOW)

    @pytest.mark.parametrize("decision", ["Approve", "yes", " approve"])
    def test_an_approval_takes_approve_and_deny_alone(self, decision: str):
        with pytest.raises(DecisionNotAllowed):
            judge(ticket(), Answer(decision=decision), NOW)

    def test_an_empty_list_allows_nothing(self):
        with pytest.raises(DecisionNotAllowed):
            judge(ticket(allowed=[]), Answer(decision="approve"), NOW)

    @pytest.mark.parametrize("answer", [Answer(decision="red"), given("red")])
    def test_a_choice_is_a_decision_or_a_value(self, answer: Answer):
        colour = ticket(kind="choice", allowed=["red", "blue"])
        assert judge(colour, answer, NOW).outcome == "answered"

    @pytest.mark.parametrize(
        "answer", [given("green"), given(), given("green", decision="red"), given(["red"])]
    )
    def test_a_choice_is_among_the_allowed_ones(self, answer: Answer):
        with pytest.raises(DecisionNotAllowed):
            judge(ticket(kind="choice", allowed=["red", "blue"]), answer, NOW)

    def test_a_text_needs_no_decision(self):
        assert judge(ticket(kind="text"), given("hello"), NOW).value == "hello"

    def test_a_pause_takes_no_decision(self):
        with pytest.raises(DecisionNotAllowed, match="is a pause"):
            judge(ticket("", kind="pause"), Answer(decision="approve"), NOW)


class TestValue:
    def test_a_mismatch_names_its_path(self):
        form = ticket(kind="form", answer_schema=NOTE)
        with pytest.raises(AnswerInvalid, match=r"value\.items\.1: 2 is not of type 'string'"):
            judge(form, given({"items": ["a", 2]}), NOW)

    def test_a_fitting_value_passes(self):
        form = ticket(kind="form", answer_schema=NOTE)
        assert judge(form, given({"items": ["a"]}), NOW).value == {"items": ["a"]}

    def test_null_is_a_value_and_is_checked(self):
        with pytest.raises(AnswerInvalid, match="value: None is not of type 'object'"):
            judge(ticket(kind="form", answer_schema=NOTE), given(None), NOW)

    @pytest.mark.parametrize("kind", ["form", "text", "external"])
    def test_a_decision_does_not_go_round_a_schema(self, kind: str):
        with pytest.raises(AnswerInvalid, match="takes a value"):
            judge(ticket(kind=kind, answer_schema=NOTE), Answer(decision="approve"), NOW)

    def test_an_approval_may_come_without_the_value_its_schema_describes(self):
        asked = ticket(answer_schema=NOTE)
        assert judge(asked, Answer(decision="deny"), NOW).decision == "deny"
        with pytest.raises(AnswerInvalid):
            judge(asked, given(1, decision="deny"), NOW)

    @pytest.mark.parametrize(
        "schema",
        [
            {"type": "nonsense"},
            {"$ref": "https://example.invalid/schema.json"},
            {"$ref": "file:///etc/hostname"},
            {"$ref": "#/missing"},
            {"$ref": "#"},
            {"pattern": "("},
            {"allOf": 5},
        ],
    )
    def test_a_schema_that_cannot_be_applied_refuses_and_does_not_crash(
        self, schema: dict[str, Any]
    ):
        with pytest.raises(AnswerInvalid, match="cannot be applied"):
            judge(ticket(kind="form", answer_schema=schema), given("x"), NOW)

    def test_a_bad_schema_can_be_found_before_anybody_answers(self):
        assert schema_problem(NOTE) is None
        assert schema_problem({"type": "nonsense"}) is not None


STRICT = ticket(
    who=["anna"],
    allowed=["approve"],
    answer_schema={"type": "string"},
    deadline="2026-03-01T11:30:00Z",
)
IN_TIME = "2026-03-01T11:15:00Z"


@pytest.mark.parametrize(
    ("now", "actor", "decision", "value", "expected"),
    [
        (NOW, "bob", "maybe", 1, Expired),
        (IN_TIME, "bob", "maybe", 1, ActorNotAllowed),
        (IN_TIME, "anna", "maybe", 1, DecisionNotAllowed),
        (IN_TIME, "anna", "approve", 1, AnswerInvalid),
    ],
)
def test_the_first_wrong_thing_wins(
    now: str, actor: str, decision: str, value: Any, expected: type[CommandRefused]
):
    with pytest.raises(expected):
        judge(STRICT, given(value, actor=actor, decision=decision), now)
    judge(STRICT, given("fine", actor="anna", decision="approve"), IN_TIME)
