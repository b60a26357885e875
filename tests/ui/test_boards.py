"""The screen Boards: what its cells show, how it is arranged, its days and filters, and who gets it."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import boards
import pandas as pd
import pyarrow as pa
import pytest
from conftest import COUNTRIES, DEFINITION, LAST_DAY, rows_by_week, small_rows
from keeping import Keeper, keeper
from opening import Popover, choose, opened
from streamlit.testing.v1 import AppTest

from lib.figures.query import board_params
from lib.settings import Settings
from lib.share.documents import board as blocks
from lib.slicers.warehouse import Warehouse
from lib.ui.audience.boards import board_list, screen
from lib.views import Board, BoardCell
from lib.views.board_copies import BoardItem

COUNTRY, CAMPAIGN = "geo.country", "campaign_id"
WEEK = {"start": "-7d", "end": "yesterday", "fields": "imps~clicks"}
Desk = Callable[..., AppTest]


@pytest.fixture
def signed_in(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """The screen over a data directory of its own, for a person of the demo."""
    monkeypatch.setenv("TRANCHE_HOME", str(own_home))

    def open_screen(person: str = "manager", **params: str) -> AppTest:
        desk = opened("boards", person, project="demo", slicer="delivery", **params)
        assert not desk.exception, desk.exception
        return desk

    return open_screen


@pytest.fixture
def kept(own_home: Path) -> Keeper:
    """What the person of this name keeps in that data directory."""
    return keeper(Settings(home=own_home, demo=True))


@pytest.fixture(scope="module")
def week() -> pd.DataFrame:
    """The rows of the last seven complete days."""
    rows = rows_by_week(COUNTRY)
    return rows[rows["week"] == 0]


def make(kept: Keeper, *cells: tuple[str, int, str], params: dict[str, str] | None = None) -> Board:
    """A shared board of the manager with a cell per part and width, each of a view of its own."""
    store = kept("manager")
    items = []
    for place, (part, width, extra) in enumerate(cells):
        view_params = {**WEEK, **dict(pair.split("=", 1) for pair in extra.split("&") if pair)}
        view = store.views.save("demo", "delivery", f"View {place}", view_params, is_shared=True)
        items.append(BoardCell(view.id, part, width))  # type: ignore[arg-type]
    return store.boards.save("Monday", True, items, params or {})


def cells(desk: AppTest) -> list[str]:
    """The texts of the cells in sight, in their order, without markup."""
    data = [
        json.loads(component.proto.json) for component in desk.get("bidi_component") if component.proto.json
    ]
    html = [cell["html"] for cell in data if "html" in cell]
    return [" ".join(re.sub(r"<script.*?</script>|<[^>]+>", " ", text, flags=re.S).split()) for text in html]


def test_each_part_has_the_figures_of_its_view(signed_in: Desk, kept: Keeper, week: pd.DataFrame) -> None:
    """Headline, chart, leaderboard and table say what pandas has of the view's rows."""
    make(
        kept,
        ("headline", 4, f"is.{COUNTRY}=US"),
        ("chart", 2, ""),
        ("leaderboard", 1, f"cards={COUNTRY}"),
        ("table", 2, f"split={CAMPAIGN}"),
    )
    headline, chart, leaderboard, table = cells(signed_in())
    in_us = week[week[COUNTRY] == "US"]
    assert f"Impressions {in_us['imps'].sum():,.0f}" in headline
    assert f"Clicks {in_us['clicks'].sum():,.0f}" in headline
    assert all(f"{total:,.0f}" in chart for total in week.groupby(week["time"].dt.date)["imps"].sum())
    assert f"{week.groupby(COUNTRY)['imps'].sum().max():,.0f}" in leaderboard
    for total in week.groupby(CAMPAIGN)["imps"].sum():
        assert f"{total:,.0f}" in table


