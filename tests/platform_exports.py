# ruff: noqa: E501
"""Reports of ten platforms and result sets of databases, in the layouts that these export, with their columns.

Each is made of a table of pandas, as `EXPORTS` say it.
"""

import io
import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet

DAYS = 10


def table(columns: str, first: str = "2026-10-01", count: int = DAYS, seed: int = 1) -> pd.DataFrame:
    """A table of `name:what` columns; what is a role, or after `=` an expression of other columns.

    Roles: day, text, id, sum (counts), few, money, micros (money in millionths), zero, goal (the same of each
    text), code and usd (of a currency); `r4=` rounds to four digits.
    """
    draw = np.random.default_rng(seed)
    dates = pd.date_range(first, periods=count).repeat(3)
    rows = len(dates)
    makers = {
        "day": lambda name: dates,
        "text": lambda name: [f"{name[:2]} {n % 3}" for n in range(rows)],
        "id": lambda name: [7_000_001 + n % 3 for n in range(rows)],
        "sum": lambda name: draw.integers(200, 9_000, rows).astype(float),
        "few": lambda name: draw.integers(3, 60, rows).astype(float),
        "money": lambda name: draw.integers(101, 9_999, rows) / 100,
        "micros": lambda name: draw.integers(101, 9_999, rows) * 10_000.0,
        "zero": lambda name: np.zeros(rows),
        "goal": lambda name: [[4_000.0, 7_500.0, 9_000.0][n % 3] for n in range(rows)],
        "usd": lambda name: ["USD"] * rows,
        "code": lambda name: [["EUR", "USD"][n % 3 % 2] for n in range(rows)],
    }
    frame = pd.DataFrame(index=range(rows))
    for part in columns.split(";"):
        name, what = part.strip().rsplit(":", 1)
        if "=" in what:
            digits, expression = what.split("=")
            frame[name] = frame.eval(expression).fillna(0.0).round(int(digits[1:]))
        else:
            frame[name] = makers[what](name)
    return frame


def texts(frame: pd.DataFrame, form: str = "%Y-%m-%d") -> pd.DataFrame:
    """The table with its days as texts."""
    days = {name: frame[name].dt.strftime(form) for name in frame if frame[name].dtype.kind == "M"}
    return frame.assign(**days)


def csv(frame: pd.DataFrame, form: str = "%Y-%m-%d", sep: str = ",") -> str:
    """The table as CSV."""
    return str(texts(frame, form).to_csv(index=False, sep=sep))


def sums(frame: pd.DataFrame) -> dict[str, float]:
    """The sums of a table's numbers."""
    return {name: float(frame[name].sum()) for name in frame if frame[name].dtype.kind == "f"}


def ad_manager(frame: pd.DataFrame) -> str:
    """Ad Manager: lines about the report, the table, and a line of totals."""
    total = ",".join(
        ["Total", *("" if name not in sums(frame) else f"{sums(frame)[name]:.2f}" for name in [*frame][1:])]
    )
    return f"Report name,Delivery\nDate range,October\nTime zone,UTC\n\n{csv(frame)}{total}\n"


def dv360(frame: pd.DataFrame) -> str:
    """Display & Video 360: the table, its totals without a word, and a footer longer than the table."""
    total = ",".join("" if name not in sums(frame) else f"{sums(frame)[name]:.6f}" for name in frame)
    footer = "\n".join(
        ["Report Time:,2026/11/06 08:11 GMT", "Date Range:,2026/10/01 to 2026/10/10", "Group By:,Date",
         "Group By:,Line Item", "MRC Accredited Metrics,\"measured, accredited\"", "Filter by Advertiser ID:,4200011"]
    )  # fmt: skip
    return f"{csv(frame, '%Y/%m/%d')}{total}\n\n{footer}\n"


def cm360(frame: pd.DataFrame) -> str:
    """Campaign Manager 360: a preamble of names and values, then Report Fields, the table and Grand Total."""
    total = ",".join(
        [
            "Grand Total:",
            *("---" if name not in sums(frame) else f"{sums(frame)[name]:g}" for name in [*frame][1:]),
        ]
    )
    return f"Delivery\nAccount ID,1234\nDate/Time Generated,11/1/26 8:00 AM\nReport Time Zone,UTC\n\nReport Fields\n{csv(frame)}{total}\n"


