"""What a column of money is in: its currency, millionths and cents; and numbers that describe a row.

Names that say something else are among them: nothing is divided, withheld or no longer added up for those.
"""

import os
from pathlib import Path

import pandas as pd
import pytest
from ingesting import Place, imported

from lib.ingest.importing import readers
from lib.ingest.inference import Hints, infer
from lib.slicers.definition import DataFieldDefinition, Definition
from lib.slicers.digits import decimal_sum

ROWS = 24
CODES = ["EUR", "USD", "JPY"] * (ROWS // 3)
WHOLE = [1_000_000 + 250_000 * number for number in range(ROWS)]
AMOUNTS = [1.25 + 0.5 * number for number in range(ROWS)]
REVENUE, IMPRESSIONS = (
    f"Column.TOTAL_LINE_ITEM_LEVEL_{name}" for name in ("CPM_AND_CPC_REVENUE", "IMPRESSIONS")
)
ECPM = f"1000 * {REVENUE} / {IMPRESSIONS}"
SAMPLES = Path(os.environ.get("TRANCHE_TEST_DATA", "/nonexistent")) / "odd"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder for files, with a warehouse."""
    return Place(tmp_path)


def frame(**columns: object) -> pd.DataFrame:
    """Rows of eight days and three accounts, with these columns."""
    days = [f"2026-11-{2 + number // 3:02}" for number in range(ROWS)]
    return pd.DataFrame({"day": days, "account": ["a", "b", "c"] * (ROWS // 3), **columns})


def guessed(table: pd.DataFrame, place: Place) -> Definition:
    """The definition that is inferred from a file of the table."""
    path = place.folder / "report.csv"
    table.to_csv(path, index=False)
    return infer(readers(path)[0]).definition


def field(definition: Definition, name: str) -> DataFieldDefinition:
    """The data field of a column."""
    return next(part for part in definition.data_fields if (part.column or part.name) == name)


@pytest.mark.parametrize(
    ("column", "codes", "currency"),
    [
        ("spend", {"currency_code": CODES}, "currency_code"),
        ("Media Cost", {"Currency": CODES}, "Currency"),
        ("Umsatz", {"Währung": CODES}, "Währung"),
        ("Revenue (USD)", {"Advertiser Currency": CODES}, "USD"),
        ("spend_eur", {"currency": CODES}, "EUR"),
        ("EUR Spend", {}, "EUR"),
        ("net_revenue_eur", {"currency": CODES}, "EUR"),
        ("cpm_usd", {}, "USD"),
        ("top_bid_eur", {"currency": CODES}, "EUR"),
        ("Revenue (Partner)", {"Advertiser Currency": CODES, "Partner Currency": CODES}, "Partner Currency"),
        ("Cost (Adv Currency)", {"Currency (partner)": CODES, "Advertiser ccy": CODES}, "Advertiser ccy"),
        ("eCPM", {"currency": CODES}, "currency"),
        ("Ausgaben", {"Währung": CODES}, "Währung"),
        ("Gasto", {"Moneda": CODES}, "Moneda"),
        ("Dépenses", {"Devise": CODES}, "Devise"),
        ("floor", {"currency": CODES}, "currency"),
        ("cpa_actions_num", {"currency": CODES}, None),
        ("revenue_ssp", {"currency": CODES}, "currency"),
        ("cost_all", {}, None),
        ("spend", {"currency": ["Euro", "Dollar", "Yen"] * (ROWS // 3)}, None),
        ("spend", {"market": CODES}, None),
        ("impressions", {"currency": CODES}, None),
        ("bid_requests", {"currency": CODES}, None),
        ("value", {"currency": CODES}, None),
        ("revenue_share", {"currency": CODES}, None),
    ],
)  # fmt: skip
def test_money_knows_its_currency(
    place: Place, column: str, codes: dict[str, list[str]], currency: str | None
) -> None:
    """By a code in its name, else by a column that has codes and is named like one; nothing else has any."""
    definition = guessed(frame(**codes, **{column: AMOUNTS}), place)
    assert field(definition, column).currency == currency


def test_two_columns_of_currencies_that_fit_alike_are_a_doubt(place: Place) -> None:
    """Money whose name chooses none of them has the first, as a guess; where it chooses one there is none."""
    codes = {"Partner Currency": CODES, "Advertiser Currency": CODES}
    definition = guessed(frame(**codes, **{"Media cost": AMOUNTS, "Partner cost": AMOUNTS}), place)
    media = field(definition, "Media cost")
    assert media.currency == "Partner Currency" and "though Advertiser Currency may be" in media.annotation
    assert not field(definition, "Partner cost").annotation


@pytest.mark.parametrize(
    ("currency", "sentence"),
    [
        ("code", ""),
        ("EUR", "'spend' has the currency EUR, but in this file currency"),
        (None, "'spend' has no currency, but in this file currency"),
    ],
)
def test_a_later_file_with_another_currency_is_named(
    place: Place, currency: str | None, sentence: str
) -> None:
    """It is that of a code, of a key field by its column, whatever its name, or none."""
    definition = Definition.model_validate(
        {
            "time": {"column": "day"},
            "key_fields": [{"name": "account"}, {"name": "code", "column": "currency"}],
            "data_fields": [{"name": "spend", "currency": currency, "display_type": "float"}],
        }
    )
    path = place.folder / "later.csv"
    frame(currency=CODES, spend=AMOUNTS).to_csv(path, index=False)
    sentences = infer(readers(path)[0], own_time=definition.time).misfits(definition)
    assert [text.partition(". If")[0] for text in sentences] == [sentence] * bool(sentence)


def test_money_of_a_first_month_of_zeros_keeps_later_cents(place: Place) -> None:
    """Money is written with cents whatever its first file has, as files round to what the definition says."""
    definition = guessed(frame(spend=[0.0] * len(AMOUNTS)), place)
    spend = next(field for field in definition.data_fields if field.name == "spend")
    assert (spend.display_type, spend.display_precision) == ("float", 2)


@pytest.mark.parametrize(("display_type", "is_said"), [(None, True), ("int", False), ("float", False)])
def test_fractions_in_a_later_file_are_named(place: Place, display_type: str | None, is_said: bool) -> None:
    """Files would round them; who has written that whole numbers are shown is not told."""
    fields = [{"name": "conversions", "display_type": display_type}]
    definition = Definition.model_validate(
        {"time": {"column": "day"}, "key_fields": [{"name": "account"}], "data_fields": fields}
    )
    path = place.folder / "later.csv"
    frame(conversions=AMOUNTS).to_csv(path, index=False)
    sentences = infer(readers(path)[0], own_time=definition.time).misfits(definition)
    what = "'conversions' is written in whole numbers, but in this file it has fractions"
    assert [text.partition(". If")[0] for text in sentences] == [what] * is_said


def test_a_later_file_tells_that_large_money_was_in_millionths(place: Place) -> None:
    """Fractions of money beside whole numbers that may be millionths are named: both would be added up."""
    definition = guessed(frame(spend=WHOLE), place)
    path = place.folder / "later.csv"
    frame(spend=AMOUNTS).to_csv(path, index=False)
    sentences = infer(readers(path)[0], own_time=definition.time).misfits(definition)
    assert [text.partition(". If")[0] for text in sentences] == [
        "'spend' may be in millionths, but in this file it has fractions"
    ]


@pytest.mark.parametrize(
    ("column", "values", "scale"),
    [
        ("metrics.cost_micros", WHOLE, 10**6),
        ("costMicros", WHOLE, 10**6),
        ("Average CPC (micros)", WHOLE, 10**6),
        ("spend_e6", WHOLE, 10**6),
        ("SPEND_IN_MICRO_DOLLAR", WHOLE, 10**6),
        ("CPC_IN_MICRO_DOLLAR", WHOLE, 10**6),
        ("ECPC_IN_MICRO_DOLLAR", [value + 1 / 3 for value in WHOLE], 10**6),
        ("bid_micros", WHOLE, 10**6),
        ("metrics.valueMicros", WHOLE, 10**6),
        ("floor_cents", WHOLE, 100),
        ("spend_eur_micros", WHOLE, 10**6),
        ("price_cents", WHOLE, 100),
        ("revenue_in_thousandths", WHOLE, 1000),
        ("cost_micros", AMOUNTS, 1),  # fractions: divided already
        ("cost_source3", WHOLE, 1),
        ("duration_micros", WHOLE, 1),
        ("impressions_e6", WHOLE, 1),
        ("incident_cost", WHOLE, 1),
    ],
)
def test_a_name_says_which_part_of_a_currency(
    place: Place, column: str, values: list[float], scale: int
) -> None:
    """Whole numbers of money in millionths, thousandths or cents are divided, and no others."""
    column_field = field(guessed(frame(**{column: values}), place), column)
    assert column_field.scale == scale
    assert scale == 1 or "icros" not in (column_field.description or "")


@pytest.mark.parametrize(
    ("column", "values", "is_marked"),
    [("spend", WHOLE, True), ("spend", AMOUNTS, False), ("views", WHOLE, False)],
)
def test_large_whole_money_may_be_millionths(
    place: Place, column: str, values: list[float], is_marked: bool
) -> None:
    """A name that doesn't say so leaves the numbers as they are, with a mark."""
    column_field = field(guessed(frame(**{column: values}), place), column)
    assert (column_field.scale, "scale: 1000000" in column_field.annotation) == (1, is_marked)


def test_micros_stay_exact(place: Place) -> None:
    """The sum of a million rows of 100,001 micros is that of the decimals, to the last digit."""
    count = 1_000_000
    table = pd.DataFrame({"day": ["2026-11-02"] * count, "cost_micros": [100_001] * count})
    _, definition, rows = imported(place, "micros.csv", table.to_csv(index=False), Hints())
    assert field(definition, "cost_micros").scale == 10**6
    assert set(rows["cost_micros"]) == {0.100001}
    assert decimal_sum(rows["cost_micros"].to_numpy()) == 100_001.0


@pytest.mark.parametrize(
    ("column", "values", "aggregate", "is_marked"),
    [
        ("goal_quantity", [100_000, 40_000, 70_000], "max", True),
        ("Daily budget", [50.5, 30.25, 20.0], "max", True),
        ("impression_cap", [3, 5, 7], "max", True),
        ("impressions", [100_000, 40_000, 70_000], "sum", True),
        ("Booked impressions", [9, 9, 9], "sum", False),
    ],
)
def test_what_repeats_by_another_column_is_no_amount(
    place: Place, column: str, values: list[float], aggregate: str, is_marked: bool
) -> None:
    """A goal that is the same in all rows of an account isn't added up; without such a name it is a doubt."""
    definition = field(guessed(frame(**{column: values * (ROWS // 3)}), place), column)
    assert definition.aggregate == aggregate
    assert ("the same in all rows of each account" in definition.annotation) == is_marked


@pytest.mark.parametrize(
    ("column", "is_marked"), [("Total budget", True), ("Goal impressions", True), ("clicks", False)]
)
@pytest.mark.parametrize("value", [0, 140_000])
def test_a_goal_of_one_line_item_is_marked(place: Place, column: str, is_marked: bool, value: int) -> None:
    """One value alone tells no owner: it is added up, and the name makes that a guess."""
    column_field = field(guessed(frame(**{column: [value] * ROWS}), place), column)
    assert (column_field.aggregate, "the same in all rows;" in column_field.annotation) == ("sum", is_marked)


def test_a_goal_that_varies_is_added_up(place: Place) -> None:
    """A target that differs from row to row is an amount, whatever its name."""
    data_field = field(
        guessed(frame(target_impressions=[100 + number for number in range(ROWS)]), place),
        "target_impressions",
    )
    assert (data_field.aggregate, data_field.annotation) == ("sum", "")


@pytest.mark.skipif(not SAMPLES.exists(), reason="NOT RUN: needs TRANCHE_TEST_DATA")
@pytest.mark.parametrize(
    ("sample", "column", "expected"),
    [
        ("mixed-currencies", "spend", {"currency": "currency_code"}),
        ("repeated-attributes", "goal_quantity", {"aggregate": "max"}),
        ("repeated-attributes", "daily_budget", {"aggregate": "max"}),
        ("repeated-attributes", "impressions", {"aggregate": "sum"}),
        ("micros", REVENUE, {"scale": 10**6, "aggregate": "sum"}),
        ("micros", "Column.AD_SERVER_AVERAGE_ECPM", {"scale": 1, "formula": ECPM}),  # of divided revenue
        ("micros", IMPRESSIONS, {"scale": 1}),
    ],
)
def test_samples_are_recognized(sample: str, column: str, expected: dict[str, object]) -> None:
    """Reports of three kinds have their currency, their scale, and their attributes."""
    description = field(infer(readers(SAMPLES / f"{sample}.csv")[0]).definition, column).model_dump()
    assert {name: description[name] for name in expected} == expected
