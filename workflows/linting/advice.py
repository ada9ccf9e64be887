"""One piece of advice about a graph."""

from seeding.model import JsonObject, Model


class Advice(Model):
    """What is odd about a graph, where, and what to do.

    Attributes:
        code: For programs; one of those that ``docs/reference.md`` lists.
        message: For people: what, where, and what to do about it.
        node: The node it is about, if it is about one.
        edge: The edge it is about, as the short document form writes it.
    """

    code: str
    message: str
    node: str | None = None
    edge: str | None = None

    def shown(self) -> JsonObject:
        """Return it without the fields that say nothing."""
        return {name: value for name, value in self.to_json().items() if value is not None}
