"""All verbs of the ``fermata`` command on one application."""

from client.command import (
    acting,
    deleting,
    graphs,
    maintaining,
    pruning,
    queueing,
    reading,
    repairing,
    sending,
    serving,
    starting,
    watching,
)
from client.command.application import app

__all__ = ["app"]

starting.register(app)
watching.register(app)
sending.register(app)
queueing.register(app)
acting.register(app)
reading.register(app)
graphs.register(app)
repairing.register(app)
pruning.register(app)
deleting.register(app)
maintaining.register(app)
serving.register(app)
