"""The board in a browser: clicks in any order and at any speed are shown and kept, and nothing moves."""

import math
import random
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pandas as pd
import pytest
from conftest import LAST_DAY, small_rows
from needs import NIGHTLY
from playwright.sync_api import Locator, Page, Route, expect

from browser.conftest import enter, settled, sideways
from browser.distance import far_away

QUIET = (
    "() => globalThis.trancheBoard?.root.getAttribute('aria-busy') === 'false' && !trancheBoard.outbox.length"
)
CONTROLS = ".show, thead button, .include, .exclude, .line, .lines:not([hidden])"
CLICKS, QUIET_EVERY, PRESSES, DOUBLE_PIXELS = 100 if NIGHTLY else 40, 10, (0, 0, 40, 40, 400), 10


@pytest.fixture
def board(address: str, page: Page) -> Page:
    """The Audience page with its usual question about the slicer delivery, once it stands still."""
    enter(page, f"{address}/audience?project=demo&slicer=delivery")
    quiet(page)
    return page


@pytest.fixture(scope="module")
def week() -> pd.DataFrame:
    """The rows of the slicer delivery in the last seven complete days."""
    rows = small_rows(seed=0).to_pandas().fillna({"geo.country": ""})
    return rows[rows["time"].dt.date > LAST_DAY - pd.Timedelta(days=7).to_pytimedelta()]


def quiet(page: Page) -> None:
    """Wait until the board awaits nothing and Streamlit has taken all acts."""
    page.wait_for_function(QUIET)
    settled(page)
    page.wait_for_function(QUIET)


def value(page: Page, name: str) -> Locator:
    """The button of a value in its leaderboard."""
    return page.locator(".tranche-board").get_by_role("button", name=name, exact=True)


def figure(page: Page, name: str = "imps") -> str:
    """The text of a figure of the headline."""
    return page.locator(f".fig[data-name={name}] .fig-value").inner_text()


def asked(page: Page) -> dict[str, str]:
    """The URL's parameters."""
    return dict(parse_qsl(urlsplit(page.url).query, keep_blank_values=True))


def answer(page: Page) -> dict[str, Any]:
    """The figures that the route gives for the question of the URL."""
    found: dict[str, Any] = page.evaluate(
        """async ({project, slicer, ...params}) => {
            const body = JSON.stringify({project, slicer, params, locale: navigator.language})
            const answer = await fetch(new URL("board/answer", trancheServer), {method: "POST", body})
            return Object.assign({}, ...(await answer.text()).trim().split("\\n").map(JSON.parse))
        }""",
        asked(page),
    )
    return found


def expect_answer(page: Page) -> None:
    """The figures and tables on the screen are those of the URL's question."""
    found = answer(page)
    assert page.locator(".fig-value").all_inner_texts() == [one["text"] for one in found["head"]["figures"]]
    shown = page.locator(".board.cards tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.querySelectorAll('.value')].map(value => value.textContent))"
    )
    assert shown == [
        [cell["text"] for cell in row["cells"]] for table in found["cards"] for row in table["rows"]
    ]


def rows_of(rows: pd.DataFrame, params: dict[str, str]) -> pd.DataFrame:
    """The rows that the filters of a URL keep."""
    for name, text in params.items():
        kind, _, field = name.partition(".")
        if kind in ("is", "not"):
            is_there = rows[field].astype(str).isin(text.split("~"))
            rows = rows[is_there if kind == "is" else ~is_there]
    return rows


AIM = """([chance, controls]) => {
    const isInert = (one) => !one.getClientRects().length || one.matches("[data-act][aria-pressed=true]")
    const there = [...trancheBoard.root.querySelectorAll(controls)].filter(one => !isInert(one))
    const chosen = there[Math.floor(chance * there.length)]
    chosen.scrollIntoView({block: "center"})
    const {x, y, width, height} = chosen.getBoundingClientRect()
    const [left, top] = [x + width / 2, y + height / 2]
    window.pressed = trancheBoard.host.shadowRoot.elementFromPoint(left, top)
    return [trancheBoard.cards.number, left, top]
}"""
HOLDS_STILL = """([number, left, top]) => {
    const under = trancheBoard.host.shadowRoot.elementFromPoint(left, top)
    return pressed === under && trancheBoard.cards.number === number
}"""


