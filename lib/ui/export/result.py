"""The right side of Export: preview, download, receipt, and request for scripts."""

from urllib.parse import urlsplit

import streamlit as st

from lib.reporting import files
from lib.reporting.files import FileTable
from lib.reporting.models import AudienceQuery
from lib.ui.charts import numbers
from lib.ui.charts.numbers import Numbers
from lib.ui.export import download, preview, receipt, tables
from lib.ui.export.form import Wish
from lib.ui.export.preview import Preview
from lib.ui.export.raw_file import Export
from lib.ui.frame import problems
from lib.ui.frame.frame import Here
from lib.ui.frame.markdown import plain
from lib.ui.question import ask, focus, periods, shortfalls
from lib.wire.errors import BadRequest

RECEIPT = "Receipt: the Audience screen and the file compared"


def draw(here: Here, asked: AudienceQuery, wish: Wish) -> None:
    """Draw preview, download, receipt and request, or why the question can't be exported."""
    query = wish.query
    with problems.reported("The preview"):
        try:
            file = preview.preview(
                lambda q: here.reporting.audience(q, here.slicer), _exporter(here), query, here.slicer
            )
        except BadRequest as error:
            st.error(
                f"{plain(error.reason)}. Your choices are kept: change them on the left.",
                icon=":material/error:",
            )
        else:
            _file(here, asked, file, wish.problem)
            if here.slicer.data_fields:
                _receipt(here, file)
    with st.expander("For a script", icon=":material/terminal:"):
        tables.request(query, here.clients.reporting_address or _own_address())


def _file(here: Here, asked: AudienceQuery, file: Preview, problem: str | None) -> None:
    figures, query = Numbers.of(st.context.locale), file.query
    first, last = periods.resolved(query.start_date, query.end_date, ask.today(here, asked))
    table = preview.first_rows(file, here.slicer)
    problem = problem or preview.hindrance(file, len(table.columns))
    name = files.filename(here.slicer_name, first, last, query.export_format)
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container(width=230):
            download.draw(here, file, name, files.media_type(query.export_format), problem)
        with st.container(width="stretch", gap="xxsmall"):
            st.markdown(f"**{plain(preview.summary(file, figures))}**")
            known = () if file.is_plain else (_columns(table), "every record is read")
            st.caption(" · ".join((plain(name), numbers.days(first, last), *known)))
    download.news(file, name)
    if problem:
        st.warning(plain(problem), icon=":material/warning:")
    tables.preview(file, table)
    if file.is_plain:
        st.caption(shortfalls.of_a_file(here.slicer, query))


def _columns(table: FileTable) -> str:
    return f"{len(table.columns)} column{'s' * (len(table.columns) > 1)}"


def _receipt(here: Here, file: Preview) -> None:
    """Draw the comparison of the split on Audience with the file."""
    shown = focus.of(here).rows()
    found = receipt.receipt(lambda q: ask.audience(here, q), _exporter(here), shown, file, here.slicer)
    with st.expander(RECEIPT, expanded=bool(found.differing), icon=":material/receipt_long:"):
        tables.receipt(found, Numbers.of(st.context.locale))


def _exporter(here: Here) -> Export:
    return lambda query: here.reporting.export(query, here.slicer).content


def _own_address() -> str:
    """The address of this desk, which also serves the API."""
    here = urlsplit(st.context.url or "")
    return f"{here.scheme}://{here.netloc}"
