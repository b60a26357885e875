"""A slicer that is renamed or removed: nobody sees more of it, whenever the process is killed."""

import datetime as dt
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import pytest
from conftest import small_rows
from keeping import keeper
from sqlalchemy import Connection

from lib.database import DatabaseScope
from lib.people import Grant
from lib.people.tokens.company import claim_rules
from lib.reporting.models import AudienceQuery
from lib.serving import connect
from lib.serving.connect import dependents, opening
from lib.settings import Settings
from lib.settings.optional import CompanyProvider, CompanyRule
from lib.slicers.warehouse import Warehouse
from lib.views import ViewStore
from lib.wire.errors import BadRequest, TrancheError
from lib.wire.filters import Filter

OLD, NEW = ("demo", "delivery"), ("demo", "shipped")
WEEK = {"start": "-7d", "end": "yesterday"}
GERMANY = (Filter(name="geo.country", value=("DE",), match="equals"),)
STEPS = ("commit 1", "before the move", "after the move", "commit 2", "commit 3", "commit 4")


class Killed(BaseException):
    """The process ends at this step: nothing catches it."""


@pytest.fixture
def settings(own_home: Path) -> Settings:
    """A desk whose manager may see a project, of one slicer the rows of a country; with a view and a note."""
    settings = Settings(home=own_home, demo=True)
    access = connect.installation(settings).access
    grants = [Grant("demo"), Grant(*OLD, GERMANY)]
    access.change("manager", "a test", grants=grants)
    access.issue("manager", settings.reporting_service, "limited", None, tuple(grants))
    store = keeper(settings)("manager")
    store.views.save(*OLD, "Week", WEEK)
    store.notes.add(*OLD, dt.date(2026, 3, 1), "Launch")
    return settings


def restart(settings: Settings) -> connect.Installation:
    """What the next process opens."""
    opening._open.cache_clear()
    return connect.installation(settings)


def store_of(settings: Settings) -> ViewStore:
    """What the manager keeps now."""
    return clients(settings).view_store


def clients(settings: Settings) -> connect.Clients:
    """The manager's, with the rights of now."""
    return connect.connect(connect.installation(settings).people.require("manager"), settings)


def impressions(settings: Settings) -> dict[str, float | None]:
    """The impressions of all days that the manager sees, by slicer."""
    reporting, figures = clients(settings).reporting, {}
    for project, name in clients(settings).slicers:
        query = AudienceQuery(project_name=project, slicer_name=name, start_date="-30d", end_date="today")
        figures[name] = reporting.audience(query).total.values["imps"]
    return figures


def rows(seed: int, country: str | None = None) -> float:
    """The impressions of a slicer's rows, by pandas."""
    frame = small_rows(seed).to_pandas()
    return float(
        frame["imps"].sum() if country is None else frame[frame["geo.country"] == country]["imps"].sum()
    )


def rename(settings: Settings) -> None:
    """Rename the slicer."""
    installation = connect.installation(settings)
    dependents.rename(
        installation.warehouse, installation.access, OLD, NEW, "admin", claim_rules(installation.settings)
    )


