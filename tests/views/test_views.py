"""Saved views, start pages and notes: who sees them, who may change them; once per database."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import Engine

from lib.people import Grant, Person, Role
from lib.views import SavedView, Schedule, ViewStore, mentions
from lib.views import entries as store
from lib.views.entries import Scope
from lib.views.models import LONGEST_NAME
from lib.wire.errors import AccessError, BadRequest

PARAMS = {"start": "-7d", "end": "yesterday", "is.geo.country": "US~CA", "split": "site"}
DELIVERY = ("demo", "delivery")
HOSTILE = "<script>alert(1)</script> **b** '; DROP TABLE notes; --"
As = Callable[..., ViewStore]


@pytest.fixture
def kept(engine: Engine) -> As:
    """What this person keeps; all may see the project demo unless `sees` says something else."""

    def of(
        name: str, role: Role = "viewer", sees: str = "demo", service: str = "", added: datetime | None = None
    ) -> ViewStore:
        person = Person(name, name, None, role, (Grant.parse(sees),), added)
        return ViewStore(Scope(engine, service, person))

    return of


def names(kept: ViewStore) -> list[str]:
    """The names of the views of delivery that this person sees."""
    return [view.name for view in kept.views.of(*DELIVERY)]


def test_a_view_is_what_was_saved(kept: As) -> None:
    """A saved view comes back with its parameters, its owner and when it was made."""
    before = datetime.now(UTC)
    view = kept("ada").views.save(*DELIVERY, "  US and\tCanada ", PARAMS)
    assert kept("ada").views.get(view.id) == view
    assert kept("ada").views.of(*DELIVERY) == [view]
    assert (view.name, view.params, view.owner, view.is_shared) == ("US and Canada", PARAMS, "ada", False)
    assert before <= view.created == view.changed <= datetime.now(UTC)
    assert (view.project, view.slicer, view.is_mine) == (*DELIVERY, True)


def test_own_and_shared_views_are_seen(kept: As) -> None:
    """A person sees their own views and the shared ones of others, by name; an administrator no more."""
    kept("ada").views.save(*DELIVERY, "Private", PARAMS)
    kept("ada").views.save(*DELIVERY, "all of us", PARAMS, is_shared=True)
    kept("bo").views.save(*DELIVERY, "Mine", PARAMS)
    assert names(kept("ada")) == ["all of us", "Private"]
    assert names(kept("bo")) == ["all of us", "Mine"]
    assert names(kept("root", role="admin")) == ["all of us"]
    assert [view.is_mine for view in kept("bo").views.of(*DELIVERY)] == [False, True]


def test_a_slicer_that_one_may_not_see(kept: As) -> None:
    """Without access to the slicer nothing is listed, read, saved, changed or noted."""
    view = kept("ada").views.save(*DELIVERY, "All", PARAMS, is_shared=True)
    stranger = kept("bo", sees="demo/curation")
    assert stranger.views.get(view.id) is None
    for attempt in (
        lambda: stranger.views.of(*DELIVERY),
        lambda: stranger.views.save(*DELIVERY, "Mine", PARAMS),
        lambda: stranger.notes.of(*DELIVERY, date(2026, 1, 1), date(2026, 12, 31)),
        lambda: stranger.notes.add(*DELIVERY, date(2026, 11, 1), "x"),
    ):
        with pytest.raises(AccessError):
            attempt()
    with pytest.raises(BadRequest, match="not there any more"):
        stranger.views.delete(view.id)


def test_views_of_another_service(kept: As) -> None:
    """A slicer of the same name at another reporting service has views of its own."""
    view = kept("ada").views.save(*DELIVERY, "Here", PARAMS)
    remote = kept("ada", service="https://reports.example.com")
    assert names(remote) == []
    assert remote.views.get(view.id) is None
    assert remote.views.save(*DELIVERY, "Here", PARAMS).id != view.id


def test_the_owner_changes_a_view(kept: As) -> None:
    """What is given is changed, the rest stays; the time of the change is newer than the first."""
    ada = kept("ada")
    view = ada.views.save(*DELIVERY, "Old", PARAMS)
    assert ada.views.change(view.id, name="New").name == "New"
    assert ada.views.change(view.id, is_shared=True).is_shared
    changed = ada.views.change(view.id, params={"start": "-1m_first"})
    assert (changed.name, changed.is_shared, changed.params) == ("New", True, {"start": "-1m_first"})
    assert (changed.created, changed.owner) == (view.created, "ada")
    assert changed.changed > view.changed
    ada.views.delete(view.id)
    assert ada.views.get(view.id) is None
    with pytest.raises(BadRequest, match="not there any more"):
        ada.views.change(view.id, name="Gone")


def test_only_the_owner_or_an_administrator(kept: As) -> None:
    """A shared view of another person can be opened, and changed or deleted by an administrator alone."""
    view = kept("ada").views.save(*DELIVERY, "Shared", PARAMS, is_shared=True)
    for attempt in (
        lambda: kept("bo").views.change(view.id, name="Mine"),
        lambda: kept("bo", role="manager").views.delete(view.id),
    ):
        with pytest.raises(AccessError, match="owner or an administrator"):
            attempt()
    root = kept("root", role="admin")
    renamed = root.views.change(view.id, name="Renamed")
    assert (renamed.name, renamed.owner) == ("Renamed", "ada")
    root.views.delete(view.id)
    assert names(kept("ada")) == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (" \n ", "missing"),
        ("x" * (LONGEST_NAME + 1), "too long: 101"),
        ("TAKEN", "already"),
        ("Take\u200bn", "invisible"),
    ],
)
def test_names_that_do_not_do(kept: As, name: str, words: str) -> None:
    """An empty, long or taken name, and one that looks like it, are refused, new or in a rename."""
    kept("ada").views.save(*DELIVERY, "Taken", PARAMS)
    other = kept("ada").views.save(*DELIVERY, "Other", PARAMS)
    with pytest.raises(BadRequest, match=words):
        kept("ada").views.save(*DELIVERY, name, PARAMS)
    with pytest.raises(BadRequest, match=words):
        kept("ada").views.change(other.id, name=name)


def test_names_are_taken_per_person_and_slicer(kept: As) -> None:
    """Others, and other slicers, may use the same name; a view may keep its own."""
    view = kept("ada").views.save(*DELIVERY, "Weekly", PARAMS)
    kept("bo").views.save(*DELIVERY, "Weekly", PARAMS)
    kept("ada").views.save("demo", "curation", "Weekly", PARAMS)
    assert kept("ada").views.change(view.id, name="weekly").name == "weekly"


def test_a_race_for_a_name(kept: As) -> None:
    """Of several tabs that save the same name at once one succeeds, the others hear that it is taken."""

    def save(_: int) -> SavedView | str:
        try:
            return kept("ada").views.save(*DELIVERY, "Once", PARAMS)
        except BadRequest as error:
            return error.reason

    with ThreadPoolExecutor(6) as pool:
        outcomes = list(pool.map(save, range(6)))
    assert [isinstance(outcome, SavedView) for outcome in outcomes].count(True) == 1
    assert names(kept("ada")) == ["Once"]


def test_limits(kept: As, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question that is too long, and one view too many, are refused in words."""
    monkeypatch.setattr(store, "MOST", 1)
    with pytest.raises(BadRequest, match="too long to save"):
        kept("ada").views.save(*DELIVERY, "Long", {"is.site": "x" * 20_000})
    kept("ada").views.save(*DELIVERY, "One", PARAMS)
    with pytest.raises(BadRequest, match="delete one first"):
        kept("ada").views.save(*DELIVERY, "Two", PARAMS)


