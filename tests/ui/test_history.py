"""Undo and redo: the steps of a page's state as values, and as buttons of the question bar."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boards
import pytest
from conftest import COUNTRIES, DEFINITION, small_rows
from opening import DESK, menu, of_delivery, opened
from streamlit.testing.v1 import AppTest

from lib.figures.context import RequestContext
from lib.slicers.warehouse import Warehouse
from lib.ui.kit.frame import CONTEXT
from lib.ui.query import history
from lib.ui.query.history import MOST_STEPS, Steps

A, B, C, D = ({"split": name} for name in "ABCD")


@pytest.fixture
def desk(home: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The Audience page with its usual question about the slicer delivery."""
    monkeypatch.setenv("TRANCHE_HOME", str(home))
    delivery = of_delivery()
    assert not delivery.exception
    return delivery


def press(desk: AppTest, label: str) -> AppTest:
    """Press Undo, Redo or Reset, which is in the menu More."""
    menu("Metrics").opened(desk)
    desk.button(key=f"question_{label}").click().run()
    assert not desk.exception
    return desk


def possible(desk: AppTest) -> set[str]:
    """Which of the buttons can be pressed."""
    menu("Metrics").opened(desk)
    return {label for label in ("undo", "redo", "reset") if not desk.button(key=f"question_{label}").disabled}


def split(desk: AppTest) -> list[str]:
    """The key fields that the question is split by."""
    return list(desk.multiselect(key="split_fields").value)


def asked(desk: AppTest, name: str) -> str:
    """A parameter in the URL; empty without it."""
    value = desk.query_params.get(name, "")
    return value if isinstance(value, str) else "".join(value[:1])


def test_back_and_forward_lead_to_the_same_question() -> None:
    """Undoing and redoing all steps passes the same questions in reverse order, and ends where it began."""
    steps = Steps().after(A).after(B).after(C)
    now, seen = D, []
    while steps.undo:
        now, steps = steps.go("undo", now)
        seen.append(now)
    assert seen == [C, B, A]
    while steps.redo:
        now, steps = steps.go("redo", now)
        seen.append(now)
    assert seen == [C, B, A, B, C, D]
    assert steps == Steps((A, B, C))


def test_nothing_to_undo() -> None:
    """Without a step there is nothing to undo and nothing to redo."""
    assert Steps().go("undo", A) == Steps().go("redo", A) == (A, Steps())


def test_a_new_step_forgets_what_was_undone() -> None:
    """After another step what was undone can't be redone."""
    now, steps = Steps().after(A).go("undo", B)
    assert (now, steps.redo) == (A, (B,))
    assert steps.after(A) == Steps((A,))


def test_the_oldest_steps_are_forgotten() -> None:
    """As many steps are kept as there is room for, the latest ones."""
    steps = Steps()
    for number in range(MOST_STEPS + 3):
        steps = steps.after({"top": str(number)})
    assert len(steps.undo) == MOST_STEPS
    assert steps.undo[0] == {"top": "3"}


def test_the_browsers_back_undoes_too() -> None:
    """The browser's Back over two entries undoes two steps, its Forward redoes them; other ways are steps."""
    steps = Steps((A, B))
    assert steps.after_navigation(C, A) == Steps((), (B, C))
    assert steps.after_navigation(C, A).after_navigation(A, C) == steps
    assert steps.after_navigation(C, D) == Steps((A, B, C))
    assert steps.after_navigation(C, C) == steps


def test_undo_redo_and_reset(desk: AppTest) -> None:
    """Each step of filter, split and view is undone and redone alone; a reset can be undone as well."""
    assert possible(desk) == {"reset"}, "the tab in sight is not the usual one"
    desk.multiselect(key="split_fields").set_value(["campaign_id"]).run()
    boards.click(desk, "split_rows", ["include", [["campaign_id", "3"]]])
    assert asked(desk, "is.campaign_id") == "3"
    assert possible(desk) == {"undo", "reset"}
    press(desk, "undo")
    assert (asked(desk, "is.campaign_id"), split(desk)) == ("", ["campaign_id"])
    press(desk, "undo")
    assert (split(desk), possible(desk)) == (["geo.country"], {"redo", "reset"})
    press(press(desk, "redo"), "redo")
    assert (asked(desk, "is.campaign_id"), possible(desk)) == ("3", {"undo", "reset"})
    press(desk, "reset")
    assert (asked(desk, "is.campaign_id"), asked(desk, "lower"), possible(desk)) == ("", "", {"undo"})
    press(desk, "undo")
    assert asked(desk, "is.campaign_id") == "3"


