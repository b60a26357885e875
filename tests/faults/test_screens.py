"""The desk before services that fail: each screen says so, keeps what was asked, and recovers by itself."""

import re
from collections.abc import Callable
from itertools import cycle, product
from typing import Any

import boards
import pytest
from dealing import listed
from needs import NIGHTLY
from streamlit.testing.v1 import AppTest

from faults import behaviors as do
from faults.conftest import Desk
from faults.proxy import Behavior, Proxy

MOST = 100_000
UNREACHABLE = "The service can't be reached. Try again in a moment."
UNANSWERED = "The service did not answer in time. Try again in a moment."
UNREADABLE = "The service returned a response that can't be read. Try again, or tell whoever runs it."
TOO_LARGE = "The response is larger than Tranche accepts. Choose fewer days or a smaller split."
NOT_LET_IN = "The service rejected our credentials. Ask an administrator to check the token in the settings."
THROTTLED = "Too many requests; try again in 5 seconds."
FAULTS: dict[str, tuple[Behavior, str]] = {
    "silence": (do.silent, UNANSWERED),
    "a byte now and then": (do.dripping, UNANSWERED),
    "a byte of the head now and then": (do.dripping_head, UNANSWERED),
    "reset": (do.reset, UNREACHABLE),
    "reset within": (do.reset_within, UNREACHABLE),
    "cut off": (do.cut(20), UNREACHABLE),
    "502 page": (do.instead(502, do.HTML, do.PAGE), UNREACHABLE),
    "503": (do.instead(503, do.HTML, b"", retry_after="5"), UNREACHABLE),
    "429": (do.instead(429, do.HTML, do.PAGE, retry_after="5"), THROTTLED),
    "504 page": (do.instead(504, do.HTML, do.PAGE), UNANSWERED),
    "401 page": (do.instead(401, do.HTML, do.PAGE), NOT_LET_IN),
    "garbage": (do.instead(200, do.JSON, do.GARBAGE), UNREADABLE),
    "page": (do.instead(200, do.HTML, do.PAGE), UNREADABLE),
    "too large": (do.large(MOST), TOO_LARGE),
    "half of it": (do.changed(do.halved), UNREADABLE),
}
ASKED = {
    "start": "-14d", "end": "yesterday", "split": "campaign_id", "lower": "split", "is.geo.country": "US",
}  # fmt: skip
SOME = ("reset", "garbage", *(["silence"] if NIGHTLY else []))
"""What each screen meets. Silence, which takes seconds, is met once per service: it ends as reset does."""
LASTING = (TOO_LARGE, NOT_LET_IN)


def faults(*names: str) -> Callable[..., Any]:
    """Once per fault, as its behavior and the sentence that is to be said; all without names."""
    chosen = [pytest.param(*FAULTS[name], id=name) for name in names or FAULTS]
    return pytest.mark.parametrize(("behavior", "sentence"), chosen)


def faults_on(argument: str, cases: tuple[Any, ...], *names: str) -> Callable[..., Any]:
    """Each of these faults with one of the cases, in turn; nightly each with all.

    A fault is the same to every screen once a client has raised its error (test_clients.py).
    """
    pairs = product(names, cases) if NIGHTLY else zip(names, cycle(cases), strict=False)
    chosen = [pytest.param(*FAULTS[name], case, id=f"{name}-{case}") for name, case in pairs]
    return pytest.mark.parametrize(("behavior", "sentence", argument), chosen)


@pytest.fixture
def steady(desk: Desk) -> Desk:
    """A desk that takes no large answers, and asks on however often it fails."""
    desk.configure(max_answer_bytes=MOST)
    desk.unbreakable()
    return desk


def said(visit: AppTest) -> set[str]:
    """The failures on the screen."""
    return {error.value for error in visit.error}


def labels(visit: AppTest) -> list[str]:
    """All buttons."""
    return [button.label for button in visit.button]


def headings(visit: AppTest) -> list[str]:
    """All headings."""
    return [header.value for header in visit.header]


def try_again(desk: Desk, visit: AppTest) -> AppTest:
    """The screen after a click on the first such button."""
    next(button for button in visit.button if button.label == "Try again").click()
    return desk.run(visit)


def asked(visit: AppTest) -> dict[str, str]:
    """The question in the URL."""
    texts = {n: v if isinstance(v, str) else "".join(v[:1]) for n, v in visit.query_params.items()}
    return {name: text for name, text in texts.items() if text and name not in ("project", "slicer")}


