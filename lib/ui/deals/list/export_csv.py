"""The list as a CSV: a short one at once, a long one step by step, with progress and a way to stop."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

import streamlit as st

from lib.deals.client import Deals
from lib.figures.deals import field_text
from lib.figures.deals.deal_names import KINDS
from lib.figures.deals.field_text import Prices
from lib.ui.deals import catalog
from lib.ui.deals.changes.plan_steps import step_container
from lib.ui.deals.counts import count_label, number
from lib.ui.deals.csv.csv_dialog import close
from lib.ui.deals.deal_rows import csv
from lib.ui.deals.list_state import CSV_MENU, PLURALS, ListSearch
from lib.ui.kit import downloads, job, sign_in
from lib.ui.kit.frame import PageContext
from lib.ui.kit.job import PartsJob
from lib.ui.kit.markdown import plain

EXPORT = "deals_export"
SHORT = 2_000  # rows that need no dialog
PART = 500  # rows from one check of the session to the next
MEDIA_TYPE = "text/csv"


@dataclass(kw_only=True)
class CsvExport(PartsJob):
    """The file as far as it has come; its parts are lines."""

    search: ListSearch
    lines: bytearray = field(default_factory=bytearray)
    start: float = field(default_factory=time.monotonic)
    end: float = 0.0
    is_stopped: bool = False

    def take(self, part: bytes) -> None:
        self.lines += part
        self.done_count, self.end = self.done_count + 1, time.monotonic()

    def stop(self) -> None:
        """Give the file up. A callback."""
        super().stop()
        self.is_stopped = True

    @property
    def content(self) -> bytes | None:
        """The whole file, once it is there."""
        return bytes(self.lines) if self.is_over and not (self.is_stopped or self.problem) else None


def lines(client: Deals, search: ListSearch, money: Prices, check: Callable[[], None]) -> Iterator[bytes]:
    """The lines of the file, for as long as the person is signed in: `check` raises once they are not."""
    check()
    for count, line in enumerate(csv(catalog.all_rows(client, search), money), 1):
        yield line
        if count % PART == 0:
            check()
    check()


def draw(context: PageContext, search: ListSearch, count: int) -> None:
    """Draw the button, and the dialog of a long file."""
    prices = field_text.prices_of(context)
    if count > SHORT:
        check = sign_in.session_check()
        make = partial(lines, context.deals, search, prices, check)
        st.button(
            "Download list", icon=":material/download:", type="tertiary", key="deals_csv", on_click=_begin,
            args=(make, count, search),
        )  # fmt: skip
    else:
        downloads.offer(
            context, "Download list", lambda now: b"".join(csv(catalog.all_rows(now.deals, search), prices)),
            f"{PLURALS[search.entity].lower()}.csv", MEDIA_TYPE, "deals_csv", kind="tertiary",
            disabled=not count,
        )  # fmt: skip
    if (export := st.session_state.get(EXPORT)) is not None:
        dialog = st.dialog(f"Export {_count_label(export)}", on_dismiss=lambda: close(EXPORT))
        dialog(_dialog)(context, export)


def _begin(make: Callable[[], Iterator[bytes]], count: int, search: ListSearch) -> None:
    st.session_state[EXPORT] = CsvExport(make(), count, search=search)
    st.session_state[CSV_MENU] = False  # an open popover lies over a dialog, and takes its clicks


def _dialog(context: PageContext, export: CsvExport) -> None:
    with step_container():
        if export.is_running:
            job.draw(context, export, number, lambda: close(EXPORT) if export.is_stopped else None)
        elif export.problem:
            st.error(f"The file was not made. {plain(export.problem)}", icon=":material/error:")
        else:
            seconds = export.end - export.start
            st.success(f"{_count_label(export)} in {seconds:.1f} s.", icon=":material/check_circle:")
            downloads.offer(
                context, "Download", lambda _: export.content or b"",
                f"{PLURALS[export.search.entity].lower()}.csv", MEDIA_TYPE, "deals_export_file",
                kind="primary",
            )  # fmt: skip


def _count_label(export: CsvExport) -> str:
    return count_label(KINDS[export.search.entity], export.total)