def test_quick_clicks_are_undone_one_by_one(desk: AppTest) -> None:
    """Five clicks that one run applies together are five steps: undo goes back one click at a time."""
    acts = [["add", [["geo.country", code]]] for code in ("US", "DE", "FR", "JP")]
    boards.click(desk, "leaderboards", *acts, ["order", "campaign_id", "name", "asc"])
    assert asked(desk, "is.geo.country") == "US~DE~FR~JP"
    assert "campaign_id!name" in asked(desk, "cards")
    for expected in ("US~DE~FR~JP", "US~DE~FR", "US~DE", "US", ""):
        press(desk, "undo")
        assert (asked(desk, "is.geo.country"), asked(desk, "cards")) == (expected, "")
    assert possible(desk) == {"redo", "reset"}
    for expected in ("US", "US~DE"):
        assert asked(press(desk, "redo"), "is.geo.country") == expected


def test_undo_and_redo_among_clicks(desk: AppTest) -> None:
    """Undo and redo that arrive with clicks, all in one run, are taken in their order and none is lost."""
    acts = [["include", [["geo.country", code]]] for code in ("US", "DE", "FR")]
    boards.click(desk, "leaderboards", *acts, ["undo"], ["undo"], ["redo"], ["add", [["geo.country", "JP"]]])
    assert (asked(desk, "is.geo.country"), possible(desk)) == ("DE~JP", {"undo", "reset"})
    boards.click(desk, "leaderboards", ["undo"], ["undo"], ["undo"], ["undo"])
    assert (asked(desk, "is.geo.country"), possible(desk)) == ("", {"redo", "reset"})
    boards.click(desk, "leaderboards", ["redo"], ["redo"])
    assert asked(desk, "is.geo.country") == "DE"


def loaded_again(message: object, **params: str) -> AppTest:
    """A page that was loaded from an address with these clicks, in a session of its own."""
    other = AppTest.from_file(DESK, default_timeout=60).run()
    other.button(key="demo_manager").click().run()
    other.switch_page("../pages/audience.py")
    text = message if isinstance(message, str) else json.dumps(message)
    for name, value in {"project": "demo", "slicer": "delivery", "acts": text, **params}.items():
        other.query_params[name] = value
    other.run()
    assert not other.exception
    return other


def test_clicks_in_the_address_are_taken(desk: AppTest) -> None:
    """A page that is loaded again before its clicks were taken takes them from its address, and once."""
    board = {"by": "b", "list": [[4, "add", [["geo.country", "US"]]], [5, "field", "clicks"]]}
    split = {"by": "s", "list": [[1, "exclude", [["campaign_id", "3"]]]]}
    other = loaded_again({"leaderboards": board, "split_rows": split})
    expected = ("US", "3", "clicks", "")
    names = ("is.geo.country", "not.campaign_id", "field", "acts")
    assert tuple(asked(other, name) for name in names) == expected
    other.query_params["acts"] = json.dumps({"leaderboards": board})  # a message that was under way
    press(other, "undo")
    assert asked(other, "field") == ""


@pytest.mark.parametrize(
    ("targets", "country"), [((), "US"), (({"is.geo.country": "DE"},), "DE"), ((["DE"],), "US")]
)
def test_an_undo_in_the_address_leads_where_it_led(
    desk: AppTest, targets: tuple[object, ...], country: str
) -> None:
    """The steps of a page end with its session: an undo in the address says itself where it led."""
    board = {"by": "b", "list": [[7, "undo", *targets]]}
    other = loaded_again({"leaderboards": board}, **{"is.geo.country": "US"})
    assert asked(other, "is.geo.country") == country


@pytest.mark.parametrize(
    "text", ["", "no JSON", "[]", '{"leaderboards": 3}', '{"leaderboards": {"list": [[1]]}}']
)
def test_clicks_that_can_not_be_read_are_passed_over(desk: AppTest, text: str) -> None:
    """Whatever somebody writes there, the page shows the rest of its address."""
    assert asked(loaded_again(text, **{"is.geo.country": "US"}), "is.geo.country") == "US"


def test_a_link_opens_without_steps(desk: AppTest) -> None:
    """A question that a link asks is the first of its tab: there is nothing to undo, but it can be reset."""
    other = AppTest.from_file(DESK, default_timeout=60).run()
    other.button(key="demo_manager").click().run()
    other.switch_page("../pages/audience.py")
    for name, value in {"project": "demo", "slicer": "delivery", "is.geo.country": "US"}.items():
        other.query_params[name] = value
    assert possible(other.run()) == {"reset"}