def filled(visit: AppTest, name: str) -> AppTest:
    """The form New package with what it needs: a name, and no deals yet."""
    visit.button_group(key="np_deals").set_value("none")
    visit.text_input(key="np_name").set_value(name)
    return visit.run()


def shows_figures(visit: AppTest, screen: str) -> bool:
    """Whether the screen has what it is for."""
    if screen == "export":
        return any(button.label == "Download as CSV" for button in visit.get("download_button"))
    return bool(boards.headline(visit) if screen == "audience" else visit.metric)


@faults(*(FAULTS if NIGHTLY else ("silence", *SOME, "429", "401 page", "too large", "half of it")))
def test_figures_fail(steady: Desk, reports: Proxy, behavior: Behavior, sentence: str) -> None:
    """A failure of the reporting service is a sentence; the question is kept, and answered afterwards."""
    figures_fail(steady, reports, behavior, sentence, "audience")


@faults_on("screen", ("slicers", "export"), *SOME, "401 page")
def test_reports_fail(steady: Desk, reports: Proxy, behavior: Behavior, sentence: str, screen: str) -> None:
    """The same on the other screens that show figures."""
    figures_fail(steady, reports, behavior, sentence, screen)


def figures_fail(steady: Desk, reports: Proxy, behavior: Behavior, sentence: str, screen: str) -> None:
    """A screen comes to figures that fail, and then do not."""
    visit = steady.visit("access")
    reports.behavior = do.where(lambda request: not request.path.endswith("info"), behavior)
    steady.open(visit, screen, slicer="delivery", **ASKED)
    assert said(visit) == {f"{sentence} Your question is kept."}
    assert not shows_figures(visit, screen)
    if screen == "audience":
        assert boards.answer(visit)["error"]["sentence"] == sentence
    assert ("Try again" in labels(visit)) == (sentence not in LASTING)
    assert asked(visit) == ASKED
    reports.behavior = do.through
    steady.run(visit)
    assert shows_figures(visit, screen)
    assert (said(visit), asked(visit)) == (set(), ASKED)


@faults_on("screen", ("slicers", "audience", "export"), *SOME, "401 page")
def test_reports_are_dead_from_the_start(
    steady: Desk, reports: Proxy, behavior: Behavior, sentence: str, screen: str
) -> None:
    """Who comes while the service is down reads why there is no slicer, and has the figures once it is up."""
    reports.behavior = behavior
    visit = steady.visit(screen, slicer="delivery", **ASKED)
    assert said(visit) == {f"{sentence} Your question is kept in the address of this page."}
    assert visit.error[0].proto.title == "The slicer delivery of demo could not be loaded"
    reports.behavior = do.through
    if sentence not in LASTING:
        try_again(steady, visit)
        assert shows_figures(visit, screen)
        assert (said(visit), asked(visit)) == (set(), ASKED)


@faults(*SOME)
def test_the_other_screens(steady: Desk, reports: Proxy, behavior: Behavior, sentence: str) -> None:
    """While the reporting service is down, deals are listed, packages created and tokens made."""
    reports.behavior = behavior
    visit = steady.visit("deals", deals_kind="Packages")
    assert "Morning News" in listed(visit)
    assert said(visit) == set()
    assert any("The report is unavailable" in caption.value for caption in visit.caption)
    steady.open(visit, "new_package")
    assert said(visit) == {f"{sentence} What you entered is kept."}
    filled(visit, "Made without reports")
    visit.button(key="np_create_button").click()
    steady.run(visit)
    assert "is created as package" in visit.success[0].value
    steady.open(visit, "access")
    assert said(visit) == set()
    assert "Your tokens" in headings(visit)


@faults(*SOME)
def test_delivery_of_a_deal(steady: Desk, reports: Proxy, behavior: Behavior, sentence: str) -> None:
    """In a deal's drawer the delivery can't be had, all else can; it is there once the service is."""
    reports.behavior = behavior
    visit = steady.visit("deals", open="demand_deals-1")
    assert said(visit) == set()
    visit.button_group(key="drawer_shown").set_value("Delivery")
    steady.run(visit)
    assert said(visit) == {f"{sentence} Nothing was changed."}
    reports.behavior = do.through
    try_again(steady, visit)
    assert said(visit) == set()
    assert "Impressions" in {metric.label for metric in visit.metric}


