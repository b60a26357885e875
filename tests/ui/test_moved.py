"""The tab of what moved, in the desk: on the demo's story, a quiet slicer, and without a comparison."""

import csv
import datetime as dt
import io
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path

import boards
import downloads
import duckdb
import pandas as pd
import pyarrow as pa
import pytest
from conftest import DEFINITION, LAST_DAY, small_rows
from opening import of_delivery
from peopled import people_in
from streamlit.testing.v1 import AppTest

from lib.demo import build, stories
from lib.slicers.warehouse import Warehouse
from lib.ui.kit.markdown import EMPTY
from lib.ui.query import page_clicks

PUBLISHER = "bid_context_wrapper.supply.publisher_id"
ROWS = 300_000
TODAY = dt.datetime.now(dt.UTC).date()
COLLAPSE = TODAY - dt.timedelta(days=stories.DAYS_BEFORE_END)
Visit = Callable[..., AppTest]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with a smaller demo that ends today."""
    home = tmp_path_factory.mktemp("demo-moved")
    (home / "tranche.toml").write_text("demo = true\n")
    build(Warehouse(home / "warehouse"), people_in(home), TODAY, rows=ROWS)
    return home


@pytest.fixture
def visit(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], Visit]:
    """Audience with a question, for somebody who is signed in."""

    def over(home: Path) -> Visit:
        monkeypatch.setenv("TRANCHE_HOME", str(home))
        return partial(of_delivery, seconds=180)

    return over


def tables(desk: AppTest) -> list[dict]:
    """The table of the tab, if there is one."""
    return [table for table in boards.drawn(desk) if table["id"] == "moved"]


def lines(desk: AppTest) -> list[str]:
    """The sentences of the tab, without the backslashes of Markdown."""
    texts = [text.value.replace("\\", "").replace(EMPTY, "") for text in desk.markdown]
    return [line.removeprefix("- ") for text in texts for line in text.split("\n") if line]


def story(**more: str) -> dict[str, str]:
    """The day of the collapse, against the same weekday of the week before."""
    day = COLLAPSE.isoformat()
    return {"start": day, "end": day, "compare": "weekdays", **more}


def test_the_story_is_reported_by_one_click(demo: Path, visit: Callable[[Path], Visit]) -> None:
    """One click on the day of the collapse: the first of the ranked values is the publisher."""
    desk = visit(demo)(**story(field="win_rate"))
    assert not tables(desk)
    desk = boards.click(desk, page_clicks.CARDS, ["lower", "moved"])
    assert not desk.exception
    assert "".join(desk.query_params["lower"]) == "moved"
    (ranked,) = tables(desk)
    assert ranked["rows"][0]["values"] == [[PUBLISHER, stories.PUBLISHER]]
    assert any(f"Publisher {ranked['rows'][0]['cells'][0]['text']} explains" in line for line in lines(desk))
    desk = boards.click(desk, page_clicks.CARDS, ["lower", "cards"])
    assert not tables(desk)
    assert "lower" not in {name for name, text in desk.query_params.items() if "".join(text)}


def test_its_figures_are_those_of_the_rows(
    demo: Path, visit: Callable[[Path], Visit], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the publisher contributes to the win rate, before and now, is what DuckDB has of the files.

    The file has the same figures whole, and the difference of all last.
    """
    offered = downloads.kept(monkeypatch)
    desk = visit(demo)(**story(field="win_rate", lower="moved"))
    titles = [column["title"] for column in tables(desk)[0]["columns"]]
    assert titles == ["Value", "Key field", "Contribution", "Share", "Rate", "Mix", "Volume", "Before", "Now"]
    cells = [cell["text"] for cell in tables(desk)[0]["rows"][0]["cells"]]
    stored = Warehouse(demo / "warehouse").open("demo", "delivery")
    files = [str(path) for day in stored.files.values() for path in day]
    database = duckdb.connect()
    database.execute("set timezone = 'UTC'")
    sums = {
        day: database.execute(
            f"""select sum(imps) filter ("{PUBLISHER}" = $2), sum(bids) filter ("{PUBLISHER}" = $2),
            sum(imps), sum(bids) from read_parquet($1, hive_partitioning = false) where time::date = $3""",
            [files, stories.PUBLISHER, day],
        ).fetchone()
        for day in (COLLAPSE - dt.timedelta(days=7), COLLAPSE)
    }
    (y0, x0, all_y0, all_x0), (y1, x1, all_y1, all_x1) = sums.values()
    rate = 100 * (x0 / all_x0 + x1 / all_x1) / 2 * (y1 / x1 - y0 / x0)
    middle = (y0 / x0 + y1 / x1) / 2 - (all_y0 / all_x0 + all_y1 / all_x1) / 2
    mix = 100 * (x1 / all_x1 - x0 / all_x0) * middle
    expected = [rate + mix, rate, mix, 100 * y0 / x0, 100 * y1 / x1]
    assert cells[1] == "Publisher"
    volumes = [100 * x0 / all_x0, 100 * x1 / all_x1]
    volume_text = cells.pop(6).removesuffix(" %").split(" % → ")
    assert [float(text) for text in volume_text] == pytest.approx(volumes, abs=0.051)
    shown = [float(cell.replace("−", "-").rstrip("% points")) for cell in cells[2:]]
    share = 100 * (rate + mix) / (100 * all_y1 / all_x1 - 100 * all_y0 / all_x0)
    assert shown.pop(1) == pytest.approx(share, abs=0.051)
    assert shown == pytest.approx(expected, abs=0.0051)
    desk.session_state["moved_download"] = True
    desk.run()
    assert not desk.exception
    written = list(csv.reader(io.StringIO(offered["moved"](), newline="")))
    assert [cell.rpartition(": ")[2] for cell in written[3]] == [
        "Key field", "Value", "Description", "Contribution", "Rate", "Mix", "Before", "Now",
        "Share of the change, %", "Share of volume before, %", "Share of volume now, %",
    ]  # fmt: skip
    assert written[4][:2] == ["Publisher", stories.PUBLISHER]
    assert [float(cell) for cell in written[4][3:]] == pytest.approx([*expected, share, *volumes])
    whole = [100 * all_y0 / all_x0, 100 * all_y1 / all_x1]
    assert written[-1][:3] == ["Total", "", ""]
    assert [float(written[-1][place]) for place in (3, 6, 7)] == pytest.approx([whole[1] - whole[0], *whole])