def test_what_another_slicer_lacks_is_said(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Filters, cards and metrics that another slicer has too go along; each part that it lacks is named."""
    monkeypatch.setenv("TRANCHE_HOME", str(own_home))
    lacking = {"campaign_id", "clicks", "ctr"}
    definition = DEFINITION.model_copy(
        update={
            "key_fields": tuple(field for field in DEFINITION.key_fields if field.name not in lacking),
            "data_fields": tuple(field for field in DEFINITION.data_fields if field.name not in lacking),
        }
    )
    with Warehouse(own_home / "warehouse").writer(
        "demo", "lean", definition, {"country": COUNTRIES}
    ) as writer:
        writer.write(small_rows(0).select(definition.schema().names))
        writer.commit("made for the test", "without campaigns and clicks")
    asked = {"is.geo.country": "US", "is.campaign_id": "1", "cards": "geo.country~campaign_id"}
    asked |= {
        "field": "clicks",
        "fields": "imps~revenue~ctr",
        "columns": "clicks~revenue",
        "lines": "campaign_id~1",
    }
    desk = opened("audience", project="demo", slicer="delivery", **asked)
    desk.selectbox(key="slicer").set_value("lean").run()
    assert not desk.exception
    now = boards.asked(desk)["params"]
    kept = {"is.geo.country": "US", "cards": "geo.country", "fields": "imps~revenue", "columns": "revenue"}
    assert {name: now.get(name) for name in kept} == kept
    assert not {*now} & {"is.campaign_id", "field", "lines"}
    said = " ".join(warning.value.replace("\\", "") for warning in desk.warning)
    assert all(name in said for name in ("Campaign", "Clicks", "CTR"))
    assert "campaign_id" not in said


def test_a_question_goes_to_another_slicer_by_its_meaning(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Country is country, whatever the other slicer calls it: filter, split and leaderboard go along, and the
    figures are those of the same rows."""
    monkeypatch.setenv("TRANCHE_HOME", str(own_home))
    names = {"geo.country": "user.country_code", "imps": "impressions"}
    rows = small_rows(0).rename_columns([names.get(name, name) for name in small_rows(0).schema.names])

    def renamed(fields: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(field.model_copy(update={"name": names.get(field.name, field.name)}) for field in fields)

    definition = DEFINITION.model_copy(
        update={
            "key_fields": renamed(DEFINITION.key_fields),
            "data_fields": renamed(DEFINITION.data_fields[:2]),
        }
    )
    with Warehouse(own_home / "warehouse").writer(
        "demo", "renamed", definition, {"country": COUNTRIES}
    ) as writer:
        writer.write(rows.select(definition.schema().names))
        writer.commit("made for the test", "0")
    asked = {"is.geo.country": "US", "any.is.geo.country": "US", "any.is.campaign_id": "1", "field": "imps"}
    desk = opened(
        "audience", project="demo", slicer="delivery", **asked, split="geo.country", cards="geo.country"
    )
    before = boards.headline(desk)["Impressions"]
    desk.selectbox(key="slicer").set_value("renamed").run()
    assert not desk.exception
    now = boards.asked(desk)["params"]
    assert now["is.user.country_code"] == "US"
    assert (now["any.is.user.country_code"], now["any.is.campaign_id"]) == ("US", "1")
    assert (now["split"], now["cards"], now["field"]) == (*("user.country_code",) * 2, "impressions")
    assert boards.headline(desk)["Impressions"] == before
    assert not desk.warning


def test_steps_belong_to_a_slicer(desk: AppTest) -> None:
    """On the way to another slicer the steps begin anew: they were about other fields."""
    desk.multiselect(key="split_fields").set_value(["campaign_id"]).run()
    assert possible(desk) == {"undo", "reset"}
    desk.query_params["slicer"] = "curation"
    desk.run()
    assert desk.selectbox(key="slicer").value == "curation"
    assert possible(desk) == {"reset"}


def test_a_run_reads_its_state_once_and_anew_what_has_changed(
    desk: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same parameters are not read twice for a slicer; other ones are, and those of another slicer."""
    page = desk.session_state[CONTEXT]
    context = RequestContext(page.person, page.project, page.slicer_name, page.slicer, page.drawn_with)
    params, count, read = {"split": "geo.country"}, 0, history.state.read

    def counted(*arguments: Any) -> Any:
        nonlocal count
        count += 1
        return read(*arguments)

    monkeypatch.setattr(history.state, "read", counted)
    url = SimpleNamespace(to_dict=lambda: params, update=lambda _: None)
    for module in (history, history.address):
        monkeypatch.setattr(module, "st", SimpleNamespace(session_state={}, query_params=url))
    history.current(context)  # normalizes the parameters
    before = history.current(context)
    count = 0
    assert [history.current(context) for _ in range(5)] == 5 * [before] and count == 0
    fields = [field for field in page.slicer.key_fields if field.name != "geo.country"]
    smaller = replace(context, slicer=page.slicer.model_copy(update={"key_fields": fields}))
    assert (
        "geo.country" in before.query.split_by
        and "geo.country" not in history.current(smaller).query.split_by
    )
    params = {"split": "campaign_id"}
    assert history.current(context).query.split_by == ("campaign_id",)
