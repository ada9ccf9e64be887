"""The effect types the engine brings along; every worker serves them.

What lives here: one module per type, each a function under ``@builtin_node``, and what they
share to call a server. What must not: anything a worker could be asked to do beyond its
configuration; a host is only called if ``FERMATA_HTTP_HOSTS`` allows it.
"""

from activities.builtin_nodes import chat, http_request, template

__all__ = ["chat", "http_request", "template"]
