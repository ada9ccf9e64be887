"""From which occurrence on a node may still open a ticket."""

from collections.abc import Callable, Mapping

NextOccurrence = Callable[[str], int]
Behind = Mapping[str, int] | NextOccurrence
"""A node's lowest occurrence that may still open a ticket; 0 where a mapping lacks the node."""


def first_occurrence(_node_id: str) -> int:
    """Return what is known before a run has opened: any occurrence may."""
    return 0


def occurrence_reader(behind: Behind) -> NextOccurrence:
    """Return a function of the node's id, whichever form the knowledge has."""
    if callable(behind):
        return behind
    mapping: Mapping[str, int] = behind
    return lambda node_id: mapping.get(node_id, 0)
