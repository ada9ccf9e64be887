"""The ground a run stands on: state, commits, tickets, folding and the start table.

What lives here: frozen models and pure functions about what a thread accumulated, what a
commit may say, what a run owns and where the next run's state comes from (SG-12).

What must not: input or output of any kind, Temporal, a clock, a random number, or an import
of another package of this project. Everything above may import this; this imports nothing
of ours.
"""
