"""A table of what a person may revoke or stop, whose rows are chosen."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

import pandas as pd
import streamlit as st

from lib.ui.kit.markdown import straighten

MOMENT = "D MMM YYYY, HH:mm"


class HasId(Protocol):
    """What has an id."""

    @property
    def id(self) -> int: ...


Entry = TypeVar("Entry", bound=HasId)


def choose_rows(
    prefix: str,
    entries: Sequence[Entry],
    table: pd.DataFrame,
    columns: Mapping[str, Any],
    alt: str,
    placeholder: str = "",
) -> list[Entry]:
    """Draw the table, a row per entry; returns those that are chosen. With other rows nothing is chosen."""
    event = st.dataframe(
        straighten(table), key=table_key(prefix, [entry.id for entry in entries]), on_select="rerun",
        selection_mode="multi-row", hide_index=True, column_config=columns, placeholder=placeholder, alt=alt,
    )  # fmt: skip
    return [entries[row] for row in event["selection"]["rows"] if row < len(entries)]


def table_key(prefix: str, ids: Sequence[int]) -> str:
    """The key of a table with these rows; a selection among other rows is dropped."""
    return f"{prefix}_{hashlib.sha256(repr([*ids]).encode()).hexdigest()[:16]}"


def moment_column() -> Any:
    """A column of times, in the zone of the reader's browser."""
    return st.column_config.DatetimeColumn(format=MOMENT, timezone=st.context.timezone)
