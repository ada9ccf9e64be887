"""Threads of a wanted length, written as runs write them."""

from base64 import b64encode
from hashlib import sha256

from activities.log import CommitLog
from activities.log.effect_rows import EffectIntent
from seeding.canonical import canonical_hash
from seeding.commits import (
    CommitOperation,
    Disposition,
    EndCause,
    Opening,
    PositionHead,
    RunRow,
    StateCommand,
    ThreadCommit,
    operation,
)
from seeding.model import JsonObject

THREAD = "bench"
DIGEST = "b" * 64


def text_of(size: int, seed: str) -> str:
    """Return a text of ``size`` bytes, another for each seed, that hardly compresses."""
    lines: list[str] = []
    while sum(map(len, lines)) < size:
        lines.append(b64encode(sha256(f"{seed}/{len(lines)}".encode()).digest()).decode())
    return "".join(lines)[:size]


class ThreadWriter:
    """Makes and appends the commits of one thread's runs, one run after the other.

    Args:
        log: The log.
        thread_id: A thread that has no commit yet.
    """

    def __init__(self, log: CommitLog, thread_id: str = THREAD) -> None:
        self.log = log
        self.thread_id = thread_id
        self.messages = 0
        self._runs = 0
        self._version = 0
        self._ordinal = 0

    @property
    def run_id(self) -> str:
        """The run opened last."""
        return f"01234567-89ab-7def-8123-{self._runs:012d}"

    def opening(self, message_bytes: int) -> CommitOperation:
        """Return the opening of the next run, with its user's message."""
        self._runs += 1
        self._ordinal = 0
        how = Opening(
            run_epoch=self._runs,
            chain_id=self.run_id,
            graph_id="bench",
            graph_digest=DIGEST,
            start={"source": "thread" if self._runs > 1 else "fresh", "passedOver": []},
        )
        return self._operation("Running", opening=how, messages=self._said("user", message_bytes))

    def completion(self, node: str, message_bytes: int, output_bytes: int = 40) -> CommitOperation:
        """Return a node's completion: its outputs, one message, and the node's own cell."""
        occurrence = self._ordinal
        output = text_of(output_bytes, f"{self.run_id}/{occurrence}")
        return self._operation(
            "Running",
            messages=self._said("assistant", message_bytes),
            rows=(
                RunRow(
                    kind="output",
                    node_id=node,
                    occurrence=occurrence,
                    value={"outputs": {"text": output}},
                ),
            ),
            state=(
                StateCommand(
                    scope="run", cell="position", key=f"node/{node}", value={"n": occurrence}
                ),
            ),
            position=PositionHead(current_node_id=node, counters={"order": occurrence}),
            node_id=node,
            checkpoint="node",
        )

    def record_effect(self, node: str, completed: CommitOperation) -> None:
        """Write a call into the effect ledger: its intent, and the outcome that is committed next.

        Args:
            node: The node that calls.
            completed: The completion that the call comes to; its message is the outcome.
        """
        effect = EffectIntent(
            effect_key=canonical_hash([self.run_id, node, self._ordinal])[:40],
            thread_id=self.thread_id,
            run_id=self.run_id,
            node_id=node,
            occurrence=completed.commit.rows[0].occurrence,
            node_type="chat",
            arguments_hash=canonical_hash(self.run_id),
        )
        outcome = {"outputs": {"response": completed.commit.messages[0]["content"]}}
        standing = self.log.begin_effect(effect)
        self.log.finish_effect(effect.effect_key, standing.attempt, outcome, "done")

    def end(self) -> CommitOperation:
        """Return the natural end of the run."""
        return self._operation(
            "Ended",
            cause=EndCause(kind="NaturalEnd"),
            checkpoint="end",
            result={"status": "completed", "metadata": {}, "warnings": [], "start": {}},
        )

    def append(self, operations: list[CommitOperation]) -> None:
        """Append operations that have to be accepted, in one transaction."""
        answer = self.log.append(operations)
        if answer.refusal is not None:
            raise RuntimeError(f"the benchmark was refused: {answer.refusal.message}")

    def grow(self, messages: int, commits_a_run: int = 50) -> None:
        """Bring the thread to ``messages`` messages of 200 bytes, one a commit, in ended runs."""
        while self.messages < messages:
            run = [self.opening(200)]
            while self.messages < messages and len(run) < commits_a_run - 1:
                run.append(self.completion("grow", 200))
            self.append([*run, self.end()])

    def _said(self, role: str, size: int) -> tuple[JsonObject, ...]:
        self.messages += 1
        identity = f"{self.run_id}:{self._ordinal}:0"
        return ({"id": identity, "role": role, "content": text_of(size, identity)},)

    def _operation(
        self, kind: str, *, cause: EndCause | None = None, **parts: object
    ) -> CommitOperation:
        commit = ThreadCommit.model_validate(
            {
                "thread_id": self.thread_id,
                "run_id": self.run_id,
                "disposition": Disposition.model_validate({"kind": kind, "cause": cause}),
                **parts,
            }
        )
        made = operation(
            commit,
            ordinal=self._ordinal,
            owner_epoch=1,
            expected_thread_version=self._version,
        )
        self._ordinal += 1
        self._version += 1
        return made
