"""The dialog that creates deals from a CSV: the file, then its faults or a preview, then the result."""

from dataclasses import dataclass

import streamlit as st

from lib.ui.deals import csv_deals, csv_text
from lib.ui.deals.csv_deals import CsvPlan
from lib.ui.deals.csv_job import CsvJob
from lib.ui.frame import notes
from lib.ui.frame.frame import Here
from lib.ui.frame.markdown import plain
from lib.ui.supply import catalogue, permission, prices
from lib.ui.supply.prices import amount
from lib.ui.supply.words import seat_name
from lib.ui.typed import amounts, text_file
from lib.wire.errors import TrancheError

OPEN, FILE, CONFIRMED = "deals_from_csv", "deals_csv_file", "deals_csv_meant_{}"
WHAT = """Each line is a deal of a package that exists.

- **Package**: its id or its name · **Seat**: its id, its name, or its id at the DSP · **Price**
- Optional: **Name** (else package and seat), **Deal sync** and **Active** (yes or no), **Fee type**, **Fee**,
  **Contact**

Nothing is created unless every line is right."""
DECIMALS = f"Decimals have a point; UTF-8; commas, semicolons or tabs; at most {csv_text.MOST_ROWS} deals."


@dataclass
class CsvUpload:
    """The dialog's contents: the file's name, and what its text asks for; `problem` says what went wrong."""

    name: str = ""
    plan: CsvPlan | None = None
    job: CsvJob | None = None
    problem: str = ""


def draw(here: Here) -> None:
    """Draw the button for who may create deals, and the dialog while it is open."""
    if permission.of(here).why_not("demand_deals", "create"):
        return
    st.button(
        "Upload CSV", icon=":material/upload:", type="tertiary", key="deals_from_csv_open", on_click=_open
    )
    if (upload := st.session_state.get(OPEN)) is not None:
        st.dialog("Create deals from a CSV", width="large", on_dismiss=_close)(_dialog)(here, upload)


def _open() -> None:
    st.session_state[OPEN] = CsvUpload()


def _close() -> None:
    """Close the dialog. A callback."""
    st.session_state.pop(OPEN, None)


def _dialog(here: Here, upload: CsvUpload) -> None:
    with st.empty().container():
        if upload.job is not None and upload.job.state == "done":
            _done(upload.job)
            return
        st.markdown(WHAT)
        st.caption(DECIMALS)
        text_file.draw(FILE, "CSV file", ".csv,text/csv", csv_text.LARGEST, lambda: take(here, upload))
        st.download_button(
            "Template", csv_text.template(), "deals.csv", "text/csv", icon=":material/download:",
            type="tertiary", key="deals_csv_template", on_click="ignore",
        )  # fmt: skip
        if upload.problem:
            st.error(plain(upload.problem), icon=":material/error:")
        if upload.plan is not None and upload.plan.faults:
            _faults(upload)
        elif upload.plan is not None and upload.job is not None:
            st.caption(f"From {plain(upload.name)}")
            _preview(here, upload.plan, upload.job)


def take(here: Here, upload: CsvUpload) -> None:
    """Read the file that was chosen. A callback."""
    chosen = text_file.taken(st.session_state.get(FILE), csv_text.LARGEST)
    if chosen is not None and (upload.job is None or upload.job.state not in ("open", "left")):
        upload.name, upload.plan, upload.job, upload.problem = chosen.name, None, None, chosen.problem
        if not chosen.problem:
            check(here, upload, chosen.text)


def check(here: Here, upload: CsvUpload, text: str) -> None:
    """Find out what the text asks for, and everything that is wrong with it."""
    table = csv_text.read(text)
    upload.plan = CsvPlan(faults=table.faults)
    try:
        if table.rows and len(table.rows) <= csv_text.MOST_ROWS:
            fees = permission.of(here).fees
            found = csv_deals.plan(catalogue.client(here), table.rows, catalogue.seats(here), fees)
            faults = sorted({*table.faults, *found.faults}, key=lambda one: one.line)
            upload.plan = CsvPlan(() if faults else found.deals, tuple(faults))
    except TrancheError as error:
        upload.plan, upload.problem = None, f"{error.reason.rstrip('.')}. Nothing was created."
        return
    if upload.plan.deals:
        upload.job = CsvJob(upload.plan.deals)


def _faults(upload: CsvUpload) -> None:
    faults = upload.plan.faults if upload.plan else ()
    count = f"{len(faults)} fault{'' if len(faults) == 1 else 's'}"
    st.error(f"{count} in {plain(upload.name)}. Nothing was created.", icon=":material/error:")
    table = {"Line": [one.line for one in faults], "Fault": [one.text for one in faults]}
    st.dataframe(table, hide_index=True, alt="The faults, each with its line")


def _preview(here: Here, plan: CsvPlan, job: CsvJob) -> None:
    money, deals = prices.of(here), plan.deals
    table = {
        "Line": [one.line for one in deals],
        "Package": [one.package.name or str(one.package.id) for one in deals],
        "Seat": [seat_name(one.seat, one.seat.id or 0) for one in deals],
        money.title: [amount(one.deal.price) for one in deals],
        "Name": [one.deal.name or "" for one in deals],
        "Note": [one.note for one in deals],
    }
    _failed(job)
    st.dataframe(table, hide_index=True, alt="The deals to create")
    if job.state == "left":
        return
    doubts = sorted({doubt for one in deals if (doubt := amounts.doubt(one.deal.price))})
    said = ", ".join(doubts)
    is_sure = not doubts or st.checkbox(
        f"Confirm {plain(said)} ({plain(money.terms)})", key=CONFIRMED.format(said)
    )
    label = "Retry" if job.state == "open" else f"Create {_counted(len(deals))}"
    st.button(
        label, type="primary", key="deals_csv_create", disabled=not is_sure, on_click=create, args=(here, job)
    )


def _failed(job: CsvJob) -> None:
    """Draw why it did not succeed, and what there is now."""
    if job.state == "undone":
        st.error(f"{plain(job.reason)} Nothing was created.", icon=":material/error:")
    elif job.state == "open":
        st.warning(
            f"{plain(job.reason)} {_counted(len(job.made))} are created; whether this one was is unknown. "
            "Retry goes on there, and creates none twice.",
            icon=":material/warning:",
        )
    elif job.state == "left":
        there = ", ".join(f"{one.name} ({one.id})" for one in job.made) or "none for certain"
        st.error(f"{plain(job.reason)} These are created: {plain(there)}.", icon=":material/error:")


def create(here: Here, job: CsvJob) -> None:
    """Create all deals, or none. A callback."""
    job.run(catalogue.client(here))
    catalogue.forget()
    if job.state == "done":
        notes.say(f"{_counted(len(job.made))} created")


def _done(job: CsvJob) -> None:
    st.success(f"{_counted(len(job.made))} created.", icon=":material/check_circle:")
    table = {
        "Name": [one.name for one in job.made],
        "Deal id": [one.deal_id or str(one.id) for one in job.made],
    }
    st.dataframe(table, hide_index=True, alt="The deals that were created")
    if st.button("Close", key="deals_csv_close"):
        _close()
        st.rerun()


def _counted(number: int) -> str:
    return f"{number} deal{'' if number == 1 else 's'}"
