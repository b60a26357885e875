"""A board in a browser: arranged by drag, keys and touch, and the same in its mail and at its share link."""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from conftest import LAST_DAY, copied, desk_over, rows_by_week
from keeping import keeper
from mail_server import Mailbox, mail_server, plain
from mail_server import page as mail_page
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

from browser.conftest import PHONE, Visitor, enter, new_context, settled, sideways
from lib.serving import connect
from lib.settings import Settings
from lib.views import Board, BoardCell, SavedView, ViewStore

COUNTRY = "geo.country"
WEEK = {"start": "-7d", "end": "yesterday", "fields": "imps~clicks", "cards": COUNTRY}
LONG_WORD = "https://x.example/" + "W" * 240
TITLES = ["Impressions and Clicks", "Impressions by day", "Impressions by country"]


@dataclass(frozen=True)
class BoardDesk:
    """A desk with a board of an administrator's, and the mails that it sends."""

    address: str
    store: ViewStore
    mailbox: Mailbox

    def board(self, *texts: str) -> Board:
        """The board with a headline, a chart and a leaderboard, after these texts."""
        for board in self.store.boards.all():
            self.store.boards.delete(board.id)
        view = self.view("Week", WEEK)
        cells = [BoardCell(part="text", width=4, text=text) for text in texts]
        parts = (("headline", 4), ("chart", 2), ("leaderboard", 2))
        return self.store.boards.save(
            "Monday", True, [*cells, *(BoardCell(view.id, part, width) for part, width in parts)]
        )

    def view(self, name: str, params: dict[str, str]) -> SavedView:
        """The view of that name."""
        views = {view.name: view for view in self.store.views.all()}
        return views.get(name) or self.store.views.save("demo", "delivery", name, params, is_shared=True)

    def parts(self) -> list[str]:
        """The parts of the cells as they are stored."""
        (board,) = self.store.boards.all()
        return [cell.part for cell in board.cells]


@pytest.fixture(scope="module")
def desk(home: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BoardDesk]:
    """A desk with a mail server, whose administrator has an address."""
    mailbox, own = Mailbox(), copied(home, tmp_path_factory.mktemp("boards") / "home")  # type: ignore[arg-type]
    with mail_server(mailbox) as given:
        settings = Settings(home=own, demo=True, **given)
        connect.installation(settings).people.change("admin", email="admin@reader.example")
        names = ("smtp_host", "smtp_port", "smtp_security", "mail_from")
        environment = {f"TRANCHE_{name.upper()}": str(given[name]) for name in names}
        with desk_over(own, **environment) as (address, _):
            yield BoardDesk(address, keeper(settings)("admin"), mailbox)


@pytest.fixture(scope="module")
def week() -> pd.DataFrame:
    """The rows of the last seven complete days."""
    return rows_by_week(COUNTRY).query("week == 0")


def arrange(page: Page, desk: BoardDesk, board: Board) -> Locator:
    """Open the board to arrange it; gives the tiles."""
    enter(page, f"{desk.address}/boards?board={board.id}", "Admin")
    page.locator(".st-key-board_arrange button").click()
    tiles = page.locator(f".st-key-board_{board.id}_tiles li")
    expect(tiles).to_have_count(len(board.cells))
    settled(page)
    return tiles


def titles(page: Page) -> list[str]:
    """The titles of the cells on the board, in order."""
    return page.locator("[class*=st-key-board_head_] a").filter(visible=True).all_inner_texts()