def test_its_days_and_filters_stand_in_place_of_the_views(
    signed_in: Desk, kept: Keeper, week: pd.DataFrame
) -> None:
    """A board's filter replaces the view's on that field, its others stay; a link may say otherwise."""
    board = make(kept, ("headline", 4, f"is.{COUNTRY}=DE&is.{CAMPAIGN}=1"), params={f"is.{COUNTRY}": "US"})
    chosen = week[(week[COUNTRY] == "US") & (week[CAMPAIGN] == "1")]
    assert f"Impressions {chosen['imps'].sum():,.0f}" in cells(signed_in(board=str(board.id)))[0]
    without = cells(signed_in(board=str(board.id), own="1"))[0]
    in_germany = week[(week[COUNTRY] == "DE") & (week[CAMPAIGN] == "1")]
    assert f"Impressions {in_germany['imps'].sum():,.0f}" in without
    last_day = week[week["time"].dt.date == week["time"].dt.date.max()]
    asked = signed_in(board=str(board.id), start="yesterday", end="yesterday", **{f"is.{COUNTRY}": "US"})
    narrow = last_day[(last_day[COUNTRY] == "US") & (last_day[CAMPAIGN] == "1")]
    assert f"Impressions {narrow['imps'].sum():,.0f}" in cells(asked)[0]


def test_a_filter_holds_for_every_slicer_that_has_its_field(
    signed_in: Desk, kept: Keeper, week: pd.DataFrame, own_home: Path
) -> None:
    """Country is country, whatever two slicers call it: it is offered once, both cells have the figures of
    its rows, and say so by its label; that a filter does not apply in a cell is said there."""
    names = [{COUNTRY: "user.country"}.get(name, name) for name in small_rows(0).schema.names]
    rows = small_rows(0).rename_columns(names).drop_columns([CAMPAIGN])
    keys = (DEFINITION.key_fields[0].model_copy(update={"name": "user.country"}), DEFINITION.key_fields[2])
    other = DEFINITION.model_copy(update={"key_fields": keys})
    with Warehouse(own_home / "warehouse").writer("demo", "other", other, {"country": COUNTRIES}) as writer:
        writer.write(rows.select(other.schema().names))
        writer.commit("made for the test", "0")
    board, store = make(kept, ("headline", 4, f"is.{COUNTRY}=DE")), kept("manager")
    view = store.views.save("demo", "other", "Other", {**WEEK, "is.user.country": "FR"}, is_shared=True)
    store.boards.change(board.id, [*board.cells, BoardCell(view.id, "headline", 4)], {})
    desk, key = signed_in(board=str(board.id)), f"board_filter_{board.id}"
    desk.session_state[key] = True
    field = desk.run().selectbox(key=f"{key}_field")
    offered = [option for option in field.options if option.startswith(("Campaign", "Country"))]
    assert sorted(offered) == ["Campaign (1 of 2 slicers)", "Country"]
    field.set_value(COUNTRY).run()
    boards.click(desk, f"{key}_board", ["add", [[COUNTRY, "US"]]])
    in_us = week[week[COUNTRY] == "US"]
    for cell in cells(desk):
        assert f"Impressions {in_us['imps'].sum():,.0f}" in cell
        assert "Left out" not in cell
    captions = [text.value.replace("\\", "") for text in desk.caption]
    assert sum("Country is United States" in text for text in captions) == 2
    desk.selectbox(key=f"{key}_field").set_value(CAMPAIGN).run()
    boards.click(desk, f"{key}_board", ["add", [[CAMPAIGN, "1"]]])
    first, second = cells(desk)
    assert f"Impressions {in_us[in_us[CAMPAIGN] == '1']['imps'].sum():,.0f}" in first
    assert f"Impressions {in_us['imps'].sum():,.0f}" in second
    assert "other has no Campaign: the board" in second
    params = {name: "".join(desk.query_params[name]) for name in desk.query_params}
    link = signed_in(**{name: text for name, text in params.items() if name not in ("project", "slicer")})
    assert cells(link) == cells(desk)


