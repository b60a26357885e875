"""The supply files on the screen Lists: their table, the import, and the drawer of one."""

from functools import partial

import streamlit as st

from lib.deals.supply.formats import APPS, KINDS, MEGABYTE, SELLERS, file_title, identify
from lib.deals.supply.store import ImportedFile, ImportOutcome
from lib.figures.deals import field_text
from lib.ui.deals.counts import count_label, number
from lib.ui.deals.insight import supply_path
from lib.ui.kit import notes, text_file, times
from lib.ui.kit.frame import PageContext
from lib.ui.kit.listing import ListCell, ListColumn, ListRow
from lib.ui.kit.markdown import plain, straighten
from lib.ui.kit.text_file import ChosenFile
from lib.wire.errors import ImportRefused, TrancheError

ENTITY, TITLE = "supply_files", "Supply files"
IMPORT, FILE, WAITING, HOST = "supply_import", "supply_file", "supply_waiting", "supply_host"
OUTCOME, LARGEST = "supply_outcome", 3 * MEGABYTE
COLUMNS = (
    ListColumn("name", "Domain", 20.0),
    ListColumn("file", "File", 8.0, on_phone="top"),
    ListColumn("records", "Records", 7.0, is_right=True),
    ListColumn("rejects", "Lines not read", 8.0, is_right=True),
    ListColumn("imported", "Imported", 12.0, on_phone="left", is_titled=True),
    ListColumn("by", "By", 8.0),
)
WHAT = (
    "Sites say in ads.txt, developers of apps in app-ads.txt, who may sell their inventory; an advertising "
    "system says in sellers.json who its sellers are. Import the sellers.json of your own system first: the "
    "lines that name it are yours. apps.csv has the columns app and domain, the developer's."
)


def rows(context: PageContext, text: str, limit: int) -> tuple[int, list[ListRow]]:
    """How many files have this text in their domain or kind, and rows of the first of them."""
    count, files = context.clients.supply_files.files(text, limit)
    list_rows = []
    for file in files:
        unread = number(file.problem_count) if file.problem_count else ""
        texts = (file.domain or "–", file.kind, number(file.records), unread, _day(file), file.who)
        list_rows.append(ListRow(f"{ENTITY}-{file.id}", tuple(map(ListCell, texts))))
    return count, list_rows


def draw_import(context: PageContext) -> None:
    """Draw the import, for who may; what became of the last file stays until the next."""
    if not may_change(context):
        return
    state = st.session_state
    with st.popover("Import file", icon=":material/upload_file:", key=IMPORT, on_change="rerun"):
        st.caption(plain(WHAT))
        st.caption(
            "Files of up to 3 MB, named like news.example.ads.txt, news.example.app-ads.txt, "
            "exchange.example.sellers.json or apps.csv. Many or larger ones: tranche supply FOLDER."
        )
        text_file.draw(FILE, "File", ".txt,.json,.csv", LARGEST, partial(_take, context))
        if (waiting := state.get(WAITING)) is not None:
            st.text_input(f"Domain of {plain(waiting.name)}", key=HOST, placeholder="news.example")
            st.button("Import", type="primary", key="supply_import_go", on_click=_import, args=(context,))
        outcome: ImportOutcome | None = state.get(OUTCOME)
        if outcome is not None and outcome.refusal:
            st.error(f"{plain(outcome.refusal.rstrip('.'))}.", icon=":material/error:")
        elif outcome is not None:
            lines = count_label("line", outcome.problem_count)
            unread = f"; {lines} could not be read" if outcome.problem_count else ""
            records = count_label("record", outcome.records)
            what = f"{plain(outcome.name)} is imported: {records}{unread}."
            st.success(what, icon=":material/check_circle:")


def may_change(context: PageContext) -> bool:
    """Whether the person may import and remove files, now."""
    deals = context.now().deals
    return deals.writes and deals.seats is None


def _take(context: PageContext) -> None:
    """Import the file that was chosen; where its name has no domain, ask for that first. A callback."""
    state = st.session_state
    file = text_file.chosen_file(state.get(FILE), LARGEST)
    if file is None:
        return
    state[WAITING], state[OUTCOME] = None, None
    if file.problem:
        state[OUTCOME] = ImportOutcome(file.name, refusal=file.problem)
        return
    try:
        identify(file.name)
    except ImportRefused as error:
        if file.name.lower() in KINDS:
            state[WAITING] = file
        else:
            state[OUTCOME] = ImportOutcome(file.name, refusal=error.reason)
        return
    _add(context, file, "")


def _import(context: PageContext) -> None:
    waiting = st.session_state.get(WAITING)
    if waiting is not None:
        _add(context, waiting, (st.session_state.get(HOST) or "").strip())


def _add(context: PageContext, file: ChosenFile, host: str) -> None:
    state = st.session_state
    if not may_change(context):
        return
    try:
        (outcome,) = context.clients.supply_files.add([(file.name, file.text.encode())], host)
    except TrancheError as error:
        outcome = ImportOutcome(file.name, refusal=f"{error.sentence} Nothing was imported")
    state[OUTCOME], state[IMPORT] = outcome, True
    if not outcome.refusal:
        state[WAITING] = None
        supply_path.forget()


def draw_file(context: PageContext, file: ImportedFile) -> bool:
    """Draw a file's facts, the lines that were not read, and for who may the button that removes it; whether
    it was removed."""
    st.caption(plain(f"{count_label('record', file.records)} · imported by {file.who}, {_day(file)}"))
    if file.kind not in (SELLERS, APPS) and not file.records:
        st.info("Without a record the file says nothing: its site stays unknown.", icon=":material/info:")
    if file.problems:
        what = count_label("seller" if file.kind == SELLERS else "line", file.problem_count)
        more = f", the first {len(file.problems)} shown" if file.problem_count > len(file.problems) else ""
        st.markdown(f"**{what} could not be read**{more}")
        columns = {
            "Seller" if file.kind == SELLERS else "Line": [problem.line for problem in file.problems],
            "Text": [problem.text for problem in file.problems],
            "Why": [problem.why for problem in file.problems],
        }
        st.dataframe(straighten(columns), hide_index=True, alt="Lines that could not be read")
    if not may_change(context):
        return False
    if not st.button("Remove file", icon=":material/delete:", key="supply_remove"):
        return False
    context.clients.supply_files.remove([file.id])
    supply_path.forget()
    notes.say(f"{file_title(file.kind, file.domain)} is removed")
    return True


def _day(file: ImportedFile) -> str:
    return field_text.moment(file.at.astimezone(times.zone()))
