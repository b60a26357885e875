"""The list as a CSV: a short one at once, a long one in the background, with progress and a way to stop."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import streamlit as st

from lib.deals.client import Deals
from lib.ui.charts.numbers import Numbers
from lib.ui.deals import catalogue, pages, prices
from lib.ui.deals.list_search import ListSearch
from lib.ui.deals.places import CSV_MENU, PLURALS
from lib.ui.deals.rows import csv
from lib.ui.kit import sign_in
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import TrancheError

EXPORT, SHORT, POLL_SECONDS, PART = "deals_export", 2_000, 0.5, 500


@dataclass
class CsvExport:
    """The file as far as it has come; written by its thread, read by the script's. `check` raises once the
    person has signed out."""

    wanted: ListSearch
    price: str
    total: int
    check: Callable[[], None]
    done: int = 0
    content: bytes | None = None
    problem: str = ""
    seconds: float = 0.0
    is_stopped: threading.Event = field(default_factory=threading.Event)

    def make(self, client: Deals) -> bytes:
        """The file; stops in between once nobody wants it."""
        lines = bytearray()
        for line in csv(pages.everything(client, self.wanted), self.price):
            lines += line
            self.done += 1
            if self.done % PART == 1:
                self.check()
                if self.is_stopped.is_set():
                    break
        self.check()
        return bytes(lines)

    def run(self, client: Deals) -> None:
        """Make the file, whatever comes of it. For a thread."""
        began = time.monotonic()
        try:
            self.content = self.make(client)
        except TrancheError as error:
            self.problem = f"{error.reason.rstrip('.')}."
        except BaseException:
            self.problem = "The server's log says why."
            raise
        finally:
            self.seconds = time.monotonic() - began

    @property
    def is_over(self) -> bool:
        """Whether there is a file, or a problem."""
        return self.content is not None or bool(self.problem)


def draw(context: PageContext, search: ListSearch, count: int) -> None:
    """Draw the button, and the dialog of a long file."""
    price = prices.of(context).title
    export = CsvExport(search, price[:1].lower() + price[1:], count, sign_in.still_here())
    look: dict[str, Any] = {
        "icon": ":material/download:",
        "type": "tertiary",
        "key": "deals_csv",
        "disabled": not count,
    }
    if count > SHORT:
        st.button("Download list", on_click=_begin, args=(context, export), **look)
    else:
        _download("Download list", partial(export.make, catalogue.client(context)), search, **look)
    if (open_export := st.session_state.get(EXPORT)) is not None:
        st.dialog(f"Export {_counted(open_export)}", on_dismiss=_close)(_dialog)(open_export)


def _download(label: str, data: bytes | Callable[[], bytes], search: ListSearch, **look: Any) -> None:
    name = f"{PLURALS[search.entity].lower()}.csv"
    st.download_button(label, data=data, file_name=name, mime="text/csv", on_click="ignore", **look)


def _begin(context: PageContext, export: CsvExport) -> None:
    """Begin the file, and open the dialog. A callback."""
    client = catalogue.client(context)
    st.session_state[EXPORT] = export
    st.session_state[CSV_MENU] = False
    threading.Thread(target=export.run, args=(client,), name="deals-csv", daemon=True).start()


def _close() -> None:
    """Close the dialog; a file on its way is given up. A callback."""
    export: CsvExport | None = st.session_state.pop(EXPORT, None)
    if export is not None:
        export.is_stopped.set()


def _dialog(export: CsvExport) -> None:
    with st.empty().container():
        if not export.is_over:
            st.fragment(_progress, run_every=POLL_SECONDS)(export)
            st.button("Stop", icon=":material/stop:", key="deals_export_stop", on_click=_close)
        elif export.problem:
            st.error(f"The file was not made. {plain(export.problem)}", icon=":material/error:")
        else:
            content = export.content or b""
            st.success(f"{_counted(export)} in {export.seconds:.1f} s.", icon=":material/check_circle:")
            look: dict[str, Any] = {
                "icon": ":material/download:",
                "type": "primary",
                "key": "deals_export_file",
            }
            _download("Download", content, export.wanted, **look)


def _progress(export: CsvExport) -> None:
    if export.is_over:
        st.rerun()
    numbers = Numbers.of(st.context.locale)
    sentence = f"{numbers.number(export.done)} of {numbers.number(export.total)}"
    st.progress(min(1.0, export.done / max(1, export.total)), sentence)


def _counted(export: CsvExport) -> str:
    numbers, word = Numbers.of(st.context.locale), PLURALS[export.wanted.entity].lower()
    return f"{numbers.number(export.total)} {word if export.total != 1 else word[:-1]}"