def kill_at(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what follows end at this step."""
    commits, write, move = count(1), DatabaseScope.write, Path.rename

    @contextmanager
    def transaction(scope: DatabaseScope, *seconds: float) -> Iterator[Connection]:
        with write(scope, *seconds) as connection:
            yield connection
            if f"commit {next(commits)}" == step:
                raise Killed

    def moved(path: Path, target: Path) -> Path:
        if step == "before the move":
            raise Killed
        result = move(path, target)
        if step == "after the move":
            raise Killed
        return result

    monkeypatch.setattr(DatabaseScope, "write", transaction)
    monkeypatch.setattr(Path, "rename", moved)


@pytest.mark.parametrize("step", STEPS)
def test_a_rename_that_is_killed_shows_nobody_more(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Of the slicer, under whichever name, the manager sees the rows of their filter: at once, after the next
    start, which finishes the rename, and once the old name is imported again."""
    with monkeypatch.context() as patch:
        kill_at(step, patch)
        with suppress(Killed):
            rename(settings)
    germany = rows(0, "DE")
    assert {*impressions(settings).values()} == {germany, rows(1)}
    installation = restart(settings)
    (name,) = {*impressions(settings)} - {"curation"}
    assert name == (OLD if step == "commit 1" else NEW)[1]
    assert impressions(settings) == {name: germany, "curation": rows(1)}
    assert [view.slicer for view in store_of(settings).views.all()] == [name]
    (note,) = store_of(settings).notes.of("demo", name, dt.date.min, dt.date.max)
    assert note.text == "Launch"
    (token,) = [token for token in installation.access.store.everything("manager") if token.name == "limited"]
    assert Grant("demo", name, GERMANY) in token.grants
    if name == NEW[1]:
        with installation.warehouse.writer(
            *OLD, installation.warehouse.definition(*NEW), {"country": {}}
        ) as writer:
            writer.write(small_rows(0))
            writer.commit("again", "again")
        assert impressions(settings) == {"delivery": germany, name: germany, "curation": rows(1)}


def test_the_next_start_after_a_kill_finishes_a_rename(settings: Settings) -> None:
    """A process that is killed between rights and data leaves both names narrow, and no half of a rename."""
    script = (
        "import os, signal, sys; from pathlib import Path; from lib.cli import main\n"
        "Path.rename = lambda *names: os.kill(os.getpid(), signal.SIGKILL)\n"
        "main(['slicer', 'rename', 'demo/delivery', 'demo/shipped', '--yes'])"
    )
    environment = {"TRANCHE_HOME": str(settings.home), "TRANCHE_DEMO": "true", "PATH": ""}
    ended = subprocess.run([sys.executable, "-c", script], env=environment, check=False, capture_output=True)
    assert ended.returncode == -signal.SIGKILL
    assert impressions(settings) == {"delivery": rows(0, "DE"), "curation": rows(1)}
    assert Grant(*NEW, GERMANY) in connect.installation(settings).people.require("manager").grants
    restart(settings)
    assert impressions(settings) == {"shipped": rows(0, "DE"), "curation": rows(1)}


@pytest.mark.parametrize("step", ["commit 1", "never"])
def test_a_filter_outlives_its_slicer(settings: Settings, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """Removed and imported again, a slicer shows the rows of the filter: nobody but an admin lifts it. What
    was stored of it is gone, or, where the removal was killed, as it was."""
    installation = connect.installation(settings)
    definition = installation.warehouse.definition(*OLD)
    with monkeypatch.context() as patch:
        kill_at(step, patch)
        try:
            dependents.remove(installation.warehouse, installation.access, OLD, "admin")
        except Killed:
            assert len(store_of(settings).views.all()) == 1
    mode = "replace" if step == "commit 1" else "create"
    with installation.warehouse.writer(*OLD, definition, {"country": {}}, mode) as writer:
        writer.write(small_rows(0))
        writer.commit("again", "again")
    assert impressions(settings) == {"delivery": rows(0, "DE"), "curation": rows(1)}
    assert len(store_of(settings).views.all()) == (step == "commit 1")
    installation.access.regrant("manager", [Grant(*OLD)], "admin")
    assert impressions(settings)["delivery"] == rows(0)


def test_a_removal_shows_no_data_without_rights(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed before the files are gone, it has taken the grants: who could see it can't any more."""
    installation = connect.installation(settings)

    def kill(path: Path) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr("shutil.rmtree", kill)
        with pytest.raises(Killed):
            dependents.remove(installation.warehouse, installation.access, OLD, "admin")
    assert not installation.people.require("viewer").may_see(*OLD)
    assert store_of(settings).views.all() == []


def test_a_rule_of_company_accounts_stops_a_rename(settings: Settings) -> None:
    """A rule that grants the slicer by its name would grant it all after the rename: the lines to change are
    named, nothing is changed, and with the new name beside the old one it goes on."""
    limited = {name: str(Grant(*pair, GERMANY)) for name, pair in (("old", OLD), ("new", NEW))}

    def with_rule(*grants: str) -> Settings:
        rule = CompanyRule(claim="groups", value="ads", role="viewer", grants=("demo", *grants))
        provider = CompanyProvider(issuer="https://id.example", client_id="desk", rules=(rule,))
        return settings.model_copy(update={"company": settings.company.model_copy(update={"oidc": provider})})

    installation = connect.installation(settings)
    about = installation.warehouse, installation.access, OLD, NEW, "admin"
    with pytest.raises(BadRequest) as refusal:
        dependents.rename(*about, claim_rules(with_rule(limited["old"])))
    for words in ("groups", "ads", limited["old"], limited["new"], "Nothing was renamed"):
        assert words in str(refusal.value)
    assert Warehouse(settings.warehouse).has(*OLD)
    assert Grant(*NEW, GERMANY) not in installation.people.require("manager").grants
    dependents.rename(*about, claim_rules(with_rule(limited["old"], limited["new"])))
    assert impressions(settings) == {"shipped": rows(0, "DE"), "curation": rows(1)}


def test_what_refuses_a_rename_changes_no_right(settings: Settings) -> None:
    """A name in use, and an import that runs, leave grants as they were."""
    installation = connect.installation(settings)
    before = installation.people.everyone()
    with pytest.raises(BadRequest, match="already"):
        dependents.rename(installation.warehouse, installation.access, OLD, ("demo", "curation"), "admin", ())
    with (
        installation.warehouse.writer(*OLD, installation.warehouse.definition(*OLD), mode="append"),
        pytest.raises(TrancheError, match="import"),
    ):
        rename(settings)
    assert installation.people.everyone() == before