@pytest.fixture
def far_board(address: str, page: Page) -> Iterator[Page]:
    """The same page, 150 ms away."""
    with far_away(address) as distant:
        enter(page, f"{distant}/audience?project=demo&slicer=delivery")
        quiet(page)
        yield page


def test_random_clicks(far_board: Page, week: pd.DataFrame) -> None:
    """Of many clicks from afar, short and long, none is lost, and nothing moves under the pointer while it is
    down; the figures are those of the rows, and the tables the API's."""
    chance = random.Random(5)  # noqa: S311
    last = (0.0, 0.0)
    for place in range(CLICKS):
        number, *point = far_board.evaluate(AIM, [chance.random(), CONTROLS])
        while math.dist(point, last) < DOUBLE_PIXELS:  # a double click counts once
            number, *point = far_board.evaluate(AIM, [chance.random(), CONTROLS])
        last = tuple(point)
        far_board.mouse.move(*point)
        far_board.mouse.down()
        far_board.wait_for_timeout(chance.choice(PRESSES))
        assert far_board.evaluate(HOLDS_STILL, [number, *point])
        far_board.mouse.up()
        assert far_board.evaluate("trancheBoard.cards.number") == number + 1
        if place % QUIET_EVERY == QUIET_EVERY - 1:
            quiet(far_board)
            expect_answer(far_board)
            assert figure(far_board) == f"{rows_of(week, asked(far_board))['imps'].sum():,.0f}"


def test_a_press_is_a_click(board: Page) -> None:
    """What is pressed counts once, though its row goes before the release; a press that leaves doesn't."""
    number = board.evaluate("trancheBoard.cards.number")
    for leave, expected in ((40, number), (2, number + 1)):
        row = value(board, "Germany")
        box = row.bounding_box()
        assert box is not None
        board.mouse.move(box["x"] + 20, box["y"] + 8)
        board.mouse.down()
        row.evaluate("row => row.closest('tr').remove()")
        board.mouse.move(box["x"] + 20, box["y"] + 8 + leave)
        board.mouse.up()
        assert board.evaluate("trancheBoard.cards.number") == expected
        board.reload()
        quiet(board)


def test_two_clicks_at_once(board: Page, week: pd.DataFrame) -> None:
    """Clicks within 50 ms are all kept, in their order: each is a step to undo, also back and forth."""
    for name in ("Germany", "France"):
        value(board, name).dispatch_event("click")
    quiet(board)
    assert asked(board)["is.geo.country"] in ("DE~FR", "FR~DE")
    both = week[week["geo.country"].isin(["DE", "FR"])]
    assert figure(board) == f"{both['imps'].sum():,.0f}"
    board.locator(".st-key-question_undo button").first.click()
    quiet(board)
    assert asked(board)["is.geo.country"] == "DE"
    assert figure(board) == f"{week[week['geo.country'] == 'DE']['imps'].sum():,.0f}"
    board.evaluate(
        """() => ["redo", "undo", "undo", "redo", "redo", "undo"]
            .forEach(name => document.querySelector(`.st-key-question_${name} button`).click())"""
    )
    quiet(board)
    assert asked(board)["is.geo.country"] == "DE"
    assert figure(board) == f"{week[week['geo.country'] == 'DE']['imps'].sum():,.0f}"


def test_a_click_while_streamlit_runs(board: Page) -> None:
    """A click during a run of the page that another click began is shown and kept as well."""
    value(board, "Germany").click()
    board.wait_for_function("() => document.querySelector('[data-test-script-state=running]') !== null")
    board.get_by_role("button", name="Show Clicks").click()
    quiet(board)
    assert (asked(board)["is.geo.country"], asked(board)["field"]) == ("DE", "clicks")
    expect_answer(board)


def test_undo_then_a_click(board: Page) -> None:
    """Undo shows the question before at once, and a click right after it goes on from there."""
    usual = figure(board)
    value(board, "Germany").click()
    quiet(board)
    board.locator(".st-key-question_undo button").first.click()
    expect(board.locator(".fig[data-name=imps] .fig-value")).to_have_text(usual)
    value(board, "France").click()
    quiet(board)
    assert asked(board)["is.geo.country"] == "FR"
    expect_answer(board)


