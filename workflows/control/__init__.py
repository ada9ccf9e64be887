"""Control nodes: evaluated inside the workflow, at no activity.

What lives here: one module per family of built-in types, each a pure function from inputs and
config to a completion or a question. What must not: anything that takes time, and knowledge of
other nodes; what an evaluation changes in the position is the scheduler's business.
"""
