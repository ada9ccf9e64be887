"""A process of its own that appends to a thread of its own, in a log that others write as well."""

import json
import sys

from activities.log import CommitLog
from seeding.commits import Disposition, ThreadCommit, operation
from seeding.errors import CommitUnavailable


def main() -> None:
    """Append ``count`` commits, each until it is accepted; print their versions."""
    url, number, count, way = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    versions: list[int] = []
    unavailable = 0
    with CommitLog.open(url) as log:
        sys.stdin.readline()
        while len(versions) < count:
            made = operation(
                ThreadCommit(
                    thread_id=f"t{number}",
                    run_id=f"r{number}",
                    disposition=Disposition(kind="Running"),
                ),
                ordinal=len(versions) + 1,
                owner_epoch=1,
                expected_thread_version=len(versions) + 1,
            )
            try:
                answer = log.append([made], quick=way == "quick")
            except CommitUnavailable:
                unavailable += 1
                continue
            assert answer.refusal is None, answer.refusal
            assert answer.receipt is not None
            versions.append(answer.receipt.thread_version)
    print(json.dumps({"versions": versions, "unavailable": unavailable}))


if __name__ == "__main__":
    main()