def test_a_filter_that_was_stored_by_name_alone_has_its_meaning(
    signed_in: Desk, kept: Keeper, week: pd.DataFrame, own_home: Path
) -> None:
    """A board that was stored with a filter on one slicer's name of a field stands in place of what views of
    another have on theirs, also where a view of that slicer came onto it later; its values are carried over
    by their labels. One that means several values there is not applied, and that is said."""
    lands = {"US": "840", "DE": "276"}
    table = small_rows(0).to_pandas().rename(columns={COUNTRY: "user.land"})
    halves = {"276": ["276", "280"]}
    table["user.land"] = [
        halves.get(land, [land])[index % len(halves.get(land, [land]))] if isinstance(land, str) else land
        for index, land in enumerate(table["user.land"].replace(lands))
    ]
    land = DEFINITION.key_fields[0].model_copy(update={"name": "user.land", "mapping": "land"})
    other = DEFINITION.model_copy(update={"key_fields": (land, *DEFINITION.key_fields[1:])})
    labels = {"840": "United States", "276": "Germany", "280": "Germany", "FR": "France", "JP": "Japan"}
    with Warehouse(own_home / "warehouse").writer("demo", "other", other, {"land": labels}) as writer:
        writer.write(pa.Table.from_pandas(table, schema=other.schema(), preserve_index=False))
        writer.commit("made for the test", "0")
    store = kept("manager")
    views = [
        store.views.save("demo", slicer, "View", {**WEEK, f"is.{name}": "FR"}, is_shared=True)
        for slicer, name in (("delivery", COUNTRY), ("other", "user.land"))
    ]
    in_cells = [BoardCell(view.id, "headline", 4) for view in views]
    board = store.boards.save("Monday", True, in_cells, {f"is.{COUNTRY}": "US"})
    in_us, in_france = (
        f"Impressions {week[week[COUNTRY] == name]['imps'].sum():,.0f}" for name in ("US", "FR")
    )
    desk = signed_in(board=str(board.id))
    first, second = cells(desk)
    assert in_us in first
    assert in_us in second
    captions = [text.value.replace("\\", "") for text in desk.caption]
    assert sum("Country is United States" in text for text in captions) == 2
    links = [link.proto.query_string for link in desk.get("page_link")]
    titles = [link.proto.label.strip("*") for link in desk.get("page_link")]
    assert titles == [f"Impressions and Clicks · {slicer}" for slicer in ("delivery", "other")]
    assert ["is.user.land=840" in link for link in links] == [False, True]
    store.boards.change(board.id, params={f"is.{COUNTRY}": "DE"})
    first, second = cells(signed_in(board=str(board.id)))
    in_germany = week[week[COUNTRY] == "DE"]["imps"].sum()
    assert f"Impressions {in_germany:,.0f}" in first and "does not apply" not in first
    assert in_france in second
    assert "Country has other values in other: the board&#39;s filter on it does not apply here." in second


def test_a_filter_has_its_meaning_where_the_slicer_that_named_it_is_not_seen(
    signed_in: Desk, kept: Keeper, week: pd.DataFrame
) -> None:
    """Where the reader may see none of the slicers that have a field of that name, a filter is about the
    field that means the same."""
    board = make(kept, ("headline", 4, ""), params={"is.user.country": "US"})
    in_us = week[week[COUNTRY] == "US"]["imps"].sum()
    desk = signed_in("viewer", board=str(board.id))
    assert f"Impressions {in_us:,.0f}" in cells(desk)[0]
    assert any("Country is United States" in text.value.replace("\\", "") for text in desk.caption)


def test_a_leaderboard_of_the_filtered_field_says_that_it_has_all_values(
    signed_in: Desk, kept: Keeper, week: pd.DataFrame
) -> None:
    """It ranks all countries, and says that the filter on them does not apply; another is of those rows."""
    board = make(
        kept,
        ("leaderboard", 2, f"cards={COUNTRY}"),
        ("leaderboard", 2, f"cards={CAMPAIGN}"),
        params={f"is.{COUNTRY}": "US"},
    )
    desk = signed_in(board=str(board.id))
    countries, campaigns = cells(desk)
    for total in week.groupby(COUNTRY)["imps"].sum().nlargest(3):
        assert f"{total:,.0f}" in countries
    assert "It ranks all values of Country: the filter on it does not apply here." in countries
    in_us = week[week[COUNTRY] == "US"].groupby(CAMPAIGN)["imps"].sum()
    assert f"{in_us.max():,.0f}" in campaigns and "does not apply" not in campaigns
    captions = [text.value.replace("\\", "") for text in desk.caption]
    assert sum("Country is United States" in text for text in captions) == 1


def test_days_are_chosen_and_stored(signed_in: Desk, kept: Keeper) -> None:
    """A choice changes the address at once, and the board for everybody when it is saved."""
    board = make(kept, ("headline", 4, ""))
    desk = signed_in(board=str(board.id))
    desk.selectbox(key=f"board_days_{board.id}").select("Yesterday").run()
    assert "".join(desk.query_params["start"]) == "yesterday"
    assert dict(kept("manager").boards.all()[0].params) == {}
    desk.button(key="board_save_params").click().run()
    assert kept("manager").boards.all()[0].params == {"start": "yesterday", "end": "yesterday"}
    assert "start" not in desk.query_params


