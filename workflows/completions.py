"""From one thing that happened to one commit: completions, gates that open, answers."""

from dataclasses import dataclass, field

from seeding.commits import CommitOperation, EndCause, ThreadCommit, operation
from seeding.identity import parse_ticket_id
from seeding.json_values import (
    MAX_DEPTH,
    MAX_PAYLOAD_BYTES,
    MAX_VALUE_BYTES,
    find_not_json,
    size_in_bytes,
)
from seeding.model import JsonObject
from seeding.tickets import Ticket, TicketClosing
from workflows.commit_path import MAX_BATCH_BYTES, MAX_BATCH_COMMITS
from workflows.control.gate import next_question
from workflows.effects import Finished
from workflows.graph.gate_config import CANCEL, DEFAULT
from workflows.held import Held, after
from workflows.inbox_model import AnswerTaken
from workflows.position import Position, execution_of
from workflows.scheduler import (
    Asked,
    Completion,
    Ending,
    Execution,
    Limits,
    NodeFailureReport,
    Plan,
    Step,
    answer,
    ask_again,
    complete,
    due,
    evaluate,
    wait,
)
from workflows.transitions import node_commit, with_unnamed_answer

FEW_COMMANDS = 200
"""Up to here the commands of a commit fit beside the largest outputs a node may have."""

Settled = tuple[ThreadCommit, Position] | Ending
"""A commit with the position it leads to, or the end that takes its place (SG-14)."""


@dataclass
class Batch:
    """A list of commits, each built on the one before it; adopted only as the log accepts it.

    Attributes:
        held: What would be held after every commit of the batch.
        operations: The commits, addressed to the log.
    """

    held: Held
    operations: list[CommitOperation] = field(default_factory=list[CommitOperation])
    _bytes: int = 0

    @property
    def has_room(self) -> bool:
        """Whether one more commit fits."""
        return len(self.operations) < MAX_BATCH_COMMITS and self._bytes < MAX_BATCH_BYTES

    def add(self, settled: Settled) -> Ending | None:
        """Add a commit; an end is no commit of a batch and is handed back."""
        if isinstance(settled, Ending):
            return settled
        commit, position = settled
        self.operations.append(
            operation(
                commit,
                ordinal=self.held.next_ordinal,
                owner_epoch=self.held.facts.owner_epoch,
                expected_thread_version=self.held.thread_version,
            )
        )
        self._bytes += size_in_bytes(commit.to_json())
        self.held = after(self.held, commit, position)
        return None


def next_control(held: Held) -> Execution | None:
    """Return the due execution that is evaluated in place next, or None."""
    for execution in due(held.position):
        if execution.kind == "control":
            return execution
    return None


def settle(plan: Plan, held: Held, happened: Finished | Execution | AnswerTaken) -> Settled:
    """Return what follows from one thing that happened, and from what is held alone."""
    if isinstance(happened, AnswerTaken):
        return _settle_answer(plan, held, happened)
    if isinstance(happened, Finished):
        outcome: Completion | Asked = _outcome_of(happened)
    else:
        outcome = _bounded(evaluate(plan, held.position, happened))
    if isinstance(outcome, Asked):
        step = wait(plan, held.position, outcome)
        opened = None if step.asked is None else _ticket(held, step.asked)
        return node_commit(held, step, opened=opened), step.position
    settled = _settled(plan, held, outcome)
    if isinstance(settled, Ending) or not _is_too_large(settled[0]):
        return settled
    return _settled(plan, held, _too_large(outcome, size_in_bytes(settled[0].to_json())))


def _settled(plan: Plan, held: Held, outcome: Completion) -> Settled:
    step = _complete(plan, held, outcome)
    return step if isinstance(step, Ending) else (node_commit(held, step), step.position)


def _is_too_large(commit: ThreadCommit) -> bool:
    """Return whether a commit is past its bound for the number of keys that a node sets.

    Outputs are bounded before; what each key adds in its command is not part of that.
    """
    return len(commit.state) > FEW_COMMANDS and size_in_bytes(commit.to_json()) > MAX_PAYLOAD_BYTES


def _too_large(outcome: Completion, size: int) -> Completion:
    failure = NodeFailureReport(
        message=f"node {outcome.node_id}: what it sets makes a commit of {size} bytes of JSON, at "
        f"most {MAX_PAYLOAD_BYTES} are taken; set fewer keys at once, or one object of them",
        code="OutputTooLarge",
    )
    return Completion(
        node_id=outcome.node_id,
        occurrence=outcome.occurrence,
        failure=failure,
        retries=outcome.retries,
    )


def _settle_answer(plan: Plan, held: Held, taken: AnswerTaken) -> Settled:
    closing = taken.closing
    asked = _next_question(plan, held, closing)
    if asked is not None:
        commit, position = _settle_question(plan, held, asked, closing)
        return (with_unnamed_answer(commit) if taken.unnamed else commit), position
    given: JsonObject = {
        "decision": closing.decision,
        "actor": closing.actor,
        "expired": False,
        **({"value": closing.value} if taken.value_given else {}),
    }
    answered = answer(plan, held.position, taken.ticket.node_id, taken.ticket.occurrence, given)
    step = answered if isinstance(answered, Step) else _complete(plan, held, answered)
    if isinstance(step, Ending):
        return step
    commit = node_commit(held, step, closed=closing)
    return (with_unnamed_answer(commit) if taken.unnamed else commit), step.position


