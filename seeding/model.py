"""The one base model: frozen, snake_case in Python, camelCase in JSON, unknown fields refused."""

from typing import Any, TypeAlias, cast

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

Json: TypeAlias = Any
"""A JSON value: null, boolean, number, string, list or object with string keys."""

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object."""


class Model(BaseModel):
    """Base of every model that people or other processes see.

    Fields are written in snake_case and travel as camelCase; both spellings are read. A field
    that the model does not declare is refused by name.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
    )

    def to_json(self) -> JsonObject:
        """Return the camelCase JSON object of this model."""
        return self.model_dump(mode="json", by_alias=True)


class OpenModel(Model):
    """A model that keeps unknown fields, for states that were stored or come from outside."""

    model_config = ConfigDict(extra="allow")


def as_object(value: Json) -> JsonObject | None:
    """Return ``value`` if it is a JSON object, else None."""
    return cast(JsonObject, value) if isinstance(value, dict) else None


def as_list(value: Json) -> list[Json] | None:
    """Return ``value`` if it is a JSON list, else None."""
    return cast(list[Json], value) if isinstance(value, list) else None
