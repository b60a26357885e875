"""Answers of verbs: figures with range and exactness, and no more than so many tokens."""

import math
from collections.abc import Mapping
from typing import Any

import orjson
import pandas as pd

from lib.agents.python_client import Answer
from lib.reporting.answers import Estimate

Json = dict[str, Any]
MOST_TOKENS, CHARACTERS_PER_TOKEN = 2_000, 3
MOST_CHARACTERS = MOST_TOKENS * CHARACTERS_PER_TOKEN
LONGEST_TEXT, ROOM = 200, 300
EXACT, ESTIMATE = "exact", "estimate; low and high are its 95 % range"


def number(value: float | None) -> float | int | None:
    """A figure in as few digits as are of use: whole, or with six that count."""
    if value is None or not math.isfinite(value):
        return None
    if value == int(value):
        return int(value)
    return float(f"{value:.6g}") if abs(value) < 1e6 else round(value, 2)


def figure(estimate: Estimate) -> Json:
    """A figure with its range. `exact` is false for an estimate; its range is null where it is not known."""
    facts: Json = {"value": number(estimate.value), "exact": estimate.is_exact}
    if estimate.currency:
        facts["currency" if facts["value"] is not None else "withheld"] = text(estimate.currency)
    ends = {} if estimate.is_exact else {"low": number(estimate.low), "high": number(estimate.high)}
    return facts | ends


def row_figure(answer: Answer, field: str, index: int) -> Any:
    """A row's figure: the number alone where the answer is exact, else with its range."""
    audience = answer.audience
    value = number(float(audience.values[field].iloc[index]))
    if audience.currencies is not None and field in audience.currencies:
        return figure(audience.rows_of(field)[index])
    if answer.is_exact:
        return value
    low, high = audience.low, audience.high
    ends = [
        None if side is None or field not in side else float(side[field].iloc[index]) for side in (low, high)
    ]
    return {"value": value, "low": number(ends[0]), "high": number(ends[1])}


def rows(answer: Answer) -> list[Json]:
    """The rows: values of the split by key field, descriptions of codes in `<field>.description`, figures."""
    audience = answer.audience
    texts: Any = audience.descriptions
    table = []
    for index in range(len(audience)):
        row: Json = {str(name): text(audience.names[name].iloc[index]) for name in audience.names}
        for name in texts if isinstance(texts, pd.DataFrame) else ():
            if (description := str(texts[name].iloc[index])) and description != row[str(name)]:
                row[f"{name}.description"] = text(description)
        table.append(row | {str(name): row_figure(answer, str(name), index) for name in audience.values})
    return table


def head(answer: Answer) -> Json:
    """What every answer about a slicer says: its days, how exact it is, and the link to it on the desk."""
    return {
        "days": [day.isoformat() for day in answer.days],
        "days_with_data": len(answer.audience.total.dates),
        "precision": EXACT if answer.is_exact else ESTIMATE,
        "link": answer.link,
    }


def text(value: Any) -> str:
    """A text of the data, no longer than it helps."""
    whole = str(value)
    return whole if len(whole) <= LONGEST_TEXT else f"{whole[:LONGEST_TEXT]}…"


def size(answer: Mapping[str, Any]) -> int:
    """How many characters an answer has as JSON."""
    return len(orjson.dumps(answer).decode())


def shorten(answer: Json, name: str, narrow: str) -> Json:
    """The answer with as much of its list `name` as fits, how many there are, and how to ask for less."""
    every = answer.get(name)
    if not isinstance(every, list):
        return answer
    if size(answer) <= MOST_CHARACTERS and len(every) >= answer.get("count", 0):
        return answer
    room = MOST_CHARACTERS - ROOM - size(answer | {name: []})
    fitting = 0
    for row in every:
        room -= len(orjson.dumps(row).decode()) + 1
        if room < 0:
            break
        fitting += 1
    count = answer.get("count", len(every))
    cut = {"shown": fitting, "count": count, "narrow": f"{narrow} to see the rest."}
    return {key: value for key, value in answer.items() if key != "count"} | {name: every[:fitting]} | cut
