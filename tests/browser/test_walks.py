"""Random walks with a mouse over Audience: after each, the screen is the answer to the question in its link.

That such an answer is the API's is for tests/ui/test_walks.py.
"""

from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest
from playwright.sync_api import Error, Page

from browser.conftest import enter, settled
from browser.test_overview import QUIET
from lib.figures.overview.overview_answers import OverviewAnswers
from lib.figures.query import state
from lib.serving import connect
from lib.serving.front.overview_route import OverviewRequest
from lib.settings import Settings
from lib.wire.deadline import Deadline

WALKS, DRAWS = 10, 8
CLICKS = (
    "[data-card] tr.row .include", "[data-card] tr.row .include", "[data-card] tr.row .exclude",
    "[data-card] tr.row .line", "[data-card] thead button", ".fig .show", ".grains button",
    ".st-key-question_undo button", ".st-key-question_redo button", "[role=tab]",
    "[data-table=split] .include", "[data-table=split] thead button", "[data-table=moved] .include",
)  # fmt: skip
CELLS = """() => Object.fromEntries(
  [...trancheOverview.host.shadowRoot.querySelectorAll("[data-card] tr.row td[data-column]")].map(cell => [
    [
      cell.closest("[data-card]").dataset.card,
      JSON.parse(cell.closest("tr").dataset.row.slice(3))[0][1],
      cell.dataset.column,
    ].join("|"),
    cell.querySelector(".value").textContent,
  ]))"""
FIGURES = """() => Object.fromEntries([...trancheOverview.host.shadowRoot.querySelectorAll(".fig")].map(
  figure => [figure.dataset.name, figure.querySelector(".fig-value").textContent]))"""


@pytest.mark.parametrize("seed", range(WALKS))
def test_the_screen_answers_its_link(home: Path, address: str, page: Page, seed: int) -> None:
    """Clicks, drags, Back and reloads, some before the last is drawn, end at the figures of the link."""
    draw = np.random.default_rng(seed)
    enter(page, f"{address}/audience?project=demo&slicer=delivery")
    trail = [step(page, draw) for _ in range(DRAWS)]
    settled(page)
    page.wait_for_function(QUIET)
    assert not differences(page, home), (seed, trail, page.url)


def differences(page: Page, home: Path) -> list[tuple[str, str | None, str | None]]:
    """The figures and cells on screen that are others than the link's: what, as shown, as expected."""
    link = params_of(page)
    params = {name: text for name, text in link.items() if state.is_state_param(name)}
    settings = Settings(home=home, demo=True)
    about = {name: link[name] for name in state.SLICER_PARAMS}
    request = OverviewRequest(**about, params=params, parts=["head", "cards"], locale="en-US")
    person = connect.installation(settings).people.get("manager")
    _, parts = OverviewAnswers(settings).finish(request, person, Deadline(60))
    shown = page.evaluate(FIGURES) | page.evaluate(CELLS)
    assert shown, "no figure was found on screen"
    expected = {figure["name"]: figure["text"] for figure in parts["head"]["figures"]}
    expected |= {
        "|".join((card["id"], row["values"][0][1], column["id"])): cell["text"]
        for card in parts["cards"]
        for row in card["rows"]
        if row["kind"] == "row"
        for column, cell in zip(card["columns"], row["cells"], strict=True)
    }
    return [(key, shown[key], expected.get(key)) for key in shown if shown[key] != expected.get(key)]


def params_of(page: Page) -> dict[str, str]:
    """The parameters of the page's address, those without a text too: a filter on "(not set)" is one."""
    return dict(parse_qsl(urlsplit(page.url).query, keep_blank_values=True))


def step(page: Page, draw: np.random.Generator) -> str:
    """One act of a person, as far as what it is about is in sight; then a pause, or none."""
    act = str(draw.choice(["click"] * 8 + ["drag", "back", "reload"]))
    selector = str(draw.choice(CLICKS))
    try:
        if act == "back":
            if any(map(state.is_state_param, params_of(page))):  # else it would leave the walk
                page.go_back(wait_until="commit")
        elif act == "reload":
            page.reload(wait_until="commit")
        elif act == "drag":
            box = page.locator(".tranche-overview .chart").bounding_box()
            if box:
                first, last = sorted(draw.uniform(0.1, 0.8, 2))
                page.mouse.move(box["x"] + first * box["width"], box["y"] + box["height"] / 2)
                page.mouse.down()
                page.mouse.move(box["x"] + last * box["width"], box["y"] + box["height"] / 2, steps=4)
                page.mouse.up()
        else:
            locator = page.locator(selector)
            if count := locator.count():
                locator.nth(int(draw.integers(count))).click(timeout=1_500)
    except Error:  # covered, disabled, or drawn anew under the pointer: a person would have missed it too
        return f"missed {act} {selector}"
    if draw.random() < 0.5:
        settled(page)
    return f"{act} {selector}" if act == "click" else act