def test_a_ratio_is_ranked(demo: Path, visit: Callable[[Path], Visit]) -> None:
    """Of a ratio: the largest contribution is first, whatever its key field."""
    assert_ranked(visit(demo)(**story(field="win_rate", lower="moved")))


def test_a_sum_is_ranked(own_home: Path, visit: Callable[[Path], Visit]) -> None:
    """Of a sum that some values lost and others gained, too; bars of losses go to the left."""
    rows = same_weeks()
    is_now = rows["time"].dt.date > LAST_DAY - dt.timedelta(days=7)
    rows.loc[is_now & rows["geo.country"].isin(["US", "FR"]), "imps"] *= 0.3
    rows.loc[is_now & (rows["geo.country"] == "DE"), "imps"] *= 1.4
    rows.loc[is_now & rows["campaign_id"].isin(["3", "5", "7"]), "imps"] *= 0.5
    store(own_home, rows)
    assert_ranked(visit(own_home)(lower="moved", field="imps"))


def assert_ranked(desk: AppTest) -> None:
    """Rows are in the order of their size, but for those that overlap; bars have one scale, and sides."""
    (ranked,) = tables(desk)
    slicer_fields = {row["values"][0][0] for row in ranked["rows"]}
    assert len(slicer_fields) > 1
    parts = [contribution(row["cells"][2]["text"]) for row in ranked["rows"]]
    sizes = [abs(part) for part in parts]
    assert sum(later > earlier for earlier, later in pairwise(sizes)) <= 1
    bars = [row["cells"][2]["bar"][0] for row in ranked["rows"]]
    assert bars == pytest.approx([part / max(sizes) for part in parts], abs=0.02)


def contribution(text: str) -> float:
    """A contribution as the table has it: `−$1,234`, `+1.20M`, `−3.1 points`."""
    number = text.replace("\u2212", "-").replace(",", "").replace("$", "").removesuffix(" points")
    scale = {" k": 1e3, " M": 1e6}.get(number[-2:], 1.0)
    return scale * float(number.removesuffix(" k").removesuffix(" M"))


def test_a_click_on_a_row_asks_for_it(demo: Path, visit: Callable[[Path], Visit]) -> None:
    """A click on the value becomes a filter, and the tab stays in sight."""
    desk = visit(demo)(**story(field="win_rate", lower="moved"))
    desk = boards.click(desk, page_clicks.MOVERS, ["include", [[PUBLISHER, stories.PUBLISHER]]])
    assert "".join(desk.query_params[f"is.{PUBLISHER}"]) == stories.PUBLISHER
    assert "".join(desk.query_params["lower"]) == "moved"


def test_nothing_stands_out(home: Path, visit: Callable[[Path], Visit]) -> None:
    """Where nothing happened the tab says so, and shows no rows."""
    desk = visit(home)(lower="moved", field="imps")
    assert any("Nothing stands out" in line for line in lines(desk))
    assert not tables(desk)