def test_a_board_is_arranged_with_the_keyboard(signed_in: Desk, kept: Keeper) -> None:
    """Cells are changed, named, removed and added by buttons and fields alone; it is stored at once."""
    board = make(kept, ("chart", 2, ""), ("headline", 4, ""))
    second, first = (cell.view_id for cell in board.cells)
    desk = signed_in(board=str(board.id))
    desk.button(key="board_arrange").click().run()
    desk.selectbox(key=f"board_{board.id}_0_{second}_width_2").select(3).run()
    desk.selectbox(key=f"board_{board.id}_0_{second}_part_chart").select("table").run()
    title = next(field for field in desk.text_input if field.key.startswith(f"board_{board.id}_0_"))
    title.set_value("  What *we* sold ").run()
    assert kept("manager").boards.all()[0].cells[0] == BoardCell(second, "table", 3, title="What *we* sold")
    desk.button(key=f"board_{board.id}_1_{first}_close").click().run()
    desk.selectbox(key=f"board_{board.id}_view").select(first)
    desk.selectbox(key=f"board_{board.id}_part").select("leaderboard")
    add = next(button for button in desk.button if button.label == "Add")
    add.click().run()
    assert kept("manager").boards.all()[0].cells[1] == BoardCell(first, "leaderboard", 1)
    assert not desk.exception


def test_a_text_stands_among_the_cells(signed_in: Desk, kept: Keeper) -> None:
    """A heading and a text are a cell, whose marks stay texts; one without either is refused."""
    board = make(kept, ("headline", 4, ""))
    desk = signed_in(board=str(board.id))
    desk.button(key="board_arrange").click().run()

    def add(heading: str, text: str) -> None:
        desk.text_input(key=f"board_{board.id}_heading_1").set_value(heading)
        desk.text_input(key=f"board_{board.id}_text_1").set_value(text)
        next(button for button in desk.button if button.key.endswith("_add_text-Add")).click().run()

    add("", " ")
    assert [error.value for error in desk.error] == ["Type a heading or a text."]
    add("Pacing *first*", "Then <b>[prices](http://x.example)</b>")
    text = BoardCell(0, "text", 4, "", "Pacing *first*", "Then <b>[prices](http://x.example)</b>")
    assert kept("manager").boards.all()[0].cells[1] == text
    assert cells(desk)[1] == "Pacing *first* Then &lt;b&gt;[prices](http://x.example)&lt;/b&gt;"
    assert not desk.error and not desk.exception


def test_a_cell_is_titled_by_what_it_shows(signed_in: Desk, kept: Keeper) -> None:
    """By metrics, by what these are split by, and whose they are on a board of several slicers; an own title
    wins, and the name of the view is beside it."""
    board = make(
        kept,
        ("headline", 4, "fields=imps~clicks~ctr~revenue"),
        ("chart", 2, "grain=day"),
        ("leaderboard", 1, f"cards={COUNTRY}"),
        ("table", 2, f"split={COUNTRY}~{CAMPAIGN}&fields=imps"),
        ("table", 2, ""),
    )
    named = [*board.cells[:4], replace(board.cells[4], title="Ours")]
    kept("manager").boards.change(board.id, named)
    desk = signed_in(board=str(board.id))
    titles = [link.proto.label.strip("*") for link in desk.get("page_link")]
    assert titles == [
        "Impressions, Clicks and 2 more",
        "Impressions by day",
        "Impressions by country",
        "Impressions by country and campaign",
        "Ours",
    ]
    assert [text.value.partition(" · ")[0] for text in desk.caption][-5:] == [f"View {n}" for n in range(5)]


def test_a_view_that_is_gone_is_said_in_its_cell(signed_in: Desk, kept: Keeper) -> None:
    """A deleted view and a colleague's private one leave a sentence, and the other cells as they were."""
    board = make(kept, ("headline", 4, ""), ("headline", 4, ""), ("headline", 4, ""))
    store = kept("manager")
    store.views.delete(board.cells[0].view_id)
    store.views.change(board.cells[1].view_id, is_shared=False)
    htmls = cells(signed_in("viewer", board=str(board.id)))
    assert blocks.MISSING in htmls[0]
    assert blocks.MISSING in htmls[1]
    assert "Impressions" in htmls[2]
    assert kept("manager").boards.all()[0].cells == board.cells


