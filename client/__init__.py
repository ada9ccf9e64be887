"""How people reach Fermata: the typed Python client, the worker and the ``fermata`` command.

What lives here: connections, the Temporal plugin that puts a worker together, and every way to
start, answer, read and watch a run. What must not: rules of any kind (``seeding`` and
``workflows`` hold those) or SQL (``activities.log`` holds that).
"""