def test_a_click_survives_a_reload(board: Page) -> None:
    """A click is in the address as it is made: a page that is loaded again in that instant shows it."""
    code = """code => {
        const { shadowRoot } = trancheBoard.host
        const card = shadowRoot.querySelector("[data-card='geo.country']")
        for (const name of card.querySelectorAll(".row .include")) if (name.ariaLabel === code) name.click()
        location.reload()
    }"""
    with board.expect_event("load"):
        board.evaluate(code, "Germany")
    quiet(board)
    expect(value(board, "Germany")).to_have_attribute("aria-pressed", "true")
    assert "acts" not in asked(board)
    with board.expect_event("load"):
        board.evaluate(
            "() => (document.querySelector('.st-key-question_undo button').click(), location.reload())"
        )
    quiet(board)
    expect(value(board, "Germany")).to_have_attribute("aria-pressed", "false")
    assert "acts" not in asked(board)
    board.go_back()
    quiet(board)
    expect(value(board, "Germany")).to_have_attribute("aria-pressed", "true")


def test_back_shows_the_question_before(board: Page) -> None:
    """The browser's Back leads Streamlit to another question, and the board follows."""
    usual = figure(board)
    value(board, "Germany").click()
    quiet(board)
    board.go_back()
    expect(board.locator(".fig[data-name=imps] .fig-value")).to_have_text(usual)
    quiet(board)
    expect_answer(board)


PLACES = """() => {
    const outside = ['frame', 'dates', 'compare', 'filter_add', 'question_undo', 'saved_views', 'share']
    const inside = ['.heads', '.tools', '.chart', '.foot', '.tabs']
    const nodes = [...outside.map(name => document.querySelector(`.st-key-${name}`)),
        ...inside.map(part => trancheBoard.root.querySelector(part))]
    const places = nodes.map(node => node.getBoundingClientRect())
    return places.map(({x, y, height}) => [x, y, height].map(Math.round))
}"""


MANY = (
    "is.geo.country=US~FR~DE&not.campaign_id=2&has.geo.country=e&not.categories=sport&has.campaign_id=1"
    "&any.is.geo.country=US&any.is.campaign_id=1&having=imps~ge~10"
)
UNREADABLE = """() => [...document.querySelectorAll(".st-key-filter_pills .stPopover p")].filter(label => {
    label.scrollIntoView({block: "center"})
    const {left, right, top, bottom} = label.getBoundingClientRect()
    const isCut = label.scrollWidth > label.clientWidth + 1 || left < 0 || right > innerWidth
    const atTop = document.elementFromPoint((left + right) / 2, (top + bottom) / 2)
    return isCut || !label.closest("button").contains(atTop)
}).map(label => label.textContent)"""


def test_filters_come_and_go(board: Page) -> None:
    """The first filters stand on a line that is there without them: they move nothing."""
    before = board.evaluate(PLACES)
    for name in ("Germany", "France", "1"):
        value(board, name).click()
        quiet(board)
        assert board.evaluate(PLACES) == before
    board.locator(".st-key-filters_clear button").first.click()
    quiet(board)
    assert board.evaluate(PLACES) == before


@pytest.mark.parametrize("width", [1440, 390])
def test_every_filter_can_be_read(board: Page, width: int, week: pd.DataFrame) -> None:
    """However many they are, filters take the lines that they need: none is cut, folded away or covered, and
    the last can be removed by the keyboard, after which the figures are those of the others."""
    board.set_viewport_size({"width": width, "height": 900})
    board.goto(f"{board.url}&{MANY}")
    quiet(board)
    pills = board.locator(".st-key-filter_pills .stPopover button p")
    expect(pills).to_have_count(7)
    board.wait_for_function(f"() => !({UNREADABLE})().length")  # once the board of the link has its place
    assert sideways(board) == 0
    board.goto(
        f"{board.url.partition('?')[0]}?project=demo&slicer=delivery&is.geo.country=US~DE&not.campaign_id=2"
    )
    quiet(board)
    board.locator(".st-key-filter_pills").get_by_role("button", name="Campaign is not 2").press("Enter")
    board.get_by_test_id("stPopoverBody").get_by_role("button", name="Remove", exact=True).press("Enter")
    rows = week[week["geo.country"].isin(["US", "DE"])]
    expect(board.locator(".fig[data-name=imps] .fig-value")).to_have_text(f"{rows['imps'].sum():,.0f}")


