"""From the rows that a question keeps to a package: the form, its price, and the link back."""

from conftest import LAST_DAY
from dealing import SOLD, Visit, clean, sold_rows
from opening import Popover
from streamlit.testing.v1 import AppTest

from lib.deals.client import Deals
from lib.deals.models import DomainList, SupplyPackage
from lib.ui.deals.new_package import from_audience

WEEK = {"start": "-7d", "end": "yesterday", "split": "site_domain"}
FROM = Popover(from_audience.FORM)


def texts(desk: AppTest) -> str:
    """All sentences of the screen."""
    return "\n".join(element.value for element in (*desk.markdown, *desk.caption, *desk.error))


def come(desk: AppTest) -> AppTest:
    """The screen once everything that is computed in the background has come."""
    for _, insight in list(desk.session_state["insights"].values()):
        assert insight.wait(60)
    return clean(desk.run())


def opened(desk: AppTest) -> AppTest:
    """The form New package, opened from the question."""
    return come(pressed(FROM.opened(desk)))


def pressed(desk: AppTest) -> AppTest:
    """The click on the button of the popover, which AppTest closes with each run."""
    FROM.open_next(desk)
    desk.button(key="package_from_open").click().run()
    return clean(clean(desk).switch_page("../pages/new_package.py").run())


def test_kept_rows_fill_the_form_and_the_package_leads_back(visit: Visit, deals: Deals) -> None:
    """Two countries and an excluded device are the targeting; what wins cost stands beside it, and no price
    is filled in; the package that is created links to the question with its days."""
    query = {"is.geo.country": "US~DE", "not.device_type": "smartphone", **WEEK}
    desk = opened(visit("audience", slicer=SOLD, **query))
    assert "United States, Germany · not smartphone" in texts(desk)
    rows = sold_rows().to_pandas()
    mine = rows[rows["geo.country"].isin(["US", "DE"]) & (rows["device_type"] != "smartphone")]
    ages = mine["time"].dt.date.map(lambda day: (LAST_DAY - day).days)
    groups = mine[ages < 7].groupby(["site_domain", mine["time"].dt.date])[["spend", "imps"]].sum()
    groups = groups.assign(cpm=1000 * groups["spend"] / groups["imps"]).sort_values("cpm")
    reached = groups["imps"].cumsum() / groups["imps"].sum()
    low, median, high = (groups["cpm"][reached >= part].iloc[0] for part in (0.25, 0.5, 0.75))
    assert f"Median ${median:.2f} · quartiles ${low:.2f} and ${high:.2f}" in texts(desk).replace("\\", "")
    assert f"Averages of {len(groups)} groups by site domain and day" in texts(desk)
    desk.text_input(key="np_name").set_value("From rows")
    desk.multiselect(key="np_seats").set_value([1]).run()
    assert not desk.text_input(key="np_price_1").value
    desk.text_input(key="np_price_1").set_value("2.5").run()
    clean(desk.button(key="np_create_button").click().run())
    packages = next(package for package in deals.list(SupplyPackage).results if package.name == "From rows")
    assert [targeting.value for targeting in packages.geo_targetings] == ["US", "DE"]
    drawer = visit("deals", slicer=SOLD, open=f"supply_deals-{packages.id}")
    (link,) = (link for link in drawer.get("page_link") if link.proto.label == "Question it came from")
    for part in (f"end={LAST_DAY}", "is.geo.country=US~DE", f"slicer={SOLD}"):
        assert part in link.proto.query_string


def test_domains_are_a_list_that_is_created_once(visit: Visit, deals: Deals) -> None:
    """A domain that no list has alone is asked a name for its list; one that a list has uses that."""
    desk = visit("audience", slicer=SOLD, **{"is.site_domain": "cats.example", **WEEK})
    FROM.opened(desk)
    assert "Targeting: **1 domain**" in texts(desk)
    desk.text_input(key="package_from_name_0").set_value("Cats")
    desk = pressed(desk)
    domain_lists = next(
        domain_list for domain_list in deals.list(DomainList).results if domain_list.name == "Cats"
    )
    assert domain_lists.domains == ("cats.example",)
    assert "Cats" in texts(desk)
    again = FROM.opened(visit("audience", slicer=SOLD, **{"is.site_domain": "cats.example", **WEEK}))
    assert "Targeting: **Cats**" in texts(again)


def test_without_targets_the_way_is_said(visit: Visit) -> None:
    """Without a filter that a package knows, what to do is said; who may not change deals has no button."""
    desk = FROM.opened(visit("audience", slicer=SOLD, **{"is.deal": "1", **WEEK}))
    assert "Left out: Deal is 1 (no target stands for this key field)." in texts(desk)
    assert "Keep some rows first" in texts(desk)
    desk = FROM.opened(visit("audience", "viewer", slicer=SOLD, **WEEK))
    assert "Keep some rows first" not in texts(desk)
