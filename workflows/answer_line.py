"""The line a person pastes into a shell to answer a ticket."""

import json
import shlex

from seeding.identity import workflow_id
from seeding.model import JsonObject
from seeding.tickets import Ticket


def answer_line(thread_id: str, ticket: Ticket) -> str:
    """Return the exact ``temporal workflow signal`` line that answers ``ticket``, shell-quoted.

    An approval is approved, or gets its first allowed decision where approving is not among
    them. Other kinds get their first allowed decision, else a value to be replaced. A pause is
    lifted by ``{}``. Where the ticket says who may answer, the first of them is the actor; where
    it takes one of several approvals, the actor is to be filled in.
    """
    given = json.dumps(_answer(ticket))
    words = ["temporal", "workflow", "signal", "--workflow-id", workflow_id(thread_id)]
    return shlex.join([*words, "--name", "resume", "--input", given])


def _answer(ticket: Ticket) -> JsonObject:
    if ticket.is_pause:
        return {}
    answer: JsonObject = {"ticket": ticket.ticket}
    allowed = ticket.allowed or (["approve"] if ticket.kind == "approval" else [])
    if allowed:
        answer["decision"] = "approve" if "approve" in allowed else allowed[0]
    else:
        answer["value"] = "..."
    if ticket.who:
        answer["actor"] = ticket.who[0]
    elif ticket.approved_by is not None:
        answer["actor"] = "..."
    return answer
