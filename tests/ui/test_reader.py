"""What readers choose for themselves: how figures are written, and the time zone of new questions."""

import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import boards
import downloads
import pytest
from opening import Popover, of_delivery
from streamlit.testing.v1 import AppTest

from lib.figures import context, numbers
from lib.figures.numbers import Numbers
from lib.figures.overview.overview_answers import OverviewAnswers
from lib.figures.query import state
from lib.people import Person
from lib.reporting.models import InfoQuery
from lib.serving import connect
from lib.serving.front import overview_route
from lib.settings import Settings
from lib.slicers import zones
from lib.slicers.models import Slicer
from lib.ui.kit import reader
from lib.ui.query import dates_picker
from lib.wire.deadline import Deadline

BERLIN = "Europe/Berlin"
ABOUT = ("demo", "delivery")
MANAGER = Person("manager", "Max Manager", None, "admin")
Choose = Callable[..., None]


@pytest.fixture
def choose(home: Path, monkeypatch: pytest.MonkeyPatch) -> Choose:
    """Chooses as the menu of the person does, whose cookies AppTest can't have."""
    monkeypatch.setenv("TRANCHE_HOME", str(home))

    def chosen(numbers: str = "", zone: str = "") -> None:
        monkeypatch.setattr(reader, "language", lambda: numbers)
        monkeypatch.setattr(reader, "own_zone", lambda: zone)

    return chosen


@pytest.fixture(scope="module")
def slicer(settings: Settings) -> Slicer:
    """What the slicer of the small demo is."""
    reporting = connect.connect(MANAGER, settings).reporting
    return reporting.info(InfoQuery(project_name=ABOUT[0], slicer_name=ABOUT[1]))


def figures(desk: AppTest) -> list[str]:
    """The texts of the headline."""
    return [figure["text"] for figure in boards.head(desk)["figures"]]


@pytest.mark.parametrize(("language", "text"), numbers.FORMATS.items())
def test_a_choice_is_named_by_what_it_does(language: str, text: str) -> None:
    """Each way to write numbers is shown as a number that is written so."""
    assert Numbers.of(language).number(1234.5, 1) == text


@pytest.mark.parametrize("cookie", ["", "xx", "EN", "de-AT", "<b>", "e" * 4000])
def test_a_cookie_that_is_no_way_to_write_numbers_is_none(cookie: str) -> None:
    """What a cookie holds is one of the languages that the menu offers, or nothing."""
    assert numbers.read_language(cookie) == ""


@pytest.mark.parametrize("cookie", ["", "Nowhere/Land", "../../etc/passwd", "UTC", "<b>", "%zz", "5"])
def test_a_cookie_that_is_no_zone_is_none(cookie: str) -> None:
    """What a cookie holds is a zone of the IANA database, or nothing."""
    assert context.read_zone(cookie) == ""
    assert context.read_zone(quote(BERLIN, safe="")) == BERLIN


def test_the_route_of_figures_reads_the_cookies() -> None:
    """They hold over what the request says itself, and a request without any is in the browser's language."""
    body = json.dumps(
        {"project": "demo", "slicer": "delivery", "locale": "en-US", "zone": "Asia/Tokyo"}
    ).encode()
    request = overview_route.read(body, "fr", {"numbers": "de", "zone": "Europe%2FBerlin"})
    assert (numbers.read_language(request.numbers), context.read_zone(request.zone)) == ("de", BERLIN)
    assert (overview_route.read(body).locale, overview_route.read(body).zone) == ("en-US", "")


def test_a_new_question_is_in_the_readers_zone(slicer: Slicer) -> None:
    """A link that asks nothing is; one that asks something is in its own zone, or the slicer's."""
    assert state.from_params({}, slicer, *ABOUT, BERLIN).query.timezone == BERLIN
    assert state.from_params({"start": "-3d"}, slicer, *ABOUT, BERLIN).query.timezone is None
    assert state.from_params({"tz": "Asia/Tokyo"}, slicer, *ABOUT, BERLIN).query.timezone == "Asia/Tokyo"


@pytest.mark.parametrize("changes", [{"supports_timezone": 0}, {"extensions": ()}])
def test_a_slicer_without_such_zones_keeps_its_own(slicer: Slicer, changes: dict[str, object]) -> None:
    """Rows of days have one zone, and a service that doesn't know names of zones isn't asked for one."""
    other = slicer.model_copy(update=changes)
    assert state.from_params({}, other, *ABOUT, BERLIN).query.timezone is None


def test_page_and_route_ask_in_the_same_zone(choose: Choose, settings: Settings) -> None:
    """The link says it, the overview first shows the figures of that link, and undo leads there."""
    choose(zone="Asia/Tokyo")
    desk = of_delivery(lower="cards")
    assert boards.asked(desk)["params"]["tz"] == "Asia/Tokyo"
    about = {"project": ABOUT[0], "slicer": ABOUT[1], "parts": ["head"]}
    request = overview_route.read(json.dumps(about).encode(), "en", {"zone": "Asia%2FTokyo"})
    lines = OverviewAnswers(settings).lines(request, MANAGER, Deadline(60))
    head = [line for line in lines if line["part"] == "head"][-1]
    assert head["params"]["tz"] == "Asia/Tokyo"
    assert [figure["text"] for figure in head["head"]["figures"]] == figures(desk)
    boards.click(desk, "leaderboards", ["add", [["geo.country", "US"]]])
    boards.click(desk, "leaderboards", ["undo"])
    assert boards.asked(desk)["params"]["tz"] == "Asia/Tokyo"


def test_the_slicers_own_zone_can_still_be_chosen(choose: Choose, slicer: Slicer) -> None:
    """It is then named in the question, which would else be in the reader's."""
    choose(zone="Asia/Tokyo")
    desk = Popover(dates_picker.DATES).opened(of_delivery(lower="cards"))
    picker = next(box for box in desk.selectbox if str(box.key).startswith(dates_picker.ZONE))
    picker.set_value(slicer.timezone).run()
    assert boards.asked(desk)["params"]["tz"] == str(slicer.timezone)


def test_figures_are_written_as_chosen_and_files_are_not(
    choose: Choose, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Marks of thousands and decimals are those chosen, on screen alone."""
    files = downloads.kept(monkeypatch)
    texts = {}
    for language in ("en", "de"):
        choose(numbers=language)
        Popover("leaderboards_download").opened(of_delivery(lower="cards"))
        texts[language] = [metric.value for metric in of_delivery("slicers").metric], files["chart"]()
    swap = str.maketrans(",.", ".,")
    assert [text.translate(swap) for text in texts["en"][0]] == texts["de"][0]
    assert texts["en"][0] != texts["de"][0]
    assert texts["en"][1] == texts["de"][1]


def test_a_zone_is_found_by_its_city() -> None:
    """Zones are listed by their cities, each with where it is and its offset."""
    titles = [*zones.by_city().values()]
    assert len({*titles}) == len(titles) == len(zones.names())
    assert titles == sorted(titles, key=lambda title: title.partition(",")[0])
    assert "Kolkata, Asia · UTC+5:30" in titles
    assert "Buenos Aires, America, Argentina · UTC-3" in titles
