"""A slicer of the stand-in: what info tells of it, in the specification's fields, and its rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

GRANULARITIES = ("year", "quarter", "month", "week", "day", "hour")


@dataclass(frozen=True)
class CachedSlicer:
    """A slicer.

    `rows` has `time` (UTC), a text column per key field (one of lists where the field is segmented), a number
    column per data field and a text column per audience source. `mappings` are texts by code, per mapping.
    """

    annotation: str
    key_fields: tuple[dict[str, Any], ...]
    data_fields: tuple[dict[str, Any], ...]
    audience_sources: tuple[dict[str, Any], ...]
    rows: pd.DataFrame
    mappings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    has_time: bool = True

    @cached_property
    def key_field(self) -> dict[str, dict[str, Any]]:
        """Key fields by name, those of time too."""
        times = [
            {"name": f"granularity_{grain}", "description": grain.capitalize()} for grain in GRANULARITIES
        ]
        return {
            key_field["name"]: key_field
            for key_field in (*self.key_fields, *(times if self.has_time else ()))
        }

    @cached_property
    def data_field(self) -> dict[str, dict[str, Any]]:
        """Data fields by name, in their order."""
        return {data_field["name"]: data_field for data_field in self.data_fields}

    @cached_property
    def unique(self) -> dict[str, str]:
        """The data fields of audience sources, which info does not list, and the columns counted for them."""
        return {f"unique_{source['name']}": source["name"] for source in self.audience_sources}

    @property
    def days(self) -> tuple[str | None, str | None]:
        """The first and the last day with data."""
        if not len(self.rows):
            return None, None
        return (str(self.rows["time"].min().date()), str(self.rows["time"].max().date()))

    def described(self, name: str) -> Mapping[str, str]:
        """The texts of a key field's codes."""
        return self.mappings.get(self.key_field[name].get("mapping") or "", {})

    def info(self) -> dict[str, Any]:
        """What info tells of it, as a service of this family writes it."""
        first, last = self.days
        return {
            "status": "success",
            "timezone": "0",
            "supports_timezone": "1",
            "first_date": first,
            "last_date": last,
            "annotation": self.annotation,
            "audience_sources": [{"annotation": None, **source} for source in self.audience_sources] or None,
            "key_fields": [_key_field(key_field) for key_field in self.key_field.values()],
            "data_fields": [_data_field(data_field) for data_field in self.data_fields],
            "server": "stand-in",
            "took_ms": "12",
        }


def wide(values: int) -> CachedSlicer:
    """A slicer whose key field `id` has so many values, each of one record."""
    size, time = np.arange(values), pd.Timestamp.now("UTC").normalize() - pd.Timedelta(hours=20)
    rows = pd.DataFrame(
        {"time": time, "id": size.astype(str), "imps": size % 997 + 1.0, "clicks": size % 13.0}
    )
    fields = ({"name": "imps", "description": "Impressions"}, {"name": "clicks", "description": "Clicks"})
    return CachedSlicer("Many values", ({"name": "id", "description": "ID"},), fields, (), rows)


def _key_field(told: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": told["name"],
        "description": told.get("description"),
        "annotation": None,
        "type": told.get("type", "text"),
        "is_segmented": str(told.get("is_segmented", 0)),
        "mapping": told.get("mapping"),
        "sort_weight": "10",
    }


def _data_field(told: Mapping[str, Any]) -> dict[str, Any]:
    is_float = told.get("display_type") == "float" or told.get("formula")
    return {
        "name": told["name"],
        "description": told.get("description"),
        "annotation": None,
        "display_type": "float" if is_float else "int",
        "display_precision": str(told.get("display_precision", 2 if is_float else 0)),
        "display_pattern": told.get("display_pattern"),
        "formula": told.get("formula"),
        "formula_description": None,
        "is_optional": "0",
        "access": None,
        "show_percents": str(told.get("show_percents", 1)),
        "group": {"id": "7", "name": "Main"},
    }