def test_a_cell_is_dragged_and_mailed_where_it_was_dropped(
    desk: BoardDesk, page: Page, week: pd.DataFrame
) -> None:
    """A tile dropped on another takes its place, arrow keys move it on and keep the focus, and a reader of
    the screen is told; the mail that is sent now has that order, and the figures of the rows, and is
    no wider than a phone, whatever the words."""
    board = desk.board(f"Pacing first {LONG_WORD}")
    tiles = arrange(page, desk, board)
    assert tiles.locator(".handle").all_inner_texts() == [f"Pacing first {LONG_WORD}", *TITLES]
    tiles.nth(3).locator(".handle").hover()
    page.mouse.down()
    page.mouse.move(*center(tiles.nth(1)), steps=6)
    expect(tiles.nth(1)).to_have_class("target")
    page.mouse.up()
    expect(tiles.nth(1)).to_contain_text(TITLES[2])
    settled(page)
    assert desk.parts() == ["text", "leaderboard", "headline", "chart"]
    tiles.nth(1).locator(".handle").focus()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    status = page.locator(f".st-key-board_{board.id}_tiles").get_by_role("status")
    expect(status).to_have_text("Impressions by country is 4 of 4")
    page.keyboard.press("ArrowUp")
    settled(page)
    expect(tiles.nth(2).locator(".handle")).to_be_focused()
    assert desk.parts() == ["text", "headline", "leaderboard", "chart"]
    page.locator(".st-key-board_arrange button").click()
    settled(page)
    order = [TITLES[0], TITLES[2], TITLES[1]]
    assert titles(page) == order
    page.locator(".st-key-boards_menu button").click()
    page.get_by_role("button", name="More for Monday").click()
    page.get_by_role("menuitem", name="Mail Monday").click()
    page.get_by_role("button", name="Mail me this board").click()
    desk.mailbox.mails.clear()
    desk.mailbox.arrived.clear()
    page.get_by_role("button", name="Send one now").click()
    assert desk.mailbox.arrived.wait(60)
    text = plain(desk.mailbox.only()).replace("\r", "")
    places = [text.index(f"\n{name}\n") for name in order]
    assert places == sorted(places) and text.index("Pacing first") < places[0]
    assert f"Impressions: {week['imps'].sum():,.0f}" in text
    largest = week.groupby(COUNTRY)["imps"].sum()
    assert re.search(rf": {largest.max():,.0f} \(", text[places[1] :])
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.set_content(mail_page(desk.mailbox.only()))
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


def test_a_text_and_its_place_are_on_the_shared_page(
    desk: BoardDesk, page: Page, visitor: Visitor, week: pd.DataFrame
) -> None:
    """A heading typed here and moved to the top is there for whoever has the share link, as it was typed,
    before the figures of the rows; nothing of it is an element, and nothing else is loaded. A pasted
    text that is too long is refused with the number of its characters, and stays."""
    board = desk.board()
    tiles = arrange(page, desk, board)
    add = page.locator(f"[class*=st-key-FormSubmitter-board_{board.id}_add_text] button")
    page.get_by_role("textbox", name="or a text").focus()
    page.keyboard.insert_text("w" * 600)
    add.click()
    expect(page.get_by_text("The text is too long: 600 characters, 300 at most.")).to_be_in_viewport()
    expect(page.get_by_role("textbox", name="or a text")).to_have_value("w" * 600)
    page.get_by_role("textbox", name="Add a heading").fill("Pacing <b>first</b>")
    page.get_by_role("textbox", name="or a text").fill("See [prices](http://x.example)")
    add.click()
    expect(tiles).to_have_count(4)
    tiles.nth(3).locator(".handle").press("Home")
    expect(tiles.first).to_contain_text("Pacing <b>first</b>")
    settled(page)
    assert desk.parts() == ["text", "headline", "chart", "leaderboard"]
    page.locator(".st-key-board_link button").first.click()
    page.get_by_role("button", name="Make a share link").click()
    expect(page.get_by_text("It is shown only now")).to_be_visible()
    link = page.locator("code", has_text="/shared/").inner_text()
    shared = visitor().new_page()
    requests: list[str] = []
    shared.on("request", lambda request: requests.append(request.url))
    shared.goto(link)
    assert shared.locator(".cell h2").evaluate_all("nodes => nodes.map((n) => n.firstChild.textContent)") == [
        "Pacing <b>first</b>", *TITLES
    ]  # fmt: skip
    expect(shared.locator(".cell").first.locator("p")).to_have_text("See [prices](http://x.example)")
    expect(shared.locator(".figure", has_text="Impressions").locator("b")).to_have_text(
        f"{week['imps'].sum():,.0f}"
    )
    assert requests == [link]


def test_a_filter_is_set_by_the_keyboard_alone(desk: BoardDesk, page: Page, week: pd.DataFrame) -> None:
    """Filter, field and value are chosen without a pointer: the cells have the figures of that country."""
    board = desk.board()
    enter(page, f"{desk.address}/boards?board={board.id}", "Admin")
    page.locator(f".st-key-board_filter_{board.id} button").focus()
    page.keyboard.press("Enter")
    field = page.get_by_role("combobox", name="Field")
    expect(field).to_be_visible()
    reach(page, field)
    page.keyboard.type("Country")
    page.keyboard.press("Enter")
    row = page.get_by_role("button", name="Germany", exact=True)
    expect(row).to_be_visible()
    reach(page, page.get_by_role("button", name="United States", exact=True))
    reach(page, row, "ArrowDown")
    page.keyboard.press("Enter")
    in_germany = f"{week[week[COUNTRY] == 'DE']['imps'].sum():,.0f}"
    expect(page.locator(".figure", has_text="Impressions").locator("b")).to_have_text(in_germany)
    expect(page.get_by_text("Country is Germany")).to_have_count(3)
    expect(
        page.get_by_text("It ranks all values of Country: the filter on it does not apply")
    ).to_be_visible()


