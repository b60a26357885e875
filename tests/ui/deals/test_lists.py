"""Domain and app lists: what is pasted is read or named by its line; the screen, without a browser."""

import pytest
from dealing import Visit, clean, listed

from lib.deals.client import Deals
from lib.deals.models import AppList, DomainList
from lib.figures.deals.list_kinds import KINDS
from lib.ui.deals.inventory import lists
from lib.ui.deals.inventory.lists import read
from lib.wire.errors import Conflict, TrancheError, Unreachable


def test_five_thousand_pasted_entries() -> None:
    """Of 5,000 lines those that can't be read are named by line and text; all others are there."""
    lines = [f"https://WWW.Site-{number}.example/path?q=1" for number in range(1, 5_001)]
    for line, text in ((7, "no dots"), (1_234, "under score.example"), (5_000, "10.0.0.1")):
        lines[line - 1] = text
    pasted = read("\n".join(lines), KINDS["domain_lists"])
    assert [(broken_line.line, broken_line.text) for broken_line in pasted.broken] == [
        (7, "no dots"),
        (1_234, "under score.example"),
        (5_000, "10.0.0.1"),
    ]
    assert pasted.entries[0] == "www.site-1.example"
    assert len(pasted.entries) + len(pasted.broken) == 5_000
    assert pasted.rest == "no dots\nunder score.example\n10.0.0.1"


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("Example.org.", "example.org"),
        ("http://example.org:8080/a", "example.org"),
        ("bücher.example", "xn--bcher-kva.example"),
        ('"news.example"', "news.example"),
    ],
)
def test_domains_are_normalized(text: str, domain: str) -> None:
    """Case, scheme, port, path, quotes and a last dot go; other scripts are written as DNS has them."""
    assert read(text, KINDS["domain_lists"]).entries == (domain,)


def test_several_on_a_line_and_repeats() -> None:
    """Commas, semicolons and tabs separate; what is pasted twice is there once, and counted."""
    pasted = read("com.a.one, 123456;com.a.one\n\ncom.b\ttwo words", KINDS["app_lists"])
    assert (pasted.entries, pasted.repeats) == (("com.a.one", "123456", "com.b"), 1)
    assert [(broken_line.line, broken_line.why) for broken_line in pasted.broken] == [
        (3, "An app id has no spaces")
    ]


def test_entries_are_added_and_the_broken_ones_stay(visit: Visit, deals: Deals) -> None:
    """What can be read is added by one click; what can't stays in the field, to be corrected."""
    desk = visit("lists", list="domain_lists-1")
    desk.text_area(key="list_paste_domain_lists-1").set_value("New.example\nbroken\nnews.example").run()
    assert "1 new, 1 already in the list" in " ".join(caption.value for caption in desk.caption)
    clean(desk.button(key="list_add").click().run())
    assert deals.get(DomainList, 1).domains == ("news.example", "new.example")
    assert desk.text_area(key="list_paste_domain_lists-1").value == "broken"


def test_a_list_from_its_name_to_its_end(visit: Visit, deals: Deals) -> None:
    """A list is created, renamed and deleted."""
    desk = visit("lists", lists_kind="App lists")
    assert listed(desk) == ["Games"]
    desk.text_input(key="lists_new_name").set_value("Weather").run()
    clean(desk.button(key="lists_new_create").click().run())
    desk.text_input(key="list_name_app_lists-2").set_value("Weather apps").run()
    clean(desk.button(key="list_rename").click().run())
    assert deals.get(AppList, 2).name == "Weather apps"
    clean(desk.run())
    deals.remove(AppList, 2)
    assert "no longer exists" in clean(desk.run()).warning[0].value


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(Unreachable("Gone"), "It may have succeeded."), (Conflict("Changed"), "Nothing was changed.")],
)
def test_a_change_without_an_answer_may_have_succeeded(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, error: TrancheError, outcome: str
) -> None:
    """Renaming a list says that nothing was changed only where that is known."""
    desk = visit("lists", list="domain_lists-1")

    def fail(*arguments: object) -> None:
        raise error

    monkeypatch.setattr(Deals, "change", fail)
    desk.text_input(key="list_name_domain_lists-1").set_value("Weather").run()
    clean(desk.button(key="list_rename").click().run())
    assert desk.error[0].value == f"{error.reason}. {outcome}"


def test_what_uses_a_list_is_named(deals: Deals) -> None:
    """Before it is deleted, the packages that target or exclude it are named."""
    assert lists.dependants(deals, ("domain_lists", 1)) == ["Evening Sports (2)"]
    assert lists.dependants(deals, ("app_lists", 1)) == []
