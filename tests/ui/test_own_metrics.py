"""Own metrics on screen: figures wherever a data field is, a form that checks, and who uses them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import boards
import pandas as pd
import pytest
from conftest import rows_by_week
from opening import menu, of_delivery, opened
from streamlit.testing.v1 import AppTest

from lib.reporting.client import for_service
from lib.reporting.models import AudienceQuery, DataFilter, ExportQuery, InfoQuery
from lib.serving import connect
from lib.serving.connect import own_metrics
from lib.settings import Settings
from lib.slicers.models import DataField, Order, Slicer
from lib.ui.query import page_clicks
from lib.views import OwnMetric, ViewStore

COUNTRY = "geo.country"
FORMULA = "1000 * revenue / (imps + clicks)"
DELIVERY = ("demo", "delivery")
Store = Callable[[str], ViewStore]


@pytest.fixture
def store(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """The stores of a person of the demo. What is left of metrics at the end goes."""
    monkeypatch.setenv("TRANCHE_HOME", str(home))

    def of(name: str) -> ViewStore:
        settings = Settings.current()
        person = connect.installation(settings).people.get(name)
        assert person is not None
        return connect.connect(person, settings).view_store

    yield of
    for name in ("viewer", "manager"):
        for metric in of(name).metrics.of(*DELIVERY):
            if metric.owner == name:
                of(name).metrics.delete(metric.id)


@pytest.fixture
def metric(store: Store) -> OwnMetric:
    """A personal metric of the manager."""
    return store("manager").metrics.save(*DELIVERY, "Revenue per thousand", FORMULA, "$", 3)


@pytest.fixture(scope="module")
def week() -> pd.DataFrame:
    """The rows of the last seven complete days."""
    rows = rows_by_week(COUNTRY)
    latest: pd.DataFrame = rows[rows["week"] == 0]
    return latest


def value(rows: pd.DataFrame) -> float:
    """The metric over these rows, by plain pandas."""
    sums = rows[["revenue", "imps", "clicks"]].sum()
    return float(1000 * sums["revenue"] / (sums["imps"] + sums["clicks"]))


def test_a_metric_is_a_data_field_everywhere(metric: OwnMetric, week: pd.DataFrame) -> None:
    """Headline, leaderboards and split show a metric, sorted and filtered by it, as pandas computes it."""
    name = own_metrics.name(metric)
    desk = of_delivery(field=name, cards=COUNTRY, split=COUNTRY, order=f"-{name}", having=f"{name}~gt~0")
    by_country = {country: value(rows) for country, rows in week.groupby(COUNTRY)}
    assert boards.headline(desk)["Revenue per thousand, all values"] == f"${value(week):,.3f}"
    card = next(table for table in boards.drawn(desk) if table["card"] and table["id"] == COUNTRY)
    for row in card["rows"]:
        if row["kind"] == "row":
            assert row["cells"][1]["text"] == f"{by_country[row['values'][0][1]]:,.3f}"
    split = next(table for table in boards.drawn(desk) if table["id"] == "split")
    shown = [row["cells"][1]["text"] for row in split["rows"] if row["kind"] == "row"]
    most = sorted((figure for figure in by_country.values() if figure > 0), reverse=True)
    assert shown == [f"{figure:,.3f}" for figure in most[: len(shown)]]
    assert not any("Left out" in warning.value for warning in desk.warning)


def test_a_file_has_a_metric(metric: OwnMetric, week: pd.DataFrame) -> None:
    """The file of a question with a metric has its column, under its name; the request says what it is."""
    settings = Settings.current()
    person = connect.installation(settings).people.get("manager")
    assert person is not None
    clients = connect.connect(person, settings)
    about = {"project_name": "demo", "slicer_name": "delivery"}
    slicer = clients.with_own(clients.reporting.info(InfoQuery(**about)), *DELIVERY)
    name = own_metrics.name(metric)
    query = ExportQuery(
        **about, start_date="-7d", end_date="yesterday", split_by=(COUNTRY,), data_fields=(name,),
        export_format="csv", include_mappings=0,
    )  # fmt: skip
    file = pd.read_csv(clients.reporting.export(query, slicer).content, keep_default_na=False)
    assert file.columns[1] == "Revenue per thousand"
    expected = {country: round(value(rows), 3) for country, rows in week.groupby(COUNTRY)}
    assert dict(file.itertuples(index=False, name=None)) == pytest.approx(expected)
    desk = of_delivery("export", fields=f"imps~{name}", split=COUNTRY)
    assert any(FORMULA in code.value for code in desk.code)


def test_a_metric_of_somebody_else_is_left_out(metric: OwnMetric) -> None:
    """A link with another person's metric says that it is left out, and shows the rest."""
    desk = opened("audience", "viewer", project="demo", slicer="delivery", field=own_metrics.name(metric))
    assert not desk.exception
    assert "Revenue per thousand" not in boards.headline(desk)
    assert any("of an own metric" in text.value for text in (*desk.warning, *desk.info, *desk.caption))


