"""Whether one answer settles one open ticket: pure, by the order of contract section 5.

The caller passes the moment of receipt. The schema of a ticket is JSON Schema Draft 2020-12;
``format`` only annotates, because its checks differ from one machine to the next, and a
reference to another document is never fetched.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from referencing.jsonschema import EMPTY_REGISTRY

from seeding.errors import ActorNotAllowed, AnswerInvalid, DecisionNotAllowed, Expired
from seeding.model import Json, JsonObject
from seeding.tickets import OpenTicket, Ticket, TicketClosing
from workflows.commands import Answer
from workflows.instants import Moment, read_moment, show_moment

ISSUED_AT_COUNTS_FOR = timedelta(minutes=5)
"""How far back an ``issuedAt`` may lie to count as the moment of the answer."""

APPROVAL_DECISIONS = ("approve", "deny")

KEEP = "keep"
"""The ``onDeadline`` by which a passed deadline changes nothing."""

MAX_PROBLEM = 300
MAX_PROBLEMS = 3


def judge(ticket: OpenTicket, answer: Answer, now: Moment) -> TicketClosing:
    """Return how ``answer`` closes ``ticket``, or refuse it; the first wrong thing wins.

    An approval and a review need a decision, a choice a decision or a value, all of them among
    the allowed ones. A schema is applied to the value; tickets of the other kinds that have a
    schema need a value.

    Raises:
        Expired: ``now`` is later than the deadline, and no ``issuedAt`` of the last five
            minutes says that the answer was given in time.
        ActorNotAllowed: The ticket names who may answer, and ``actor`` is not among them.
        DecisionNotAllowed: A decision is missing, or not among the allowed ones.
        AnswerInvalid: The value does not fit the schema; the message names its path.
    """
    body = ticket.body
    _check_deadline(ticket, answer, now)
    _check_actor(body, answer)
    _check_decision(body, answer)
    _check_value(body, answer)
    return TicketClosing(
        ticket=body.ticket,
        outcome="answered",
        decision=answer.decision,
        value=answer.value,
        actor=answer.actor,
        command_id=answer.command_id,
    )


def schema_problem(schema: JsonObject) -> str | None:
    """Return why ``schema`` is no JSON Schema of Draft 2020-12, or None where it is one."""
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return _described(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:MAX_PROBLEM]
    return None


def value_problem(schema: JsonObject, value: Json) -> str | None:
    """Return where and how ``value`` does not fit ``schema``, or None where it fits."""
    try:
        problems = _value_problems("", schema, value)
    except AnswerInvalid as error:
        return error.message
    return "; ".join(f"{path}: {problem}" for path, problem in problems) or None


def _check_deadline(ticket: OpenTicket, answer: Answer, now: Moment) -> None:
    if ticket.deadline is None or ticket.body.on_deadline == KEEP:
        return
    deadline, received = read_moment(ticket.deadline), read_moment(now)
    if received <= deadline:
        return
    if answer.issued_at is not None:
        issued = read_moment(answer.issued_at)
        if issued <= deadline and received - issued <= ISSUED_AT_COUNTS_FOR:
            return
    raise Expired(
        f"the deadline of ticket {ticket.body.ticket} was {show_moment(deadline)}; "
        f"the answer was taken up at {show_moment(received)}. One that was sent in time and taken "
        "up late counts if it says when it was sent (issuedAt)",
        ticket=ticket.body.ticket,
        deadline=show_moment(deadline),
    )


def _check_actor(ticket: Ticket, answer: Answer) -> None:
    if ticket.approved_by is not None and answer.actor is None:
        raise ActorNotAllowed(
            f"ticket {ticket.ticket} takes one of several approvals; the answer names no actor, "
            "give who approves",
            ticket=ticket.ticket,
        )
    if ticket.approved_by is not None and answer.actor in ticket.approved_by:
        raise ActorNotAllowed(
            f"{answer.actor!r} has approved already; ticket {ticket.ticket} is for somebody else",
            ticket=ticket.ticket,
            approvedBy=ticket.approved_by,
        )
    if ticket.who is None or answer.actor in ticket.who:
        return
    said = "names no actor" if answer.actor is None else f"is by {answer.actor!r}"
    raise ActorNotAllowed(
        f"ticket {ticket.ticket} may be answered by {_listed(ticket.who)}; the answer {said}",
        ticket=ticket.ticket,
        who=ticket.who,
    )


def _check_decision(ticket: Ticket, answer: Answer) -> None:
    if ticket.kind == "pause":
        raise DecisionNotAllowed(
            f"ticket {ticket.ticket} is a pause; it takes no decision and no value, send {{}}",
            ticket=ticket.ticket,
        )
    allowed: Sequence[str] | None = ticket.allowed
    if ticket.kind == "approval" and allowed is None:
        allowed = APPROVAL_DECISIONS
    if allowed is None:
        return
    chosen: list[Json] = [] if answer.decision is None else [answer.decision]
    if ticket.kind == "choice" and answer.value_given:
        chosen.append(answer.value)
    if not chosen and ticket.kind in ("approval", "choice", "review"):
        raise DecisionNotAllowed(
            f"ticket {ticket.ticket} takes as decision {_listed(allowed)}; the answer has none",
            ticket=ticket.ticket,
            allowed=list(allowed),
        )
    for choice in chosen:
        if not isinstance(choice, str) or choice not in allowed:
            raise DecisionNotAllowed(
                f"ticket {ticket.ticket} takes as decision {_listed(allowed)}, "
                f"not {repr(choice)[:100]}",
                ticket=ticket.ticket,
                allowed=list(allowed),
            )


def _check_value(ticket: Ticket, answer: Answer) -> None:
    if ticket.answer_schema is None:
        return
    if not answer.value_given:
        if ticket.kind in ("text", "form", "external"):
            raise AnswerInvalid(
                f"ticket {ticket.ticket} takes a value; the answer has none, give value",
                ticket=ticket.ticket,
                path="value",
            )
        return
    problems = _value_problems(ticket.ticket, ticket.answer_schema, answer.value)
    if problems:
        shown = "; ".join(f"{path}: {problem}" for path, problem in problems)
        raise AnswerInvalid(
            f"ticket {ticket.ticket}: {shown}", ticket=ticket.ticket, path=problems[0][0]
        )


def _value_problems(ticket: str, schema: JsonObject, value: Json) -> list[tuple[str, str]]:
    problem = schema_problem(schema)
    if problem is None:
        try:
            # The registry is given because the default one would fetch what a $ref names.
            validator: Any = Draft202012Validator(schema, registry=EMPTY_REGISTRY)
            found: list[tuple[str, str]] = []
            errors: Iterable[ValidationError] = validator.iter_errors(value)
            for error in errors:
                path = ".".join(("value", *(str(part) for part in error.absolute_path)))
                found.append((path[:MAX_PROBLEM], _described(error)))
                if len(found) == MAX_PROBLEMS:
                    break
            return found
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"[:MAX_PROBLEM]
    raise AnswerInvalid(
        f"the schema of ticket {ticket} cannot be applied ({problem}); "
        "the graph needs another schema, the run can only be cancelled",
        ticket=ticket,
        path="value",
    )


def _described(error: ValidationError | SchemaError) -> str:
    return error.message[:MAX_PROBLEM]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names[:20]) or "nobody"
