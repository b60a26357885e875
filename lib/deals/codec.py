"""Converts between JSON and models, for services with different formats.

`OWN` is our own service's way, which is that of the models. compat.Dialect is that of others.
"""

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

from pydantic import ValidationError

from lib.deals.models import Resource
from lib.wire.errors import TrancheError, Unreadable

Model = TypeVar("Model", bound=Resource)
Fields = dict[str, Any]


class Codec(Protocol):
    """The format of a service's resources."""

    def read(self, model: type[Model], raw: Any) -> Model:
        """The resource that the JSON stands for. Unreadable for what is none."""

    def write(self, fields: Mapping[str, Any], base: Resource | None = None) -> Fields:
        """The request of these fields, which change `base` where that is given."""

    def failure(self, body: Any) -> TrancheError | None:
        """The error that the body of a success stands for; None without one."""


class OwnCodec:
    """The format of our own service: that of the models."""

    def read(self, model: type[Model], raw: Any) -> Model:
        """The resource that the JSON stands for. Unreadable for what is none."""
        try:
            return model.model_validate(raw)
        except ValidationError as error:
            raise Unreadable(f"The service's {model.__name__} is not one that the API knows") from error

    def write(self, fields: Mapping[str, Any], base: Resource | None = None) -> Fields:
        """The fields as they are."""
        return dict(fields)

    def failure(self, body: Any) -> TrancheError | None:
        """None: our own service says by the code when something failed."""
        return None


OWN = OwnCodec()