def google_ads(frame: pd.DataFrame) -> str:
    """Google Ads: a title, a span, numbers with thousands marks, and totals whose day is ` --`."""
    counts = {
        name: [f"{n:,.0f}" for n in frame[name]] for name in sums(frame) if (frame[name] % 1 == 0).all()
    }
    rows = texts(frame).assign(**counts).to_csv(index=False)
    names = list(frame)
    lines = [
        ",".join(
            [
                day,
                label,
                *(f"{sums(frame)[name]:.2f}" if name in sums(frame) else " --" for name in names[2:]),
            ]
        )
        for day, label in ((" --", "Total: Campaigns"), ("N/A", "Total: Account"))
    ]
    return f'Campaign report\n"October 1, 2026 - October 10, 2026"\n{rows}' + "\n".join(lines) + "\n"


def semicolons(frame: pd.DataFrame) -> str:
    """A European export: semicolons, decimal commas, days first."""
    return str(texts(frame, "%d.%m.%Y").to_csv(index=False, sep=";", decimal=","))


def tabs(frame: pd.DataFrame) -> bytes:
    """Microsoft Advertising's Excel form: UTF-16 with tabs."""
    return csv(frame, "%m/%d/%Y", "\t").encode("utf-16")


def clickhouse_types(frame: pd.DataFrame) -> str:
    """ClickHouse: TSVWithNamesAndTypes."""
    names, _, rows = csv(frame, sep="\t").partition("\n")
    return f"{names}\n{chr(9).join(kinds(frame))}\n{rows}"


def records(frame: pd.DataFrame) -> list[dict[str, object]]:
    """The rows as objects of JSON."""
    rows: list[dict[str, object]] = json.loads(texts(frame).to_json(orient="records"))
    return rows


def result_set(
    place_of_names: str, place_of_rows: str, kinds: dict[str, str] | None = None
) -> Callable[[pd.DataFrame], str]:
    """A result set: names at one path, arrays of cells at another; `{}` in the latter are objects."""

    def write(frame: pd.DataFrame) -> str:
        as_objects = place_of_rows.endswith("{}")
        names = [
            {"name": name, "type": (kinds or {}).get(frame[name].dtype.kind, "String")} for name in frame
        ]
        cells = texts(frame)
        if kinds:
            cells = cells.assign(
                **{
                    name: [str((day - pd.Timestamp("1970-01-01")).days) for day in frame[name]]
                    for name in frame
                    if frame[name].dtype.kind == "M"
                }
            )
        rows = records(frame) if as_objects else json.loads(cells.to_json(orient="values"))
        document: dict[str, object] = {"status": {"state": "OK"}}
        for path, value in ((place_of_names, names), (place_of_rows.removesuffix("{}"), rows)):
            *parents, last = path.split(".")
            part = document
            for parent in parents:
                part = part.setdefault(parent, {})  # type: ignore[assignment]
            part[last] = value
        return json.dumps(document)

    return write


def compact(*above: Callable[[pd.DataFrame], list[str]]) -> Callable[[pd.DataFrame], str]:
    """ClickHouse: JSONCompactEachRow, with lines of names, and of types, above."""

    def write(frame: pd.DataFrame) -> str:
        rows = [line(frame) for line in above] + json.loads(texts(frame).to_json(orient="values"))
        return "\n".join(map(json.dumps, rows)) + "\n"

    return write


def kinds(frame: pd.DataFrame) -> list[str]:
    """The types of the columns as ClickHouse names them."""
    return [{"M": "Date", "f": "Nullable(Float64)"}.get(frame[name].dtype.kind, "String") for name in frame]


def big_query(frame: pd.DataFrame) -> str:
    """BigQuery's answer over HTTP: fields of a schema, and rows of `f`, with cells of `v`, as text."""
    fields = [{"name": name, "type": "STRING", "mode": "NULLABLE"} for name in frame]
    rows = [
        {"f": [{"v": str(cell)} for cell in row]} for row in texts(frame).itertuples(index=False, name=None)
    ]
    return json.dumps({"kind": "bigquery#queryResponse", "schema": {"fields": fields}, "rows": rows})


def analytics(frame: pd.DataFrame) -> str:
    """Google Analytics 4's report: names and values of dimensions, then those of metrics, as text."""
    numbers = [*sums(frame)]
    parts = {"dimension": [name for name in frame if name not in numbers], "metric": numbers}
    cells = texts(frame, "%Y%m%d")
    rows = [
        {
            f"{part}Values": [{"value": str(cells[name][row])} for name in names]
            for part, names in parts.items()
        }
        for row in range(len(frame))
    ]
    headers = {f"{part}Headers": [{"name": name} for name in names] for part, names in parts.items()}
    return json.dumps({**headers, "rows": rows, "rowCount": len(rows), "kind": "analyticsData#runReport"})


