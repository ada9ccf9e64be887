"""What kind of edge two ports make."""

from workflows.graph.model import ERROR_PORT, LOOP_BACK_PORT, TRIGGER_PORT, EdgeKind


def reserved_kind(source_port: str, target_port: str) -> EdgeKind | None:
    """Return the kind that reserved port names give an edge, or None for ordinary ports.

    ``loop_back`` comes first: an edge from ``trigger`` or ``error`` into ``loop_back`` closes
    a loop, and a loop that were no loopback would be a refused cycle (CMP-5).
    """
    if target_port == LOOP_BACK_PORT:
        return "loopback"
    if TRIGGER_PORT in (source_port, target_port):
        return "trigger"
    return "error" if source_port == ERROR_PORT else None
