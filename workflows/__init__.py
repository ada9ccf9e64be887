"""What runs in the workflow sandbox, and the pure rules it runs on.

What lives here: the graph model and its readers, loop analysis, the scheduler, control nodes,
the inbox that judges answers, and the workflow ``Run``, which only awaits and commits.

What must not: input or output, a database, a wall clock, iteration over a set, or an import of
``activities`` or ``client``; activities are named by string.
"""