@faults("silence", "reset", "garbage", "429", "401 page", "too large")
def test_deals_fail(steady: Desk, deals: Proxy, behavior: Behavior, sentence: str) -> None:
    """A failure of the deals service is a sentence on Deals, and on no screen that needs reports alone."""
    visit = steady.visit("access")
    deals.behavior = behavior
    steady.open(visit, "deals")
    assert said(visit) == {f"{sentence} Nothing was changed."}
    steady.open(visit, "audience", slicer="delivery", **ASKED)
    assert (said(visit), shows_figures(visit, "audience")) == (set(), True)
    steady.open(visit, "access")
    assert said(visit) == set()
    deals.behavior = do.through
    steady.open(visit, "deals")
    assert said(visit) == set()
    assert "Morning News - Alpha Buying" in listed(visit)


@faults(*SOME, "401 page")
def test_the_form_is_kept(steady: Desk, deals: Proxy, behavior: Behavior, sentence: str) -> None:
    """Where the lists of the form can't be had, it says so, and what was typed is there again afterwards."""
    visit = steady.visit("new_package")
    visit.text_input(key="np_name").set_value("Half typed")
    steady.run(visit)
    deals.behavior = behavior
    del visit.session_state["deals_catalog"]
    steady.run(visit)
    assert said(visit) == {f"{sentence} What you entered is kept."}
    deals.behavior = do.through
    steady.run(visit)
    assert (said(visit), visit.text_input(key="np_name").value) == (set(), "Half typed")


@faults(*SOME)
def test_what_was_read_before_stays(steady: Desk, deals: Proxy, behavior: Behavior, sentence: str) -> None:
    """Where the list can't be read again the one before stays, with a sentence; a click reads it again."""
    visit = steady.visit("deals", deals_kind="Packages")
    visit.session_state["deals_pages"].seconds = 0.0
    deals.behavior = behavior
    steady.run(visit)
    assert [warning.value for warning in visit.warning] == [f"{sentence} What you see was loaded earlier."]
    assert "Morning News" in listed(visit)
    deals.behavior = do.through
    try_again(steady, visit)
    assert not visit.warning


@faults_on("honors_keys", (False, True), "silence", "reset", "garbage", "too large")
def test_a_package_that_may_be_there(
    desk: Desk, deals: Proxy, behavior: Behavior, sentence: str, honors_keys: bool
) -> None:
    """Where nobody knows whether it was created the form says so, and stays; the next click creates it.

    Where that could be a second one, it is a click of somebody who says that there is none.
    """
    desk.configure(max_answer_bytes=MOST, deals_keys=honors_keys)
    visit = filled(desk.visit("new_package"), f"Perhaps {honors_keys}")
    deals.behavior = do.where(lambda request: request.method == "POST", behavior)
    visit.button(key="np_create_button").click()
    desk.run(visit)
    advice = (
        "What you entered is kept. You can retry: it won't be created twice."
        if honors_keys
        else "check the service and Deals before you retry. What you entered is kept."
    )
    assert next(iter(said(visit))).replace("\\", "").endswith(advice)
    assert visit.text_input(key="np_name").value == f"Perhaps {honors_keys}"
    tries = deals.paths().count("/api/supply_deals/") - len([a for a in deals.asked if a.method == "GET"])
    assert tries <= (3 if honors_keys else 1)
    deals.behavior = do.through
    assert visit.button(key="np_create_button").disabled is not honors_keys
    if not honors_keys:
        visit.checkbox(key="np_sure").check()
        desk.run(visit)
    visit.button(key="np_create_button").click()
    desk.run(visit)
    assert "is created as package" in visit.success[0].value


def test_a_clone_that_may_be_there(desk: Desk, deals: Proxy) -> None:
    """Where no keys are honored, a clone without an answer is asked for again by who has looked alone."""
    desk.configure(deals_keys=False)
    visit = desk.visit("deals", open="demand_deals-4")
    visit.session_state["action_clone"] = True
    visit.run()
    visit.selectbox(key="clone-4-seat").set_value(3)
    desk.run(visit)
    deals.behavior = do.where(lambda request: request.method == "POST", do.reset)
    visit.button(key="clone_create").click()
    desk.run(visit)
    assert "check the service and Deals before you retry" in next(iter(said(visit)))
    assert visit.button(key="clone_create").disabled
    deals.behavior = do.through
    visit.checkbox(key="clone-4-sure").check()
    desk.run(visit)
    visit.button(key="clone_create").click()
    desk.run(visit)
    assert said(visit) == set()
    assert visit.query_params["open"] != ["demand_deals-4"]