def same_weeks() -> pd.DataFrame:
    """The rows of the small demo with one week three times: nothing moves."""
    given = small_rows(seed=0).to_pandas()
    ages = (pd.Timestamp(LAST_DAY) - given["time"].dt.tz_localize(None).dt.normalize()).dt.days
    week = given[ages.between(7, 13)]
    shifted = [week.assign(time=week["time"] + pd.Timedelta(days=7 * by)) for by in (-1, 0, 1)]
    return pd.concat(shifted, ignore_index=True)


def store(home: Path, rows: pd.DataFrame) -> None:
    """Make these the rows of the slicer delivery."""
    with Warehouse(home / "warehouse").writer("demo", "delivery", DEFINITION, {}, "replace") as writer:
        writer.write(pa.Table.from_pandas(rows, schema=DEFINITION.schema(), preserve_index=False))
        writer.commit("made for the tests", f"{len(rows)} {rows['imps'].sum()}")


def test_where_everything_fell_alike(own_home: Path, visit: Callable[[Path], Visit]) -> None:
    """Where each value fell by the same share, the tab says so: it names no value and draws no table."""
    rows = same_weeks()
    rows.loc[rows["time"].dt.date > LAST_DAY - dt.timedelta(days=7), "imps"] *= 0.6
    store(own_home, rows)
    desk = visit(own_home)(lower="moved", field="imps")
    assert "all fell alike (\u221240.0 %)" in " ".join(lines(desk))
    assert not tables(desk)
    assert not any(code in line for line in lines(desk) for code in ("US", "DE", "FR"))


def test_the_cause_is_named_before_what_fell_alike(own_home: Path, visit: Callable[[Path], Visit]) -> None:
    """One campaign is the cause: it leads, with its share, before the key fields in which all fell alike."""
    rows = same_weeks()
    # Each country has the same campaigns, so that each falls by the same share.
    rows = pd.concat([rows.assign(**{"geo.country": code}) for code in ("US", "DE", "FR")], ignore_index=True)
    is_now = rows["time"].dt.date > LAST_DAY - dt.timedelta(days=7)
    before = rows.loc[is_now, "imps"].sum()
    rows.loc[is_now & (rows["campaign_id"] == "5"), "imps"] *= 0.1
    rows.loc[is_now & (rows["campaign_id"] == "3"), "imps"] *= 0.9  # a decoy
    share = 100 * rows.loc[is_now & (rows["campaign_id"] == "5"), "imps"].sum() * 9
    share /= before - rows.loc[is_now, "imps"].sum()
    store(own_home, rows)
    (line,) = (line for line in lines(visit(own_home)(lower="moved", field="imps")) if "alike" in line)
    assert f"Campaign 5 explains {share:.1f} % of it. Country: all fell alike" in line


def test_a_share_of_a_total_that_hardly_moved_is_none(own_home: Path, visit: Callable[[Path], Visit]) -> None:
    """Where a rise and a fall nearly cancel out, neither has a share of what is left of them."""
    rows = same_weeks()
    is_now = rows["time"].dt.date > LAST_DAY - dt.timedelta(days=7)
    countries = [is_now & (rows["geo.country"] == country) for country in ("US", "DE")]
    rows.loc[countries[0], "imps"] *= 1.3
    sums = [rows.loc[country, "imps"].sum() for country in countries]
    rows.loc[countries[1], "imps"] *= 1 - 0.95 * (sums[0] - sums[0] / 1.3) / sums[1]
    store(own_home, rows)
    desk = visit(own_home)(lower="moved", field="imps")
    (ranked,) = tables(desk)
    index = [column["title"] for column in ranked["columns"]].index("Share")
    assert {row["values"][0][1] for row in ranked["rows"]} >= {"US", "DE"}
    assert {row["cells"][index]["text"] for row in ranked["rows"]} == {"–"}


def test_exact_figures_have_no_uncertainty(home: Path, visit: Callable[[Path], Visit]) -> None:
    """Without earlier periods nothing is said of the uncertainty of a sample where none was drawn."""
    desk = visit(home)(lower="moved", field="imps", start="-10d")
    notes = " ".join(caption.value for caption in desk.caption)
    assert "no data for earlier periods" in notes
    assert "uncertainty" not in notes


def test_unique_users_do_not_add_up(demo: Path, visit: Callable[[Path], Visit]) -> None:
    """Of unique users the tab shows each value's own change, and says that it is no part of the whole."""
    desk = visit(demo)(**story(field="unique_users", lower="moved"))
    assert not desk.exception
    assert any("do not add up" in caption.value for caption in desk.caption)
    titles = {column["title"] for table in tables(desk) for column in table["columns"]}
    assert "Contribution" not in titles


def test_without_a_comparison_nothing_is_asked(home: Path, visit: Callable[[Path], Visit]) -> None:
    """Where no days are compared the tab says what to do."""
    desk = visit(home)(compare="none", lower="moved")
    assert any("Pick a comparison period" in caption.value for caption in desk.caption)
    assert not tables(desk)