def settle_expiry(plan: Plan, held: Held, closing: TicketClosing) -> Settled:
    """Return what follows from a ticket whose deadline passed before anybody answered.

    A gate goes on by what its ``onDeadline`` says: it asks somebody else, ends the run, or is
    completed as expired. A node that asked fails with the code ``expired``: an expiry is an
    outcome of its own, never shaped like an answer.
    """
    name = parse_ticket_id(closing.ticket)
    assert name is not None, "only tickets of this run have deadlines"
    asked = _next_question(plan, held, closing)
    if asked is not None:
        return _settle_question(plan, held, asked, closing)
    ticket = _open_ticket(held, closing)
    if ticket is not None and ticket.on_deadline == CANCEL:
        said = f"nobody answered ticket {closing.ticket} by its deadline"
        return Ending(cause=EndCause(kind="Cancelled", message=said), report={})
    if plan.nodes[name.node_id].type.kind == "control":
        given: JsonObject = {"decision": closing.decision, "actor": None, "expired": True}
        if ticket is not None and ticket.on_deadline == DEFAULT and closing.decision is None:
            given["value"] = closing.value
        outcome = answer(plan, held.position, name.node_id, name.occurrence, given)
        assert isinstance(outcome, Completion)
    else:
        outcome = Completion(
            node_id=name.node_id,
            occurrence=name.occurrence,
            failure=NodeFailureReport(
                message=f"nobody answered ticket {closing.ticket} by its deadline", code="expired"
            ),
        )
    step = _complete(plan, held, outcome)
    if isinstance(step, Ending):
        return step
    return node_commit(held, step, closed=closing), step.position


def _open_ticket(held: Held, closing: TicketClosing) -> Ticket | None:
    return next((ticket for ticket in held.tickets if ticket.ticket == closing.ticket), None)


def _next_question(plan: Plan, held: Held, closing: TicketClosing) -> Asked | None:
    """Return what the gate of a ticket asks once that is closed, where it is not settled."""
    ticket = _open_ticket(held, closing)
    if ticket is None or plan.nodes[ticket.node_id].node.type != "gate":
        return None
    return next_question(plan.nodes[ticket.node_id].node, ticket, closing)


def _settle_question(
    plan: Plan, held: Held, asked: Asked, closing: TicketClosing
) -> tuple[ThreadCommit, Position]:
    execution = execution_of(held.position, asked.node_id, asked.occurrence)
    step = ask_again(plan, held.position, asked)
    opened = None
    if step.asked is not None:
        facts = held.facts
        opened = step.asked.ticket(facts.run_id, facts.thread_id, execution.ask + 1)
    return node_commit(held, step, opened=opened, closed=closing), step.position


def _outcome_of(finished: Finished) -> Completion | Asked:
    execution, result = finished.execution, finished.result
    node_id, occurrence = execution.node_id, execution.occurrence
    if result.ask is not None:
        return Asked(node_id=node_id, occurrence=occurrence, **dict(result.ask))
    return Completion(
        node_id=node_id,
        occurrence=occurrence,
        outputs=result.outputs or {},
        failure=finished.failure,
        retries=finished.retries,
    )


def _bounded(outcome: Completion | Asked) -> Completion | Asked:
    """Return what a control node came to, as a failure where a commit could not hold it."""
    shown: JsonObject = {"input": outcome.input} if isinstance(outcome, Asked) else outcome.outputs
    deep = find_not_json(shown, depth=MAX_DEPTH + 1)
    if deep is not None:
        return _failed(
            outcome, f"node {outcome.node_id}: {deep.path} is a {deep.kind}", "OutputNotJson"
        )
    sizes = {port: size_in_bytes(value) for port, value in shown.items()}
    largest = max(sizes, key=lambda port: sizes[port], default=None)
    if largest is None or (
        sizes[largest] <= MAX_VALUE_BYTES and sum(sizes.values()) <= MAX_BATCH_BYTES
    ):
        return outcome
    said = (
        f"node {outcome.node_id}: {largest} is {sizes[largest]} bytes of JSON; one value "
        f"may have {MAX_VALUE_BYTES}, all together {MAX_BATCH_BYTES}"
    )
    return _failed(outcome, said, "OutputTooLarge")


def _failed(outcome: Completion | Asked, message: str, code: str) -> Completion:
    failure = NodeFailureReport(message=message, code=code)
    return Completion(node_id=outcome.node_id, occurrence=outcome.occurrence, failure=failure)


def _ticket(held: Held, asked: Asked) -> Ticket:
    execution = execution_of(held.position, asked.node_id, asked.occurrence)
    return asked.ticket(held.facts.run_id, held.facts.thread_id, execution.ask)


def _complete(plan: Plan, held: Held, completion: Completion) -> Step | Ending:
    limits = Limits(
        max_iterations=held.facts.config.max_iterations,
        data_keys=tuple(held.data),
        metadata_keys=tuple(held.metadata),
    )
    return complete(plan, held.position, completion, limits)
