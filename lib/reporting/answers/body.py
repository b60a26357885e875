"""Parses the body of a response: JSON, or YAML by its Content-Type."""

from typing import Any, ClassVar

import orjson
import yaml


class _Texts(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """A YAML loader that reads plain scalars as text, except null: `NO` and `2026-11-14` stay text."""

    yaml_implicit_resolvers: ClassVar = {
        first: [(tag, pattern) for tag, pattern in found if tag == "tag:yaml.org,2002:null"]
        for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def fields(body: bytes, media_type: str) -> dict[str, Any]:
    """The object in the body; ValueError if there is none, or it has no `status`."""
    try:
        found = yaml.load(body, _Texts) if is_yaml(media_type) else orjson.loads(body)  # noqa: S506
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError("not YAML") from error
    if not isinstance(found, dict) or not isinstance(found.get("status"), str):
        raise ValueError("no object with a status")
    return found


def is_yaml(media_type: str) -> bool:
    """Whether a Content-Type is YAML (RFC 9512, and older names)."""
    return media_type.partition(";")[0].strip().lower().endswith("yaml")


def is_message(media_type: str) -> bool:
    """Whether a Content-Type is JSON or YAML, and not a file."""
    return is_yaml(media_type) or media_type.partition(";")[0].strip().lower().endswith("json")
