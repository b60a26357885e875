"""The right side of Export: the file that the form asks for, the way to it, and what it will say."""

from urllib.parse import urlsplit

import streamlit as st

from lib.reporting import files
from lib.reporting.files import Table
from lib.reporting.models import AudienceQuery
from lib.ui import (
    ask,
    download,
    export_preview,
    export_tables,
    numbers,
    periods,
    problems,
    receipt,
    shortfalls,
)
from lib.ui.export_form import Wish
from lib.ui.export_preview import Preview
from lib.ui.frame import Here
from lib.ui.numbers import Numbers
from lib.wire.errors import BadRequest

RECEIPT = "Receipt: totals on the Audience screen and in the file"


def draw(here: Here, asked: AudienceQuery, wish: Wish) -> None:
    """Preview, download, receipt and request; where the question has no file, why."""
    query = wish.query
    with problems.told("The preview"):
        try:
            file = export_preview.preview(
                lambda q: here.reporting.audience(q, here.slicer), query, here.slicer
            )
        except BadRequest as error:
            st.error(
                f"{error.reason}. Your choices are kept: change them on the left.", icon=":material/error:"
            )
        else:
            _file(here, asked, file, wish.problem)
            _receipt(here, asked, file)
    with st.expander("For a script", icon=":material/terminal:"):
        export_tables.request(query, here.clients.reporting_address or _own_address())


def _file(here: Here, asked: AudienceQuery, file: Preview, problem: str | None) -> None:
    figures, query = Numbers.of(st.context.locale), file.query
    first, last = periods.resolved(query.start_date, query.end_date, ask.today(here, asked))
    table = export_preview.first_rows(file, here.slicer)
    problem = problem or export_preview.hindrance(file, len(table.columns))
    name = files.filename(here.slicer_name, first, last, query.export_format)
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container(width=230):
            download.draw(here, file, name, files.media_type(query.export_format), problem)
        with st.container(width="stretch", gap="xxsmall"):
            st.markdown(f"**{export_preview.summary(file, figures)}**")
            known = () if file.is_plain else (_columns(table), "every record is read")
            st.caption(" · ".join((name, numbers.days(first, last), *known)))
    download.news(file, name)
    if problem:
        st.warning(problem, icon=":material/warning:")
    export_tables.preview(file, table)
    if file.is_plain:
        st.caption(shortfalls.of_a_file(here.slicer, query))
    if query.data_filters and query.include_total:
        st.caption("The Total row is that of all rows, also of those that the file leaves out.")


def _columns(table: Table) -> str:
    return f"{len(table.columns)} column{'s' * (len(table.columns) > 1)}"


def _receipt(here: Here, asked: AudienceQuery, file: Preview) -> None:
    found = receipt.receipt(lambda q: ask.audience(here, q), here.reporting, asked, file, here.slicer)
    with st.expander(RECEIPT, expanded=found.is_estimate, icon=":material/receipt_long:"):
        export_tables.receipt(found, Numbers.of(st.context.locale))


def _own_address() -> str:
    """Where this desk is, which serves the API too."""
    here = urlsplit(st.context.url or "")
    return f"{here.scheme}://{here.netloc}"
