"""Graphs: one frozen model, the two document forms that become it, its checks and its digest.

What lives here: everything about a graph that can be said without running it. What must not:
files (``activities`` reads them), node functions, run positions.
"""
