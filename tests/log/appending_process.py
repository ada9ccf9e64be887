"""A process of its own that appends to a thread another process appends to as well (AW-15)."""

import json
import sys

from activities.log import CommitLog
from seeding.commits import Disposition, ThreadCommit, operation

BEHIND = ("OperationReused", "OrdinalConflict", "ThreadVersionConflict")


def append(url: str, name: str, count: int) -> list[list[object]]:
    """Append ``count`` commits to run r1, reading the log again after each refusal."""
    receipts: list[list[object]] = []
    with CommitLog.open(url) as log:
        while len(receipts) < count:
            run = log.run("r1")
            assert run is not None
            identity = f"{name}.{len(receipts)}"
            commit = ThreadCommit(
                thread_id="t",
                run_id="r1",
                disposition=Disposition(kind="Running"),
                messages=({"id": identity, "role": "user", "content": name},),
            )
            made = operation(
                commit,
                ordinal=run.last_ordinal + 1,
                owner_epoch=1,
                expected_thread_version=run.thread_version,
            )
            answer = log.append([made])
            if answer.refusal is not None:
                assert answer.refusal.code in BEHIND, answer.refusal
                continue
            assert answer.receipt is not None
            assert not answer.receipt.duplicate
            receipt = answer.receipt
            receipts.append([receipt.ordinal, receipt.thread_version, receipt.payload_hash])
    return receipts


if __name__ == "__main__":
    print(json.dumps(append(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
