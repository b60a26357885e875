"""The list as a CSV: a short one at once, a long one step by step, with progress and a way to stop."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import streamlit as st

from lib.deals.client import Deals
from lib.ui.deals import catalogue, facts
from lib.ui.deals.change_steps import number
from lib.ui.deals.deal_list import csv
from lib.ui.deals.view import CSV_MENU, PLURALS, ListSearch
from lib.ui.kit import job, sign_in
from lib.ui.kit.frame import PageContext
from lib.ui.kit.job import STEP_SECONDS, Job
from lib.ui.kit.markdown import plain
from lib.wire.errors import TrancheError

EXPORT, SHORT, PART = "deals_export", 2_000, 500


@dataclass
class CsvExport(Job):
    """The file as far as it has come. `check` raises once the person has signed out."""

    wanted: ListSearch
    price: str
    total: int
    check: Callable[[], None]
    done: int = 0
    content: bytes | None = None
    problem: str = ""
    is_stopped: bool = False
    seconds: float = 0.0
    began: float = 0.0
    left: Iterator[bytes] | None = None
    lines: bytearray = field(default_factory=bytearray)

    def make(self, client: Deals) -> bytes:
        """The whole file at once."""
        return b"".join(self._lines(client))

    def step(self, client: Deals) -> None:
        """Write some more lines."""
        ends = time.monotonic() + STEP_SECONDS
        if self.left is None:
            self.began, self.left = time.monotonic(), self._lines(client)
        try:
            self.check()
            for line in self.left:
                self.lines += line
                self.done += 1
                if time.monotonic() >= ends:
                    return
            self.content, self.seconds = bytes(self.lines), time.monotonic() - self.began
        except TrancheError as error:
            self.problem = f"{error.reason.rstrip('.')}."
        except BaseException:
            self.problem = "The server's log says why."
            raise

    def stop(self) -> None:
        """Give the file up."""
        self.is_stopped = True

    @property
    def is_running(self) -> bool:
        """Whether there is neither a file nor a problem yet."""
        return not self.is_stopped and self.content is None and not self.problem

    @property
    def progress(self) -> tuple[int, int]:
        """How many rows are written, of how many."""
        return self.done, self.total

    def _lines(self, client: Deals) -> Iterator[bytes]:
        """The lines of the file, for as long as the person is signed in."""
        for count, line in enumerate(csv(catalogue.everything(client, self.wanted), self.price)):
            if count % PART == 0:
                self.check()
            yield line
        self.check()


def draw(context: PageContext, search: ListSearch, count: int) -> None:
    """Draw the button, and the dialog of a long file."""
    price = facts.prices_of(context).title
    export = CsvExport(search, price[:1].lower() + price[1:], count, sign_in.still_here())
    look: dict[str, Any] = {
        "icon": ":material/download:", "type": "tertiary", "key": "deals_csv", "disabled": not count,
    }  # fmt: skip
    if count > SHORT:
        st.button("Download list", on_click=_begin, args=(export,), **look)
    else:
        _download("Download list", partial(export.make, context.deals), search, **look)
    if (open_export := st.session_state.get(EXPORT)) is not None:
        st.dialog(f"Export {_count_label(open_export)}", on_dismiss=_close)(_dialog)(context, open_export)


def _download(label: str, data: bytes | Callable[[], bytes], search: ListSearch, **look: Any) -> None:
    name = f"{PLURALS[search.entity].lower()}.csv"
    st.download_button(label, data=data, file_name=name, mime="text/csv", on_click="ignore", **look)


def _begin(export: CsvExport) -> None:
    """Begin the file, and open the dialog. A callback."""
    st.session_state[EXPORT] = export
    st.session_state[CSV_MENU] = False


def _close() -> None:
    """Close the dialog; a file on its way is given up. A callback."""
    st.session_state.pop(EXPORT, None)


def _dialog(context: PageContext, export: CsvExport) -> None:
    with st.empty().container():
        if export.is_running:
            job.draw(context, export, number, lambda: _close() if export.is_stopped else None)
        elif export.problem:
            st.error(f"The file was not made. {plain(export.problem)}", icon=":material/error:")
        else:
            content = export.content or b""
            st.success(f"{_count_label(export)} in {export.seconds:.1f} s.", icon=":material/check_circle:")
            _download(
                "Download", content, export.wanted, icon=":material/download:", type="primary",
                key="deals_export_file",
            )  # fmt: skip


def _count_label(export: CsvExport) -> str:
    word = PLURALS[export.wanted.entity].lower()
    return f"{number(export.total)} {word if export.total != 1 else word[:-1]}"