def test_a_reader_may_not_arrange_anothers_board(signed_in: Desk, kept: Keeper) -> None:
    """They see it, and neither Arrange nor Save."""
    board = make(kept, ("headline", 4, ""))
    desk = signed_in("viewer", board=str(board.id), start="yesterday", end="yesterday")
    keys = {button.key for button in desk.button}
    assert not {"board_arrange", "board_save_params"} & keys


def test_a_board_that_is_not_there_is_said(signed_in: Desk, kept: Keeper) -> None:
    """An unknown number, or a board of somebody else, is a sentence and no error."""
    make(kept, ("headline", 4, ""))
    desk = signed_in(board="999")
    assert "deleted, or you may not see it" in desk.warning[0].value


def test_a_board_is_made_renamed_and_deleted(signed_in: Desk, kept: Keeper) -> None:
    """In the list of boards, as saved views are."""
    menu = Popover(board_list.POPOVER)
    desk = menu.opened(signed_in())
    desk.text_input(key="view_board_name").set_value("Monday *meeting*")
    menu.submit(desk, "Save board")
    (board,) = kept("manager").boards.all()
    assert board.name == "Monday *meeting*"
    desk = menu.opened(desk)
    choose(desk, f"view_do_board_start_{board.id}")
    assert kept("manager").start.board() == board
    desk = menu.opened(desk)
    choose(desk, f"view_do_board_delete_{board.id}")
    desk.button(key="view_board_delete_sure").click().run()
    assert kept("manager").boards.all() == []


def test_another_board_takes_over_no_days_and_no_filters(signed_in: Desk, kept: Keeper) -> None:
    """The menu opens a board that is new to this tab under its own days, whatever the one before had."""
    second = make(kept, ("headline", 4, ""))
    first = kept("manager").boards.save("Tuesday", True, second.cells, {})
    (own,) = cells(signed_in(board=f"{second.id}"))
    for params in ({"is.geo.country": "DE"}, {"start": "yesterday", "end": "yesterday"}):
        desk = signed_in(board=f"{first.id}", **params)
        assert cells(desk) != [own]
        menu = Popover(board_list.POPOVER)
        menu.press(menu.opened(desk), f"view_open_board_{second.id}")
        assert not desk.error
        assert cells(desk) == [own]
        assert not {*desk.query_params} & {*params}


def test_a_boards_filter_replaces_the_views_on_its_field() -> None:
    """The merge keeps the view's other parameters; other names of a field, as in links of before, go."""
    merged = board_params.under(
        {"start": "-7d", "zoom": "x", "is.a": "1", "not.b": "2"}, {"start": "-1d", "has.a": "3"}
    )
    assert merged == {"start": "-1d", "not.b": "2", "has.a": "3"}
    old = board_params.under({"is.c": "1", "is.b": "2"}, {"is.c": "3", "same": "a%7Ec"})
    assert old == {"is.b": "2", "is.c": "3"}


def test_what_a_view_has_of_another_slicer_is_said(signed_in: Desk, kept: Keeper) -> None:
    """A cell names each filter, metric and column of its view that the slicer lacks."""
    make(kept, ("leaderboard", 2, f"cards={COUNTRY}&is.lost=1&columns=gone&field=old"))
    (cell,) = cells(signed_in())
    missing = ("the filter on Lost", "the column Gone", "the data field Old")
    assert all(f"Left out {what}" in cell for what in missing), cell


def test_a_cell_follows_an_import(signed_in: Desk, kept: Keeper, own_home: Path) -> None:
    """Once rows are imported, a board that is open has their figures with its next run."""
    make(kept, ("headline", 4, ""))
    desk = signed_in()
    rows = small_rows(seed=1)
    with Warehouse(own_home / "warehouse").writer(
        "demo", "delivery", DEFINITION, {"country": COUNTRIES}, "replace"
    ) as writer:
        writer.write(rows)
        writer.commit("made for the test", "another seed")
    frame = rows.to_pandas()
    frame = frame[(pd.Timestamp(LAST_DAY) - pd.to_datetime(frame["time"].dt.date)).dt.days < 7]
    assert f"Impressions {frame['imps'].sum():,.0f}" in cells(desk.run())[0]


def test_rows_hold_four_columns() -> None:
    """Cells flow from left to right, a row as full as they fit."""
    items = [BoardItem("chart", width) for width in (4, 2, 2, 1, 2, 3, 1)]
    assert screen.rows_of(items) == [[0], [1, 2], [3, 4], [5, 6]]