def dialog(desk: AppTest, key: str) -> AppTest:
    """The page with the dialog of this button open."""
    menu("Metrics").opened(desk)
    desk.button(key=key).click().run()
    assert not desk.exception, desk.exception
    return desk


def test_a_formula_is_checked_before_it_is_stored(store: Store, week: pd.DataFrame) -> None:
    """What is wrong with a formula is said and can't be saved; a right one shows its figure, and is shown."""
    desk = dialog(of_delivery(), "own_metric_add")
    desk.text_input(key="own_metric_name").set_value("Mine")
    desk.text_input(key="own_metric_formula").set_value("1000 * revenu / imps").run()
    assert any("did you mean 'revenue'?" in error.value for error in desk.error)
    assert desk.button(key="own_metric_save").disabled
    desk.text_input(key="own_metric_formula").set_value(FORMULA).run()
    assert not desk.error
    assert any(f"{value(week):,.2f} for the question" in text.value for text in desk.markdown)
    desk.button(key="own_metric_save").click().run()
    (own_metric,) = store("manager").metrics.of(*DELIVERY)
    assert (own_metric.name, own_metric.formula) == ("Mine", FORMULA)
    assert own_metrics.name(own_metric) in desk.query_params["field"]
    assert boards.headline(desk)["Mine"] == f"{value(week):,.2f}"


def test_who_edits_a_metric_sees_the_views_that_use_it(metric: OwnMetric, store: Store) -> None:
    """The form names the views whose figure, order or filter a metric is, and no others."""
    views, name = store("manager").views, own_metrics.name(metric)
    uses = [{"field": name}, {"fields": f"imps~{name}"}, {"having": f"{name}~gt~1"}, {"order": f"-{name}"}]
    saved_views = [views.save(*DELIVERY, f"Uses {place}", params) for place, params in enumerate(uses)]
    other = views.save(*DELIVERY, "Not", {"field": f"{name}9", "is.x": "own"})
    assert own_metrics.users(metric, [*saved_views, other]) == saved_views
    desk = dialog(of_delivery(), f"own_metric_{metric.id}")
    assert any("Uses 0, Uses 1, Uses 2, Uses 3." in text.value for text in desk.caption)
    desk.text_input(key="own_metric_name").set_value("Renamed").run()
    desk.button(key="own_metric_save").click().run()
    assert [own_metric.name for own_metric in store("manager").metrics.of(*DELIVERY)] == ["Renamed"]
    for view in (*saved_views, other):
        views.delete(view.id)


def test_a_changed_formula_is_asked_anew(metric: OwnMetric, store: Store, week: pd.DataFrame) -> None:
    """After a formula has changed no figure of the old one is shown."""
    desk = of_delivery(field=own_metrics.name(metric))
    store("manager").metrics.change(metric.id, metric.name, "revenue / imps", "", 4, False)
    boards.click(desk, page_clicks.CARDS, ["grain", "week"])
    sums = week[["revenue", "imps"]].sum()
    assert boards.headline(desk)[metric.name] == f"{sums['revenue'] / sums['imps']:,.4f}"


def test_a_query_carries_the_fields_that_it_names() -> None:
    """A request has the definitions of the own fields in its figures, order or filters, and no others."""
    slicer = Slicer(data_fields=(DataField(name="imps"), DataField(name="clicks")))
    metric = own_metrics.OwnField
    fields = [metric(name=f"own.{number}", formula="clicks / imps") for number in range(1, 5)]
    slicer = slicer.with_own([*fields, metric(name="imps", formula="clicks")])
    query = AudienceQuery(
        project_name="demo", slicer_name="delivery", start_date="-7d", end_date="yesterday",
        data_fields=("imps", "own.1"), order_by=(Order(name="own.2"),),
        data_filters=(DataFilter(name="own.3", match=">", value=1),),
    )  # fmt: skip
    assert for_service(query, slicer).own_fields == tuple(fields[:3])
    assert [field.name for field in slicer.data_fields] == [
        "imps",
        "clicks",
        *(field.name for field in fields),
    ]


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("clicks / imps", ""),
        ("2 * 3", "Name at least one data field."),
        ("clicks imps", "column 8"),
        ("(clicks", "')'"),
        ("open('x')", "open"),
        ("cost / clicks", "'cost' is written payout.adv."),
        ("spend / clicks", "Unknown data field 'spend'."),
    ],
)
def test_what_is_wrong_with_a_formula(formula: str, said: str) -> None:
    """A formula is read by the grammar of definitions; what it can't read is said in a sentence."""
    cost = DataField(name="payout.adv", description="Cost")
    slicer = Slicer(data_fields=(DataField(name="imps"), DataField(name="clicks"), cost))
    problem = own_metrics.problem(formula, slicer)
    assert (said in problem) if said else problem == ""


@pytest.mark.parametrize(
    ("unit", "pattern"), [("", None), ("$", "$#"), ("US$", "# US$"), ("%", "#%"), ("ms", "# ms"), ("#", None)]
)
def test_a_unit_stands_where_it_belongs(unit: str, pattern: str | None) -> None:
    """Signs of currencies stand before a figure, other units after it."""
    assert own_metrics.pattern(unit) == pattern
