"""The body of an answer as fields: JSON, or YAML where the service says so."""

from typing import Any, ClassVar

import orjson
import yaml


class _Texts(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML whose plain scalars are texts, but for null: `NO` stays a country, `2026-11-14` a date's text."""

    yaml_implicit_resolvers: ClassVar = {
        first: [(tag, pattern) for tag, pattern in found if tag == "tag:yaml.org,2002:null"]
        for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def fields(body: bytes, media_type: str) -> dict[str, Any]:
    """The object in the body; ValueError where there is none, or one without `status`."""
    try:
        found = yaml.load(body, _Texts) if is_yaml(media_type) else orjson.loads(body)  # noqa: S506
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError("not YAML") from error
    if not isinstance(found, dict) or not isinstance(found.get("status"), str):
        raise ValueError("no object with a status")
    return found


def is_yaml(media_type: str) -> bool:
    """Whether a Content-Type is one of those under which YAML travels (RFC 9512, and what came before)."""
    return media_type.partition(";")[0].strip().lower().endswith("yaml")


def is_message(media_type: str) -> bool:
    """Whether a Content-Type is that of an answer in fields, not of a file."""
    return is_yaml(media_type) or media_type.partition(";")[0].strip().lower().endswith("json")
