"""Advice for the author of a graph: what can run and will hardly do what was meant.

What lives here is pure: a plan in, advice out, in an order that does not depend on the
document's. What must not: anything that keeps a graph from running, which is
``workflows.graph.checks``, and anything that a run looks at.
"""

from workflows.linting.advice import Advice
from workflows.linting.lint import lint

__all__ = ["Advice", "lint"]
