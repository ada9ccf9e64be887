"""All verbs of the ``fermata`` command on one application."""

from client.command import acting, graphs, reading, sending, serving, starting, watching
from client.command.application import app

__all__ = ["app"]

starting.register(app)
watching.register(app)
sending.register(app)
acting.register(app)
reading.register(app)
graphs.register(app)
serving.register(app)
