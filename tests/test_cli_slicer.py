"""`tranche slicer`: what hangs on a slicer goes or moves with it, and is named before."""

import datetime as dt
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from lib.cli import main
from lib.people import Grant, Person
from lib.serving import connect
from lib.serving.connect import dependents
from lib.settings import Settings
from lib.slicers.definition import Definition
from lib.slicers.warehouse import Warehouse
from lib.views.entries import Scope
from lib.views.store import Notes
from lib.wire.errors import AccessError
from lib.wire.filters import Filter

OLD, NEW = ("acme", "sales"), ("acme", "deliveries")
WORDS = "1 note, 1 grant, 2 tokens"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A desk with a connected slicer, on which a note, a grant and two tokens hang."""
    own_settings = Settings(home=tmp_path / "home")
    monkeypatch.setattr(Settings, "load", classmethod(lambda _: own_settings))
    source = {"connection": "lake", "table": "sales"}
    content = {
        "time": {"column": "day"},
        "key_fields": [],
        "data_fields": [{"name": "bids"}],
        "source": source,
    }
    for name in ("sales", "other"):
        Warehouse(own_settings.warehouse).connect("acme", name, Definition.model_validate(content))
    access = connect.installation(own_settings).access
    grants = (Grant(*OLD), Grant("acme", "other"))
    access.people.add(Person("ada", "Ada", None, "viewer", grants), "a password of some length")
    for name, held in (("both", grants), ("one", grants[:1])):
        access.issue("ada", own_settings.reporting_service, name, dt.timedelta(hours=1), held)
    Notes(Scope(access.store.engine, "", access.people.require("ada"))).add(
        *OLD, dt.date(2026, 3, 1), "Launch"
    )
    return own_settings


def run(*words: str, answer: str = "") -> Result:
    """A command, with what is typed when it asks."""
    return CliRunner().invoke(main, ["slicer", *words], input=answer)


def grants_of(settings: Settings) -> tuple[list[str], dict[str, list[str]]]:
    """The grants of Ada, and of her tokens by their name."""
    access = connect.installation(settings).access
    tokens = {token.name: [str(grant) for grant in token.grants] for token in access.store.everything("ada")}
    return [str(grant) for grant in access.people.require("ada").grants], tokens


def test_what_hangs_on_it_is_asked_about(settings: Settings) -> None:
    """Without a yes nothing changes, whatever hangs on the slicer."""
    for words in (("remove", "acme/sales"), ("rename", "acme/sales", "acme/deliveries")):
        result = run(*words, answer="n\n")
        assert (result.exit_code, WORDS in result.output) == (1, True)
    assert Warehouse(settings.warehouse).has(*OLD)
    assert dependents.count(connect.installation(settings).access, OLD).sentence() == WORDS


def test_a_removed_slicer_leaves_nothing(settings: Settings) -> None:
    """Views, notes and grants go; a token that would open everything without its grant goes too."""
    result = run("remove", "acme/sales", answer="y\n")
    assert (result.exit_code, "not the table sales, which stays" in result.output) == (0, True)
    warehouse = Warehouse(settings.warehouse)
    assert warehouse.slicers() == [("acme", "other")]
    with pytest.raises(AccessError):
        warehouse.open(*OLD)
    assert grants_of(settings) == (["acme/other"], {"both": ["acme/other"]})
    assert dependents.count(connect.installation(settings).access, OLD).sentence() == ""


def test_a_renamed_slicer_keeps_everything(settings: Settings) -> None:
    """Notes, grants and tokens follow the slicer to its new name."""
    assert run("rename", "acme/sales", "acme/deliveries", "--yes").exit_code == 0
    assert Warehouse(settings.warehouse).slicers() == [NEW, ("acme", "other")]
    access = connect.installation(settings).access
    assert (dependents.count(access, OLD).sentence(), dependents.count(access, NEW).sentence()) == ("", WORDS)
    people, tokens = grants_of(settings)
    assert set(people) == {"acme/deliveries", "acme/other"}
    assert tokens == {"both": ["acme/deliveries", "acme/other"], "one": ["acme/deliveries"]}


def test_filters_follow_a_renamed_slicer(settings: Settings) -> None:
    """Grants of some rows, of people and tokens, are of the same rows under the new name, or go with it."""
    access = connect.installation(settings).access
    some = (Filter(name="seat", value=("3",), match="equals"),)
    access.change("ada", "a test", grants=[Grant(*OLD, some)])
    access.issue("ada", settings.reporting_service, "limited", None, (Grant(*OLD, some),))
    assert run("rename", "acme/sales", "acme/deliveries", "--yes").exit_code == 0
    people, tokens = grants_of(settings)
    assert (people, tokens["limited"]) == ([str(Grant(*NEW, some))], [str(Grant(*NEW, some))])
    assert run("remove", "acme/deliveries", answer="y\n").exit_code == 0
    assert grants_of(settings) == ([], {"both": ["acme/other"]})


def test_names_that_can_t_be(settings: Settings) -> None:
    """A slicer that is not there, a name in use and a name that is none are said as that."""
    for words, said in (
        (("remove", "acme/nothing"), "There is no slicer acme/nothing"),
        (("rename", "acme/sales", "acme/other", "--yes"), "There is a slicer acme/other already"),
        (("rename", "acme/sales", "deliveries", "--yes"), "Write PROJECT/SLICER"),
        (("rename", "acme/sales", "acme/../up", "--yes"), "can't contain slashes"),
    ):
        result = run(*words)
        assert (result.exit_code > 0, said in result.output) == (True, True), result.output
    assert Warehouse(settings.warehouse).has(*OLD)
