"""Benchmarks: what the log and a start cost, each figure beside the bar it has to meet.

What lives here: one module a subject, each with ``measure(folder)`` yielding figures, and what
they share. A new subject is a module and its line in ``__main__.SUBJECTS``.

What must not: anything that ``make test`` relies on; figures depend on the machine.
"""
