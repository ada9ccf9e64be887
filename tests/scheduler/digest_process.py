"""Prints a digest of what the scheduler does on some generated graphs, every order in it kept.

``python -m tests.scheduler.digest_process FIRST COUNT``.
"""

import hashlib
import json
import sys

from tests.model.graph_generator import generate
from tests.scheduler.model_runs import agree, drawn


def digest(first: int, count: int) -> str:
    """Return the digest of ``count`` cases from ``first`` on."""
    told = hashlib.sha256()
    for seed in range(first, first + count):
        run = agree(generate(seed), drawn(seed)).run
        for step in run.steps:
            told.update(step.head.model_dump_json().encode())
            for part in (*step.state, *step.rows):
                told.update(part.model_dump_json().encode())
            told.update(json.dumps([step.node_id, step.messages, step.warnings]).encode())
        told.update(json.dumps(run.entries).encode())
    return told.hexdigest()


if __name__ == "__main__":
    print(digest(int(sys.argv[1]), int(sys.argv[2])))