def stamps(frame: pd.DataFrame) -> str:
    """BigQuery: times with a fraction but for one whole second, and UTC behind."""
    times = [
        f"{day:%Y-%m-%d} 10:00:00{'' if n == 4 else f'.{n % 9 + 1}'} UTC"
        for n, day in enumerate(frame["date"])
    ]
    return str(frame.assign(date=times).to_csv(index=False))


def binary(write: Callable[[pa.Table, io.BytesIO], object]) -> Callable[[pd.DataFrame], bytes]:
    """A file of columns."""

    def content(frame: pd.DataFrame) -> bytes:
        file = io.BytesIO()
        write(pa.Table.from_pandas(frame, preserve_index=False), file)
        return file.getvalue()

    return content


def stream(rows: pa.Table, file: io.BytesIO) -> None:
    """A stream of Arrow."""
    with pa.ipc.new_stream(file, rows.schema) as writer:
        writer.write_table(rows, 7)


class Later(NamedTuple):
    """What a second month breaks: `first` is added to the columns of the first, `change` makes those of it.

    `says` is a part of what the import prints then. One with columns missing `is_refused`; one that `overlaps`
    begins three days before the end of the first.
    """

    change: Callable[[str], str] = str
    says: str = ""
    first: str = ""
    is_refused: bool = False
    overlaps: bool = False


def last(columns: str, change: str) -> str:
    """The columns, with something else for the last: `{}` is its name, and its role if that is not there."""
    others, _, name = f"; {columns}".rpartition("; ")
    end = change.format(name.rpartition(":")[0]) if ":" in change else change.format(name)
    return f"{others}; {end}".removeprefix("; ")


ADDED = Later(lambda columns: f"{columns}; unheard_of:few", "no field is read from it: 'unheard_of'")
OVERLAP = Later(str, " rows are there already (", overlaps=True)
LATER = [
    Later(lambda columns: last(columns, "renamed {}"), "Unknown column", is_refused=True),
    ADDED,
    OVERLAP,
    Later(lambda columns: last(columns, "{}:sum"), "'goal' was guessed to be a max", "; goal:goal"),
    Later(lambda columns: f"{columns}; currency_code:code", " in this file currency_code", "; cost:money"),
    Later(lambda columns: last(columns, "{}:code"), first="; currency_code:usd"),
    Later(lambda columns: last(columns, "{}:micros"), " in this file whole numbers", "; media_spend:money"),
    Later(
        lambda columns: last(columns, "{}:money"), " in this file it has fractions", "; spend_micros:micros"
    ),
]
COUNTS = Later(lambda columns: columns.replace(":zero", ":few"))
NO_RATE = Later(lambda columns: columns.replace("=", "=2 * "), " is not ")


class Export(NamedTuple):
    """A file: its name, its columns as of `table`, how it is written, the columns that are no sums (formulas are
    rates, which a second month contradicts), and what a second month breaks."""

    name: str
    columns: str
    write: Callable[[pd.DataFrame], str | bytes] = csv
    others: Mapping[str, str] = MappingProxyType({})
    later: Later | None = None
    doubts: frozenset[str] = frozenset()
    rows: int = DAYS


