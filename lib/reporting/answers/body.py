"""Parses the body of a response: JSON, or YAML by its Content-Type."""

from typing import Any, ClassVar

import orjson
import yaml

from lib.wire.shallow_yaml import FastLoader


class _Texts(FastLoader):
    """A YAML loader that reads plain scalars as text, except null: `NO` and `2026-11-14` stay text."""

    yaml_implicit_resolvers: ClassVar = {  # type: ignore[misc]
        first: [(tag, pattern) for tag, pattern in found if tag == "tag:yaml.org,2002:null"]
        for first, found in FastLoader.yaml_implicit_resolvers.items()
    }


def fields(body: bytes, media_type: str) -> dict[str, Any]:
    """The object in the body; ValueError if there is none, or it has no `status`."""
    try:
        found = _Texts(body).get_single_data() if is_yaml(media_type) else orjson.loads(body)
    except yaml.YAMLError as error:
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