@faults(*SOME)
def test_a_service_that_dies_under_the_form(
    steady: Desk, deals: Proxy, behavior: Behavior, sentence: str
) -> None:
    """A click on Create while the lists can't be read is a sentence too, and nothing was created."""
    visit = filled(steady.visit("new_package"), "Under the form")
    del visit.session_state["deals_catalog"]
    deals.behavior = behavior
    visit.button(key="np_create_button").click()
    steady.run(visit)
    assert "POST" not in {request.method for request in deals.asked}
    assert said(visit) == {f"{sentence} What you entered is kept."}
    deals.behavior = do.through
    steady.run(visit)
    assert visit.text_input(key="np_name").value == "Under the form"


@faults("silence", "reset", "page")
def test_a_change_that_may_be_saved(steady: Desk, deals: Proxy, behavior: Behavior, sentence: str) -> None:
    """An edit in the drawer stays typed when the service fails, with the doubt said; then it is saved."""
    visit = steady.visit("deals", open="demand_deals-2")
    visit.button_group(key="drawer_shown").set_value("Change").run()
    name, save = "change-demand_deals-2-name", "change-demand_deals-2-_save"
    visit.text_input(key=name).set_value(f"Renamed {sentence}"[:60]).run()
    deals.behavior = do.where(lambda request: request.method == "PUT", behavior)
    visit.button(key=save).click()
    steady.run(visit)
    assert any("It may have been saved; what you typed is still here." in s for s in said(visit))
    assert visit.text_input(key=name).value == f"Renamed {sentence}"[:60]
    deals.behavior = do.through
    visit.button(key=save).click()
    steady.run(visit)
    assert said(visit) == set()


@faults_on("section", ("Facts", "Change", "History"), *SOME, "502 page")
def test_the_drawer(steady: Desk, deals: Proxy, behavior: Behavior, sentence: str, section: str) -> None:
    """A drawer that can't be read is a sentence, and is back, at its section, once it can be."""
    visit = steady.visit("deals", open="supply_deals-1")
    visit.button_group(key="drawer_shown").set_value(section).run()
    if section == "Change":
        visit.text_input(key="change-supply_deals-1-name").set_value("Half typed").run()
    deals.behavior = behavior
    del visit.session_state["deals_catalog"]
    steady.run(visit)
    assert {sentence in text for text in said(visit)} == {True}
    deals.behavior = do.through
    steady.run(visit)
    assert said(visit) == set()
    assert visit.button_group(key="drawer_shown").value == section
    if section == "Change":
        assert visit.text_input(key="change-supply_deals-1-name").value == "Half typed"


@faults_on("screen", ("audience", "deals"), "silence", "reset", "502 page", "429", "garbage")
def test_tokens_fail(
    desk: Desk, tokens: Proxy, temporary: dict[str, object], behavior: Behavior, sentence: str, screen: str
) -> None:
    """Without a token service the screens that need one say so, Access works, and all is well once it is."""
    desk.configure(**temporary)
    desk.unbreakable()
    tokens.behavior = behavior
    visit = desk.visit(screen, slicer="delivery")
    assert {text.startswith(sentence) or "token service asks" in text for text in said(visit)} == {True}
    desk.open(visit, "access")
    assert (said(visit), "Your tokens" in headings(visit)) == (set(), True)
    tokens.behavior = do.through
    desk.open(visit, screen, slicer="delivery")
    try_again(desk, visit) if said(visit) else None
    assert said(visit) == set()
    assert shows_figures(visit, screen) if screen == "audience" else listed(visit)


def test_a_desk_that_is_not_let_in(desk: Desk, tokens: Proxy, temporary: dict[str, object]) -> None:
    """Where the settings' name or password are refused, everybody is told to tell an administrator."""
    desk.configure(**temporary)
    tokens.behavior = do.instead(401, do.JSON, b'{"error": "invalid_grant"}')
    visit = desk.visit("audience", slicer="delivery")
    assert said(visit) == {f"{NOT_LET_IN} Your question is kept in the address of this page."}
    assert "Try again" not in labels(visit)
    desk.open(visit, "deals")
    assert said(visit) == {f"{NOT_LET_IN} Nothing was changed."}


def test_the_breaker(desk: Desk, reports: Proxy) -> None:
    """A service that failed several times is not asked, and the screen says when it will be."""
    visit = desk.visit("access", slicer="delivery")
    reports.behavior = do.reset
    desk.open(visit, "audience", slicer="delivery", **ASKED)
    before = len(reports.asked)
    desk.run(visit)
    said_so = r"The reporting service does not answer and is retried in \d+ seconds\. Your question is kept"
    assert all(re.match(said_so, text) for text in said(visit))
    assert len(reports.asked) == before
    reports.behavior = do.through
    desk.wake()
    desk.run(visit)
    assert (said(visit), shows_figures(visit, "audience")) == (set(), True)