def test_a_namesake(kept: As) -> None:
    """Private views and the start page of somebody of the same name before are not this person's."""
    private = kept("ada").views.save(*DELIVERY, "Private", PARAMS)
    kept("ada").start.set(private.id)
    kept("ada").views.save(*DELIVERY, "Shared", PARAMS, is_shared=True)
    later = kept("ada", added=datetime.now(UTC) + timedelta(seconds=1))
    assert [(view.name, view.is_mine) for view in later.views.of(*DELIVERY)] == [("Shared", False)]
    assert later.start.get() is None


def _save_views(kept: ViewStore, names: Sequence[str]) -> None:
    for name in names:
        kept.views.save(*DELIVERY, name, PARAMS)


def _share(kept: ViewStore, names: Sequence[str]) -> None:
    for name in names:
        kept.share_links.make(*DELIVERY, name, PARAMS)


def _watch(kept: ViewStore, names: Sequence[str]) -> None:
    for view in kept.views.of(*DELIVERY):
        if view.name in names:
            kept.alerts.watch(view.id, "imps", {}, "changed", None)


def _mail(kept: ViewStore, names: Sequence[str]) -> None:
    for view in kept.views.of(*DELIVERY):
        if view.name in names:
            kept.mails.add(view.id, Schedule())


@pytest.mark.parametrize(
    ("limit", "fill"),
    [
        ("lib.views.entries.MOST", _save_views),
        ("lib.views.share_links.MOST", _share),
        ("lib.views.alerts.MOST_ALERTS", _watch),
        ("lib.views.subscriptions.MOST_SUBSCRIPTIONS", _mail),
    ],
)
def test_a_namesake_uses_up_nobodys_limit(
    kept: As, limit: str, fill: Callable[[ViewStore, Sequence[str]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an earlier owner of a name has kept doesn't count towards what its new owner may keep."""
    for name in ("One", "Two", "Three", "Four"):
        kept("bo").views.save(*DELIVERY, name, PARAMS, is_shared=True)
    monkeypatch.setattr(limit, 2)
    fill(kept("ada", role="admin"), ("One", "Two"))
    later = datetime.now(UTC) + timedelta(microseconds=1)
    fill(kept("ada", role="admin", added=later), ("Three", "Four"))


def test_the_start_page(kept: As) -> None:
    """One view is a person's start page, until it is another, none, gone or private again."""
    ada, bo = kept("ada"), kept("bo")
    first, second = (ada.views.save(*DELIVERY, name, PARAMS, is_shared=True) for name in ("One", "Two"))
    assert ada.start.get() is None
    for view in (first, second):
        ada.start.set(view.id)
        assert ada.start.get() == view
    bo.start.set(second.id)
    ada.start.set(None)
    assert ada.start.get() is None
    assert bo.start.get().id == second.id
    ada.views.change(second.id, is_shared=False)
    assert bo.start.get() is None
    bo.start.set(first.id)
    ada.views.delete(first.id)
    assert bo.start.get() is None
    with pytest.raises(BadRequest, match="not there any more"):
        bo.start.set(second.id)


def test_notes_are_everybodys(kept: As) -> None:
    """A note is seen by all who may see the slicer, on the days asked for, in the order of days."""
    ada, bo = kept("ada"), kept("bo")
    for day, text in ((9, "Publisher left"), (2, "Campaign  began\n"), (20, "Later")):
        ada.notes.add(*DELIVERY, date(2026, 11, day), text)
    notes = bo.notes.of(*DELIVERY, date(2026, 11, 2), date(2026, 11, 9))
    assert [(note.day.day, note.text, note.owner, note.is_mine) for note in notes] == [
        (2, "Campaign began", "ada", False),
        (9, "Publisher left", "ada", False),
    ]
    assert bo.notes.of("demo", "curation", date.min, date.max) == []


def test_notes_are_deleted_by_owner_or_administrator(kept: As) -> None:
    """Somebody else can't delete a note; its owner and an administrator can, once."""
    first, second = (kept("ada").notes.add(*DELIVERY, date(2026, 11, 1), text) for text in "ab")
    with pytest.raises(AccessError, match="owner or an administrator"):
        kept("bo").notes.delete(first.id)
    kept("ada").notes.delete(first.id)
    kept("root", role="admin").notes.delete(second.id)
    assert kept("ada").notes.of(*DELIVERY, date.min, date.max) == []
    with pytest.raises(BadRequest, match="not there any more"):
        kept("ada").notes.delete(first.id)


def test_notes_are_changed_by_owner_or_administrator(kept: As) -> None:
    """A note gets another day and text from its owner or an administrator, and stays its owner's."""
    note = kept("ada").notes.add(*DELIVERY, date(2026, 11, 1), "Began")
    with pytest.raises(AccessError, match="owner or an administrator"):
        kept("bo").notes.change(note.id, date(2026, 11, 2), "Mine")
    kept("ada").notes.change(note.id, date(2026, 11, 2), " Began\nlate ")
    kept("root", role="admin").notes.change(note.id, date(2026, 11, 3), "Began later")
    (stored,) = kept("ada").notes.of(*DELIVERY, date.min, date.max)
    assert (stored.id, stored.day, stored.text, stored.owner, stored.created) == (
        note.id, date(2026, 11, 3), "Began later", "ada", note.created,
    )  # fmt: skip
    with pytest.raises(BadRequest, match="missing"):
        kept("ada").notes.change(note.id, date(2026, 11, 3), " ")
    with pytest.raises(BadRequest, match="not there any more"):
        kept("ada", sees="demo/curation").notes.change(note.id, date(2026, 11, 3), "Unseen")


def test_comments_on_a_view(kept: As) -> None:
    """Comments are seen in order by who sees the view, and end with it; they are no notes on a day."""
    ada, bo = kept("ada"), kept("bo")
    view = ada.views.save(*DELIVERY, "Shared", PARAMS, is_shared=True)
    before = datetime.now(UTC)
    first, second = bo.notes.comment(view.id, "Why?"), ada.notes.comment(view.id, HOSTILE)
    assert [
        (comment.text, comment.owner, comment.is_mine) for comment in ada.notes.on_views(*DELIVERY)[view.id]
    ] == [("Why?", "bo", False), (HOSTILE, "ada", True)]
    assert before <= first.created <= second.created <= datetime.now(UTC)
    assert ada.notes.of(*DELIVERY, date.min, date.max) == []
    with pytest.raises(AccessError):
        kept("eve", sees="demo/curation").notes.on_views(*DELIVERY)
    ada.views.delete(view.id)
    assert ada.notes.on_views(*DELIVERY) == {}


def test_comments_are_changed_by_owner_or_administrator(kept: As) -> None:
    """Their writer and administrators change comments; others don't, nor who can't see the view."""
    ada, bo, root = kept("ada"), kept("bo"), kept("root", role="admin")
    view = ada.views.save(*DELIVERY, "Shared", PARAMS, is_shared=True)
    own, other = bo.notes.comment(view.id, "Old"), bo.notes.comment(view.id, "Other")
    with pytest.raises(AccessError, match="owner or an administrator"):
        ada.notes.delete(own.id)
    assert bo.notes.change(own.id, own.day, "New").text == "New"
    root.notes.delete(other.id)
    ada.views.rename(view.id, "Mine", is_shared=False)
    for act in (lambda: bo.notes.delete(own.id), lambda: bo.notes.comment(view.id, "Still")):
        with pytest.raises(BadRequest, match="not there any more"):
            act()
    assert bo.notes.on_views(*DELIVERY) == {}
    assert [comment.text for comment in ada.notes.on_views(*DELIVERY)[view.id]] == ["New"]


def test_who_is_mentioned(kept: As) -> None:
    """Whom a note names behind an @ sees that; a part of a name is nobody's."""
    note = kept("ada").notes.add(
        *DELIVERY, date(2026, 11, 1), "Ask @bo, (@Eve.k) and root@mail.example @zoe2."
    )
    people = [Person(name, name, None, "viewer") for name in ("zoe", "bo", "eve.k", "root", "mail", "eve")]
    assert [person.username for person in mentions(note.text, people)] == ["bo", "eve.k"]
    is_mine = {
        name: kept(name).notes.of(*DELIVERY, date.min, date.max)[0].is_for_me for name in ("bo", "eve")
    }
    assert is_mine == {"bo": True, "eve": False}


def test_mentioned_readers(kept: As) -> None:
    """Mentioned people are those who may see the note: not its author, none of another slicer, and of a
    comment on a private view nobody."""
    ada = kept("ada")
    everywhere, elsewhere = kept("bo").scope.person, Person("cy", "Cy", None, "viewer")
    people, text = (ada.scope.person, everywhere, elsewhere), "@ada @bo @cy"
    note = ada.notes.add(*DELIVERY, date(2026, 11, 1), text)
    assert ada.notes.mentioned_people(note, people) == [everywhere]
    view = ada.views.save(*DELIVERY, "Mine", {})
    assert ada.notes.mentioned_people(ada.notes.comment(view.id, text), people) == []


@pytest.mark.parametrize(
    ("text", "words"), [("  ", "missing"), ("x" * 301, "too long: 301"), ("\u202eabc", "reading direction")]
)
def test_texts_that_do_not_do(kept: As, text: str, words: str) -> None:
    """An empty text, a long one and one that reads as another are refused in words."""
    with pytest.raises(BadRequest, match=words):
        kept("ada").notes.add(*DELIVERY, date(2026, 11, 1), text)


def test_chosen_leaderboards(kept: As) -> None:
    """A person's leaderboards are kept per slicer and service, until others, or none, are chosen."""
    ada = kept("ada")
    assert ada.cards.get(*DELIVERY) == ""
    for text in ("site~device", "site"):
        ada.cards.set(*DELIVERY, text)
        assert ada.cards.get(*DELIVERY) == text
    assert ada.cards.get("demo", "curation") == ""
    assert kept("bo").cards.get(*DELIVERY) == ""
    assert kept("ada", service="https://reports.example.com").cards.get(*DELIVERY) == ""
    assert kept("ada", added=datetime.now(UTC) + timedelta(seconds=1)).cards.get(*DELIVERY) == ""
    ada.cards.set(*DELIVERY, "")
    assert ada.cards.get(*DELIVERY) == ""


def test_leaderboards_that_do_not_do(kept: As) -> None:
    """Without access to the slicer none are read or kept, and a text that is too long is refused."""
    stranger = kept("bo", sees="demo/curation")
    for attempt in (lambda: stranger.cards.get(*DELIVERY), lambda: stranger.cards.set(*DELIVERY, "site")):
        with pytest.raises(AccessError):
            attempt()
    with pytest.raises(BadRequest, match="too long"):
        kept("ada").cards.set(*DELIVERY, "x" * 20_001)
