"""Filters on key fields, as the specification has them."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from standin.known import CachedSlicer

TESTS: dict[str, Callable[[str, str], bool]] = {
    "equals": str.__eq__,
    "contains": str.__contains__,
    "begins with": str.startswith,
    "ends with": str.endswith,
}


def kept(known: CachedSlicer, values: pd.Series, wanted: Mapping[str, Any]) -> pd.Series:
    """Which rows a filter keeps, from their values of its key field (texts, or lists of them)."""
    single = values.explode()
    texts = {code: _texts(known, wanted, code) for code in single.unique()}
    test = TESTS[wanted["match"].removeprefix("not ")]
    lowered = bool(int(wanted.get("case_insensitive") or 0))
    sought = [value.lower() if lowered else value for value in wanted["value"]]
    holds = {
        code: any(test(text.lower() if lowered else text, value) for text in elements for value in sought)
        for code, elements in texts.items()
    }
    matched = single.map(holds).groupby(level=0).any()
    is_negative = wanted["match"].startswith("not ")
    return (~matched if is_negative else matched).reindex(values.index)


def _texts(known: CachedSlicer, wanted: Mapping[str, Any], code: str) -> list[str]:
    """A value, and its description where descriptions are searched too."""
    described = known.described(wanted["name"]).get(code)
    is_searched = bool(int(wanted.get("search_mappings") or 0))
    return [code, described] if is_searched and described is not None else [code]