def test_back_is_the_board_of_before(desk: BoardDesk, page: Page, week: pd.DataFrame) -> None:
    """After other days, Back shows the days and the figures of before, and Forward the others again."""
    board = desk.board()
    enter(page, f"{desk.address}/boards?board={board.id}", "Admin")
    figure = page.locator(".figure", has_text="Impressions").locator("b")
    days = page.locator(".st-key-board_cell_headline_0")
    of_week, of_day = (
        f"{rows['imps'].sum():,.0f}" for rows in (week, week[week["time"].dt.date == LAST_DAY])
    )
    expect(figure).to_have_text(of_week)
    page.get_by_role("combobox", name="Days").click()
    page.get_by_role("option", name="Yesterday", exact=False).first.click()
    expect(figure).to_have_text(of_day)
    expect(days).not_to_contain_text("–")
    page.go_back()
    expect(figure).to_have_text(of_week)
    expect(days).to_contain_text("–")
    page.go_forward()
    expect(figure).to_have_text(of_day)


def test_back_from_a_cell_is_the_board_as_it_was(desk: BoardDesk, page: Page, week: pd.DataFrame) -> None:
    """The title of a cell leads to its view; Back leaves its filters to it, on the board's own days."""
    desk.board()
    views = desk.view("Week", WEEK), desk.view("France", {**WEEK, f"is.{COUNTRY}": "FR"})
    board = desk.store.boards.save("Two", True, [BoardCell(view.id, "headline", 2) for view in views])
    day = week[week["time"].dt.date == LAST_DAY]
    figures = [f"{rows['imps'].sum():,.0f}" for rows in (day, day[day[COUNTRY] == "FR"])]
    enter(page, f"{desk.address}/boards?board={board.id}&start=yesterday&end=yesterday", "Admin")
    shown = page.locator(".figure", has_text="Impressions").locator("b")
    expect(shown).to_have_text(figures)
    page.get_by_role("link", name="Impressions and Clicks").nth(1).click()
    page.wait_for_url(re.compile("/audience.*FR"))
    settled(page)
    page.go_back()
    page.wait_for_url(re.compile("/boards"))
    settled(page)
    expect(shown).to_have_text(figures)


@pytest.fixture
def phone(chromium: Browser) -> Iterator[Page]:
    """A phone: narrow, and touched."""
    context = new_context(chromium, viewport=PHONE, has_touch=True, is_mobile=True)
    yield context.new_page()
    context.close()


def test_on_a_phone_cells_are_moved_by_touch(desk: BoardDesk, phone: Page) -> None:
    """A tap on a tile's button moves its cell. Nothing is wider than the screen, not even a long word: a
    table that is cut has a shadow where it is, and none at its end."""
    board = desk.board()
    tiles = arrange(phone, desk, board)
    tiles.nth(2).get_by_role("button", name="earlier").tap()
    expect(tiles.nth(1)).to_contain_text(TITLES[2])
    settled(phone)
    assert desk.parts() == ["headline", "leaderboard", "chart"]
    wide = {**WEEK, "fields": "imps~clicks~ctr~revenue", "split": f"{COUNTRY}~campaign_id"}
    word = BoardCell(part="text", width=4, text=LONG_WORD)
    desk.store.boards.change(board.id, [word, BoardCell(desk.view("Wide", wide).id, "table", 4)])
    phone.goto(f"{desk.address}/boards?board={board.id}")
    table = phone.locator("[class*=st-key-board_block_] .scroll")
    expect(table.locator("tr").nth(3)).to_be_visible()
    settled(phone)
    assert sideways(phone) == 0
    assert table.evaluate("node => node.scrollWidth > node.clientWidth + 50")
    cut = edge(table)
    table.evaluate("node => { node.scrollLeft = node.scrollWidth }")
    assert cut < edge(table) - 10


def edge(node: Locator) -> float:
    """How light the last pixels of a node are on its right, from 0 to 255."""
    image = Image.open(io.BytesIO(node.screenshot())).convert("L")
    return float(np.asarray(image)[:, -4:].mean())


def center(node: Locator) -> tuple[float, float]:
    """The middle of a node, in pixels of the window."""
    box = node.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def reach(page: Page, node: Locator, key: str = "Tab") -> None:
    """Press a key until the node has the focus."""
    for _ in range(40):
        if node.evaluate("node => node.getRootNode().activeElement === node"):
            return
        page.keyboard.press(key)
    raise AssertionError("The keyboard does not reach it")
