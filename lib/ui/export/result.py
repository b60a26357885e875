"""The right side of Export: preview, download with progress, receipt, and the request for scripts.

The file is made by a thread of its own, while the button turns; the thread notes how far it is. The screen
looks for the note where making takes long, otherwise with the next thing that is done on it.
"""

import time
from functools import partial
from io import BytesIO
from typing import Literal

import streamlit as st

from lib.figures import numbers, waits
from lib.figures.numbers import Numbers
from lib.figures.query import ask, precision
from lib.reporting import files, named_days
from lib.reporting.client import Reporting
from lib.reporting.models import AudienceQuery, ExportQuery
from lib.slicers.models import Slicer
from lib.ui.export import preview, receipt, tables
from lib.ui.export.preview import Preview, summary
from lib.ui.kit import downloads, problems, reader, waiting
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query import current_focus, share
from lib.wire.errors import BadRequest

State = Literal["nothing", "making", "made"]
EXPORT_JOB = "export_making"
MANY_ROWS, POLL_SECONDS = 20_000, 2
UNITS = ((1e6, "MB"), (1e3, "kB"))


class ExportJob:
    """The last requested file. Written by the thread of the download, read by the script's thread."""

    def __init__(self) -> None:
        self.state: State = "nothing"
        self.query: ExportQuery | None = None
        self.size, self._began, self._ended = 0, 0.0, 0.0

    def make(self, reporting: Reporting, query: ExportQuery, slicer: Slicer | None = None) -> bytes:
        """The bytes of the file. Raises the service's errors. `slicer` as in the client."""
        self.query, self._began, self.state = query, time.monotonic(), "making"
        try:
            content = reporting.export(query, slicer).content.read()
        except BaseException:
            self.state = "nothing"
            raise
        self.size, self._ended, self.state = len(content), time.monotonic(), "made"
        return content

    @property
    def seconds(self) -> float:
        """The seconds since the start, or until the end."""
        return (time.monotonic() if self.state == "making" else self._ended) - self._began


def _draw_state(file: Preview, filename: str) -> None:
    """Draw the state of the last download, as long as the question is the same."""
    job: ExportJob = st.session_state[EXPORT_JOB]
    if job.query != file.query:
        return
    figures = Numbers.of(reader.locale())
    if job.state == "making":
        rows = plain(summary(file, figures))
        st.caption(f":material/hourglass_top: Making {rows}, {job.seconds:.0f} s so far")
    elif job.state == "made":
        texts = (f"{figures.number(job.size / size, 1)} {unit}" for size, unit in UNITS if job.size >= size)
        size = next(texts, f"{job.size} bytes")
        st.caption(f":material/check: {plain(filename)} was made in {job.seconds:.1f} s, {size}")


def draw(context: PageContext, question: AudienceQuery, query: ExportQuery) -> None:
    """Draw preview, download, receipt and request, or why the question can't be exported."""
    reporting = context.reporting

    def export(file_query: ExportQuery) -> BytesIO:
        read = partial(reporting.export, file_query, context.slicer)
        return BytesIO(waits.call(file_query, lambda: read().content.read()))

    with problems.report_errors("The preview"), waiting.speaking("The preview", query, context.slicer):
        try:
            audience = partial(ask.audience, context)
            file = preview.preview(audience, export, query, context.slicer)
        except BadRequest as error:
            st.error(
                f"{plain(error.reason)}. Your choices are kept: change them on the left.",
                icon=":material/error:",
            )
        else:
            _file(context, question, file)
            if context.slicer.data_fields:
                page_query = current_focus.current(context).rows()
                comparison = receipt.receipt(audience, export, page_query, file, context.slicer)
                with st.expander(
                    "Receipt: the Audience screen and the file compared", icon=":material/receipt_long:",
                    expanded=bool(comparison.differing),
                ):  # fmt: skip
                    tables.receipt(comparison, Numbers.of(reader.locale()))
    with st.expander("For a script", icon=":material/terminal:"):
        tables.request(query, context.clients.reporting_address or share.own_address())


def _file(context: PageContext, question: AudienceQuery, file: Preview) -> None:
    figures, query = Numbers.of(reader.locale()), file.query
    first, last = named_days.days_of(question, context.slicer)
    table = preview.first_rows(file, context.slicer)
    problem = preview.hindrance(file, len(table.columns))
    name = files.filename(context.slicer_name, first, last, query.export_format)
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container(width=230):
            job: ExportJob = st.session_state.setdefault(EXPORT_JOB, ExportJob())
            downloads.offer(
                context, f"Download as {query.export_format.upper()}",
                lambda context: job.make(context.reporting, query, context.slicer), name,
                files.media_type(query.export_format), "export_download", kind="primary", width="stretch",
                disabled=problem is not None,
            )  # fmt: skip
        with st.container(width="stretch", gap="xxsmall"):
            st.markdown(f"**{plain(preview.summary(file, figures))}**")
            columns = f"{len(table.columns)} column{'s' * (len(table.columns) > 1)}"
            notes = () if file.is_plain else (columns, "every record is read")
            st.caption(" · ".join((plain(name), numbers.days(first, last), *notes)))
    takes_long = file.row_count >= MANY_ROWS
    st.fragment(_draw_state, run_every=POLL_SECONDS if takes_long else None)(file, name)
    if problem:
        st.warning(plain(problem), icon=":material/warning:")
    tables.preview(file, table, figures)
    if file.is_plain:
        st.caption(precision.of_a_file(context.slicer, query))
