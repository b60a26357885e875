"""The history of a package or a deal: when, who, and the values before and after."""

import pandas as pd
import streamlit as st

from lib.deals.models import EntityChange
from lib.ui.deals import evidence
from lib.ui.frame.frame import Here
from lib.ui.frame.problems import reported
from lib.ui.frame.straight import straightened
from lib.ui.supply import catalogue, facts, prices
from lib.ui.supply.prices import USUAL, Prices
from lib.ui.supply.rows import Key

DONE = {"created": "Created", "removed": "Deleted", "seen": "Opened here for the first time"}


def sentences(change: EntityChange, money: Prices = USUAL) -> list[str]:
    """A sentence for each field that a change touched."""
    if change.action in DONE:
        return [DONE[change.action]]
    before, after = change.before or {}, change.after or {}
    return [_sentence(field, before.get(field), after.get(field), money) for field in after]


def table(changes: list[EntityChange], money: Prices = USUAL) -> pd.DataFrame:
    """A row per field that was touched, the latest first."""
    rows = [(change.at, change.who, text) for change in changes for text in sentences(change, money)]
    frame = pd.DataFrame(rows, columns=["When", "Who", "What"])
    return frame.assign(When=pd.to_datetime(frame["When"], utc=True))


def draw(here: Here, key: Key) -> None:
    """The changes of one package or deal, and the evidence of a chosen one."""
    with reported("The history", kept="Nothing was changed."):
        changes = catalogue.client(here).history(*key)
        st.dataframe(
            straightened(table(changes, prices.of(here))),
            hide_index=True,
            column_config={
                "When": st.column_config.DatetimeColumn(
                    format="D MMM YYYY, HH:mm", width=140, timezone=st.context.timezone
                ),
                "Who": st.column_config.TextColumn(width=90),
                "What": st.column_config.TextColumn(width=380),
            },
            alt="Changes, latest first",
        )
        words = ["; ".join(sentences(one, prices.of(here))) for one in changes]
        evidence.draw(here, key, changes, words)


def _sentence(field: str, before: object, after: object, money: Prices) -> str:
    if field == "is_active":
        return "Resumed" if after else "Paused"
    if isinstance(before, list) and isinstance(after, list):
        return f"{facts.title(field)}: {_difference(field, before, after)}"
    return f"{facts.title(field, money)}: {facts.value(field, before)} → {facts.value(field, after)}"


def _difference(field: str, before: list[object], after: list[object]) -> str:
    """The elements added to a list, and those removed."""
    sides = {
        "added": [one for one in after if one not in before],
        "removed": [one for one in before if one not in after],
    }
    return (
        "; ".join(f"{verb} {facts.value(field, some)}" for verb, some in sides.items() if some)
        or "another order"
    )