def test_the_tab_in_sight_alone_is_asked(board: Page) -> None:
    """Below the chart is one tab, kept in the link; each asks for its figures once it is in sight."""
    asked_parts: list[list[str]] = []
    board.on(
        "request",
        lambda one: "board/answer" in one.url and asked_parts.append(one.post_data_json.get("parts")),
    )
    board.get_by_role("button", name="Split", exact=True).click()
    quiet(board)
    assert asked(board)["lower"] == "split"
    assert asked_parts == [["split"]]
    expect(board.locator(".board.cards")).to_be_hidden()
    board.locator(".st-key-split_rows").get_by_role("button", name="Germany", exact=True).click()
    quiet(board)
    assert asked_parts[1:] == [["split"], ["head"]]
    board.get_by_role("button", name="Leaderboards").click()
    quiet(board)
    assert asked_parts[3:] == [["cards"]]
    expect(board.locator(".st-key-split_rows")).to_have_count(0)
    expect_answer(board)


@pytest.fixture
def failing(board: Page) -> Iterator[list[int]]:
    """Requests to the route fail with the first of these status codes, while there is one."""
    codes: list[int] = []

    def respond(route: Route) -> None:
        if not codes:
            return route.continue_()
        return route.fulfill(status=codes[0], json={"detail": "The service is away."})

    board.route("**/board/answer", respond)
    yield codes
    board.unroute("**/board/answer")


def test_a_failure_says_its_sentence(board: Page, failing: list[int]) -> None:
    """A failed answer says why, the click is kept, and another try shows its figures."""
    failing.append(403)
    value(board, "Germany").click()
    expect(board.get_by_role("alert").filter(has_text="The service is away.")).to_be_visible()
    board.wait_for_url(re.compile("is.geo.country=DE"))
    quiet(board)  # once Streamlit has taken the click, the board asks, and fails, by itself
    failing.clear()
    board.get_by_role("button", name="Try again").click()
    quiet(board)
    expect(board.get_by_role("alert").filter(has_text="The service is away.")).to_be_hidden()
    expect_answer(board)


def test_what_may_pass_is_tried_again(board: Page, failing: list[int]) -> None:
    """A service that was away for a moment needs no click."""
    failing.append(503)
    value(board, "Germany").click()
    expect(board.get_by_role("alert").filter(has_text="The service is away.")).to_be_visible()
    failing.clear()
    expect(board.get_by_role("alert").filter(has_text="The service is away.")).to_be_hidden()
    quiet(board)
    expect_answer(board)


def test_whoever_is_signed_out_sees_nothing(board: Page, failing: list[int]) -> None:
    """An answer that nobody is signed in clears figures and tables at once."""
    failing.append(401)
    value(board, "Germany").click()
    expect(board.locator(".fig-value")).to_have_count(0)
    expect(board.locator(".board.cards tr")).to_have_count(0)


def test_the_chart_by_keyboard(board: Page) -> None:
    """Arrows say the values of the chart's days; with Shift they choose days, and Enter zooms to them."""
    chart = board.locator(".chart")
    chart.focus()
    board.keyboard.press("ArrowRight")
    expect(board.locator(".tip")).to_be_visible()
    board.keyboard.press("Shift+ArrowRight")
    board.keyboard.press("Shift+ArrowRight")
    expect(board.locator(".days")).to_be_visible()
    board.keyboard.press("Enter")
    quiet(board)
    first = LAST_DAY - pd.Timedelta(days=6).to_pytimedelta()
    last = LAST_DAY - pd.Timedelta(days=4).to_pytimedelta()
    assert (asked(board)["start"], asked(board)["end"]) == (first.isoformat(), last.isoformat())
    board.get_by_role("button", name="Zoom out").click()
    quiet(board)
    assert "zoom" not in asked(board)


def test_a_brush_zooms(board: Page) -> None:
    """A drag over the chart says the days under it, and leads to them."""
    box = board.locator(".chart").bounding_box()
    assert box is not None
    board.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 80)
    board.mouse.down()
    board.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 80)
    expect(board.locator(".days")).to_be_visible()
    board.mouse.up()
    quiet(board)
    assert "zoom" in asked(board)
    expect_answer(board)
