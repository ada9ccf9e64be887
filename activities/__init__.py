"""What touches the world: the start activity, commits, node execution and the commit log.

What lives here: Temporal activities, the node registry people write against, the readers of
graph files and the log's database. What must not: workflow code, rules that could be pure
(``seeding`` and ``workflows`` hold those), or an import of ``client``.

People who write nodes need these four names::

    from activities import Ask, NodeCall, NodeError, node
"""

from activities.nodes import Ask, NodeCall, NodeError, node

__all__ = ["Ask", "NodeCall", "NodeError", "node"]
