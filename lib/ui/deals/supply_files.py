"""The supply files on the screen Lists: their table, the import, and the drawer of one."""

import streamlit as st

from lib.deals.supply.formats import APPS, LIMITS, MEGABYTE, SELLERS
from lib.deals.supply.store import ImportOutcome, StoredFile
from lib.ui.deals import facts, supply_path
from lib.ui.deals.change_steps import count_label, number
from lib.ui.kit import notes, times
from lib.ui.kit.frame import PageContext
from lib.ui.kit.listing import ListCell, ListColumn, ListRow
from lib.ui.kit.markdown import plain
from lib.ui.kit.straight import straighten
from lib.wire.errors import TrancheError

ENTITY, TITLE = "supply_files", "Supply files"
IMPORT, OUTCOMES, UPLOAD, HOST = "supply_import", "supply_outcomes", "supply_upload_{}", "supply_host"
ROUND, LISTED = "supply_round", 50
COLUMNS = (
    ListColumn("name", "Domain", 20.0),
    ListColumn("media_type", "File", 8.0, on_phone=True),
    ListColumn("price", "Records", 7.0, is_right=True, on_phone=True),
    ListColumn("deals", "Lines not read", 8.0, is_right=True),
    ListColumn("start_date", "Imported", 12.0, on_phone=True),
    ListColumn("seat", "By", 8.0),
)
WHAT = (
    "Sites say in ads.txt, developers of apps in app-ads.txt, who may sell their inventory; an advertising "
    "system says in sellers.json who its sellers are. Import the sellers.json of your own system first: the "
    "lines that name it are yours. apps.csv has the columns app and domain, the developer's."
)


def rows(context: PageContext, text: str, limit: int) -> tuple[int, list[ListRow]]:
    """How many files have this text in their domain or kind, and rows of the first of them."""
    count, files = context.clients.supply_files.files(text, limit)
    return count, [ListRow(f"{ENTITY}-{one.id}", tuple(map(ListCell, _texts(one)))) for one in files]


def title(one: StoredFile) -> str:
    """`ads.txt of news.example`."""
    return f"{one.kind} of {one.domain}" if one.domain else one.kind


def draw_import(context: PageContext) -> None:
    """Draw the import, for who may; what became of the last one stays until the next."""
    if not (context.now().deals.writes and context.clients.supply_files.may_change):
        return
    state = st.session_state
    with st.popover("Import files", icon=":material/upload_file:", key=IMPORT, on_change="rerun"):
        st.caption(plain(WHAT))
        files = st.file_uploader(
            "Files", accept_multiple_files=True, key=UPLOAD.format(state.get(ROUND, 0)),
            type=["csv", "json", "txt"], max_upload_size=LIMITS[SELLERS][0] // MEGABYTE,
            help="Named like news.example.ads.txt, news.example.app-ads.txt or exchange.example.sellers.json",
        )  # fmt: skip
        st.text_input("Domain of files without one in their names", key=HOST, placeholder="news.example")
        st.button(
            "Import", type="primary", key="supply_import_go", disabled=not files, on_click=_import,
            args=(context,),
        )  # fmt: skip
        _draw_outcomes(state.get(OUTCOMES) or [])


def _import(context: PageContext) -> None:
    """Import the chosen files. A callback."""
    state = st.session_state
    files = state.get(UPLOAD.format(state.get(ROUND, 0))) or []
    try:
        chosen = [(one.name, one.getvalue()) for one in files]
        state[OUTCOMES] = context.clients.supply_files.add(chosen, (state.get(HOST) or "").strip())
    except TrancheError as error:
        state[OUTCOMES] = [ImportOutcome("", refused=f"{error.reason.rstrip('.')}. Nothing was imported.")]
        return
    state[ROUND], state[IMPORT] = state.get(ROUND, 0) + 1, True
    supply_path.forget()


def _draw_outcomes(outcomes: list[ImportOutcome]) -> None:
    read = [one for one in outcomes if not one.refused]
    if read:
        unread = sum(one.problem_count for one in read)
        more = f"; {count_label('line', unread)} could not be read, see the files" if unread else ""
        st.success(f"{count_label('file', len(read))} imported{more}.", icon=":material/check_circle:")
    refused = [one.refused for one in outcomes if one.refused]
    if refused:
        more = f"\n- and {len(refused) - LISTED:,} more" if len(refused) > LISTED else ""
        st.error("\n".join(f"- {plain(one)}" for one in refused[:LISTED]) + more, icon=":material/error:")


def draw_file(context: PageContext, one: StoredFile) -> bool:
    """Draw a file's facts, the lines that were not read, and for who may the button that removes it; whether
    it was removed."""
    st.caption(plain(f"{number(one.records)} records · imported by {one.who}, {_day(one)}"))
    if one.kind not in (SELLERS, APPS) and not one.records:
        st.info("Without a record the file says nothing: its site stays unknown.", icon=":material/info:")
    if one.problems:
        what = "sellers" if one.kind == SELLERS else "lines"
        shown = f", the first {len(one.problems)} shown" if one.problem_count > len(one.problems) else ""
        st.markdown(f"**{number(one.problem_count)} {what} could not be read**{shown}")
        columns = {
            "Seller" if one.kind == SELLERS else "Line": [each.line for each in one.problems],
            "Text": [each.text for each in one.problems],
            "Why": [each.why for each in one.problems],
        }
        st.dataframe(straighten(columns), hide_index=True, alt="Lines that could not be read")
    if not (context.now().deals.writes and context.clients.supply_files.may_change):
        return False
    if not st.button("Remove file", icon=":material/delete:", key="supply_remove"):
        return False
    context.clients.supply_files.remove([one.id])
    supply_path.forget()
    notes.say(f"{title(one)} is removed")
    return True


def _texts(one: StoredFile) -> tuple[str, ...]:
    unread = number(one.problem_count) if one.problem_count else ""
    return one.domain or "–", one.kind, number(one.records), unread, _day(one), one.who


def _day(one: StoredFile) -> str:
    return facts.moment(one.at.astimezone(times.zone()))