GAM = "Date:day; Line item:text; Line item ID:id; Ad server impressions:sum; Ad server clicks:few; Ad server CPM and CPC revenue:money"
DV = "Date:day; Advertiser:text; Line Item:text; Line Item ID:id; Impressions:sum; Clicks:few; Revenue (Adv Currency):money"
CM = "Campaign:text; Date:day; Placement ID:id; Impressions:sum; Clicks:few; Media Cost:money"
ADS = "Day:day; Campaign:text; Impr.:sum; Clicks:few; Cost:money"
META = "date_start:day; date_stop:text; campaign_name:text; impressions:sum; clicks:few; link_clicks:few; spend:money"
API = "segments.date:day; campaign.id:id; metrics.impressions:sum; metrics.costMicros:micros"
XANDR = "day:day; line_item_id:id; imps:sum; clicks:few; media_cost:money"
TTD = "Date:day; Advertiser:text; Ad Group Id:id; Impressions:sum; Clicks:few; Advertiser Cost (Adv Currency):money"
AMAZON = "date:day; campaignId:id; campaignName:text; impressions:sum; clicks:few; cost:money; purchases14d:few; sales14d:money"
BING = "TimePeriod:day; CampaignName:text; Impressions:sum; Clicks:few; Spend:money"
TIKTOK = "stat_time_day:day; campaign_name:text; impressions:sum; clicks:few; spend:money"
PLAIN = "date:day; site:text; imps:sum; revenue:money"
TWINS = "day:day; ad_set:text; impressions:sum; link_clicks:few; spend:money; results:r0=link_clicks"
CTR = "clicks / impressions"
EXPORTS = [
    Export("gam.csv", GAM, ad_manager),
    Export("gam ecpm.csv", f"{GAM}; Ad server average eCPM:r2=1000 * `Ad server CPM and CPC revenue` / `Ad server impressions`", ad_manager,
           {"Ad server average eCPM": "1000 * `Ad server CPM and CPC revenue` / `Ad server impressions`"}),
    Export("gam ctr.csv", f"{GAM}; Ad server CTR:r4=`Ad server clicks` / `Ad server impressions`", csv,
           {"Ad server CTR": "`Ad server clicks` / `Ad server impressions`"}),
    *(Export(f"money {number}.csv", f"Date:day; Line item:text; Impressions:sum; {name}:money") for number, name in enumerate((
        "Ad server CPM and CPC revenue", "CPM Cost", "Bid cost", "CPC spend", "Revenue (CPM)", "Floor revenue",
        "Programmatic Guaranteed CPM spend", "CPM-Kosten", "Total CPM revenue"))),
    *(Export(f"price {number}.csv", f"Date:day; Line item:text; Impressions:sum; {name}:money", others={name: "mean"},
              doubts=frozenset({name})) for number, name in enumerate((
        "Revenue CPM", "CPM (Revenue)", "Bid", "Floor price", "Cost per click", "Avg. spend"))),
    *(Export(f"milestone {number}.csv", f"date:day; campaign:text; impressions:sum; {name}:sum") for number, name in enumerate((
        "video_watched_25_percent", "views_50pct", "Viewers at 50 pct", "Video viewed to 75%", "video_p100_watched_100_percent"))),
    *(Export(f"zeros {number}.csv", f"date:day; site:text; imps:sum; {name}:zero", later=COUNTS) for number, name in enumerate((
        "video_completions", "follows", "saves", "comments", "app_installs", "post_engagements", "results", "shares", "likes"))),
    Export("zeros of no name.csv", "date:day; site:text; imps:sum; zork:zero", doubts=frozenset({"zork"}),
           later=Later(lambda columns: last(columns, "{}:r2=imps / 7000"), "'zork' was guessed to be added up")),
    Export("dv360.csv", DV, dv360),
    *(Export(f"dv360 of {rows}.csv", DV, dv360, rows=rows, later=OVERLAP) for rows in (1, 2, 5)),
    Export("cm360.csv", CM, cm360),
    Export("cm360 rate.csv", f"{CM}; Click Rate:r4=Clicks / Impressions", cm360, {"Click Rate": "Clicks / Impressions"}),
    Export("google ads.csv", ADS, google_ads),
    Export("google ads cpc.csv", f"{ADS}; Avg. CPC:r2=Cost / Clicks", google_ads, {"Avg. CPC": "Cost / Clicks"}),
    Export("google ads conv.csv", f"{ADS}; Conversions:few; Cost / conv.:r2=Cost / Conversions", csv, {"Cost / conv.": "Cost / Conversions"}),
    Export("google ads api.json", f"{API}; metrics.clicks:few; metrics.averageCpc:r3=`metrics.costMicros` / `metrics.clicks`; "
           "metrics.averageCpm:r3=1000 * `metrics.costMicros` / `metrics.impressions`",
           lambda frame: json.dumps({"results": records(frame)}),
           {"metrics.averageCpc": "metrics.costMicros / metrics.clicks",
            "metrics.averageCpm": "1000 * metrics.costMicros / metrics.impressions"}, ADDED),
    Export("google ads averages.csv", f"{API}; metrics.averageCpc:micros; metrics.average_cost:micros",
           others={"metrics.averageCpc": "mean", "metrics.average_cost": "mean"},
           doubts=frozenset({"metrics.averageCpc", "metrics.average_cost"})),
    Export("meta.csv", META),
    Export("meta in columns.csv", "Reporting ends:text; Reporting starts:day; Campaign name:text; Link clicks:few; Amount spent (EUR):money",
           lambda frame: csv(frame.assign(**{"Reporting ends": frame["Reporting starts"].dt.strftime("%Y-%m-28")}))),
    Export("meta cpc.csv", f"{TWINS}; cpc_link:r4=spend / link_clicks", others={"cpc_link": "spend / link_clicks"},
           later=Later(lambda columns: last(columns, "{}:r4=spend / results / 2"), "'cpc_link' is not spend / link_clicks")),
    Export("meta results.csv", f"{TWINS}; cost_per_result:r4=spend / results", others={"cost_per_result": "spend / results"}),
    Export("meta ctr.csv", f"{META}; ctr:r6=100 * clicks / impressions", others={"ctr": "100 * clicks / impressions"}),
    Export("xandr.csv", XANDR),
    Export("xandr cpm.csv", f"{XANDR}; cpm:r6=1000 * media_cost / imps", others={"cpm": "1000 * media_cost / imps"}),
    Export("xandr semicolons.csv", XANDR, semicolons),
    Export("ttd.csv", TTD),
    Export("ttd coarse.csv", f"{TTD}; CTR:r2=Clicks / Impressions", others={"CTR": "Clicks / Impressions"}),
    Export("amazon.csv", AMAZON),
    Export("amazon acos.csv", f"{AMAZON}; acosClicks14d:r4=100 * cost / sales14d", others={"acosClicks14d": "100 * cost / sales14d"}),
    Export("amazon.json", AMAZON, lambda frame: json.dumps(records(frame))),
    Export("microsoft.tsv", BING, tabs),
    Export("microsoft ctr.tsv", f"{BING}; Ctr:r4=Clicks / Impressions", tabs, {"Ctr": "Clicks / Impressions"}),
    Export("tiktok.csv", TIKTOK),
    Export("tiktok cpm.csv", f"{TIKTOK}; cpm:r2=1000 * spend / impressions", others={"cpm": "1000 * spend / impressions"}),
    Export("tiktok.json", TIKTOK, lambda frame: json.dumps({"data": {"list": records(frame)}})),
    Export("jsoncompact.json", PLAIN, result_set("meta", "data")),
    Export("json.json", PLAIN, result_set("meta", "data{}"), rows=1),
    Export("snowflake.json", PLAIN, result_set("resultSetMetaData.rowType", "data", {"M": "date"})),
    Export("databricks.json", PLAIN, result_set("manifest.schema.columns", "result.data_array")),
    Export("elasticsearch.json", PLAIN, result_set("columns", "rows")),
    Export("trino.json", PLAIN, result_set("columns", "data")),
    Export("compact each row.ndjson", "column_1:day; column_2:text; column_3:sum; column_4:money", compact(),
           {"column_4": "mean"}, OVERLAP, frozenset({"column_3", "column_4"})),
    Export("compact with names.jsonl", PLAIN, compact(list)),
    Export("compact with types.json", PLAIN, compact(list, kinds)),
    Export("big query.json", PLAIN, big_query),
    Export("analytics.json", PLAIN, analytics),
    Export("analytics of three and one.json", "date:day; country:text; city:text; sessions:sum", analytics),
    Export("types.tsv", PLAIN, clickhouse_types),
    Export("bigquery.csv", PLAIN, stamps),
    Export("feather.feather", PLAIN, binary(pyarrow.feather.write_feather)),
    Export("stream.arrows", PLAIN, binary(stream)),
    Export("rows.orc", PLAIN, binary(pyarrow.orc.write_table)),
    Export("rows.parquet", PLAIN, binary(pyarrow.parquet.write_table)),
    Export("no rate.csv", f"{PLAIN}; fill_rate:r4=imps / 10000", others={"fill_rate": "mean"}, doubts=frozenset({"fill_rate"})),
    Export("zero milestone.csv", "date:day; campaign:text; video_watched_25_percent:sum; video_watched_50_percent:sum; video_watched_100_percent:zero",
           later=COUNTS,
           doubts=frozenset({"video_watched_100_percent"})),
    Export("by its rows.csv", f"{PLAIN}; kpi_share:r6=revenue / imps", others={"kpi_share": "revenue / imps"}, doubts=frozenset({"kpi_share"})),
    Export("disagreement.csv", "date:day; site:text; impressions:sum; clicks:few; ctr:r4=clicks / impressions + 0.1",
           others={"ctr": "mean"}, doubts=frozenset({"ctr"})),
]  # fmt: skip
