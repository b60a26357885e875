"""The same questions in DuckDB, over the same rows: what the engine is held to.

Every key field is a table of its own, `id, value, described`: one line per record and different element. A
filter is a set of ids, a split a join.
"""

import datetime as dt
from collections.abc import Sequence
from typing import Any

import duckdb
import pyarrow as pa
from random_slicers import DATA, SEGMENTED, SEPARATOR, SINGLE, RandomSlicer

Line = dict[str, Any]
SHAPES = {
    "granularity_hour": "strftime(local, '%Y-%m-%d %H:00')",
    "granularity_day": "strftime(local, '%Y-%m-%d')",
    "granularity_week": "strftime(local, '%G-W%V')",
    "granularity_month": "strftime(local, '%Y-%m')",
    "granularity_quarter": "year(local) || ' Q' || quarter(local)",
    "granularity_year": "strftime(local, '%Y')",
}
AGGREGATES = {
    "spend": "coalesce(sum(spend), 0)",
    "gain": "coalesce(sum(gain), 0)",
    "mean": "avg(mean)",
    "least": "min(least)",
    "most": "max(most)",
    "records": "count(*)",
    "present": "count(mean)",
    "kinds": "count(distinct nullif(kinds, ''))",
    "ratio": "coalesce(sum(spend), 0) / nullif(coalesce(sum(gain), 0), 0)",
    "rate": "-1000 * (coalesce(sum(spend), 0) - coalesce(sum(gain), 0)) / nullif(count(*), 0)",
    "per_user": "coalesce(sum(gain), 0) / nullif(count(distinct nullif(users, '')), 0)",
    "unique_users": "count(distinct nullif(users, ''))",
}
TESTS = {
    "equals": "{text} = {value}",
    "contains": "contains({text}, {value})",
    "begins with": "starts_with({text}, {value})",
    "ends with": "suffix({text}, {value})",
}


class Duck:
    """A slicer's rows in DuckDB."""

    def __init__(self, slicer: RandomSlicer) -> None:
        self.slicer = slicer
        self.db = duckdb.connect(config={"threads": 1, "autoinstall_known_extensions": False})
        rows = pa.Table.from_pylist(
            [
                row
                | {"time": row["time"].replace(tzinfo=None)}
                | {name: _elements(row[name]) for name in SEGMENTED}
                for row in slicer.rows
            ],
            schema=pa.schema(
                [
                    field.with_type(pa.timestamp("s")) if field.name == "time" else field
                    for field in slicer.definition.schema()
                ]
            ),
        ).append_column("id", pa.array(range(len(slicer.rows))))
        self.db.register("given", rows)
        self.db.execute("create table rows as select * from given")
        for name in (*SINGLE, *SEGMENTED):
            self._key_table(name)

    def _key_table(self, name: str) -> None:
        mapping = self.slicer.mappings.get(name, {})
        texts = pa.table(
            {
                "value": pa.array(mapping.keys(), pa.string()),
                "described": pa.array(mapping.values(), pa.string()),
            }
        )
        self.db.register(f"mapping_{name}", texts)
        column = name if name in SEGMENTED else f"[{name}]"
        self.db.execute(
            f"""create table key_{name} as
            with elements as (select id, unnest({column}) as element from rows),
                 present as (select distinct id, coalesce(element, '') as value from elements),
                 every as (select * from present
                           union all select id, '' from rows where id not in (select id from present))
            select id, value, described from every left join mapping_{name} using (value)"""
        )

    def ask(self, asked: dict[str, Any]) -> tuple[list[tuple[tuple[str, ...], Line]], Line, list[str]]:
        """The rows in their order, the total, and the days with data."""
        self._set_zone(asked.get("timezone", self.slicer.definition.timezone))
        self.db.execute(
            "create or replace temp table ranged as select * from timed where local::date between ? and ?",
            [dt.date.fromisoformat(asked["start_date"]), dt.date.fromisoformat(asked["end_date"])],
        )
        days = self.db.execute("select distinct local::date::text from ranged order by 1").fetchall()
        where, values = _conditions([*([wanted] for wanted in asked["filters"]), *asked.get("any_of", ())])
        self.db.execute(f"create or replace temp table counted as select * from ranged where {where}", values)
        total = self._lines("select {data} from counted", [])[0][1]
        return self._rows(asked, total), total, [day for (day,) in days]

    def records(self, columns: Sequence[str]) -> list[tuple[Any, ...]]:
        """The records that the last question counted, with these columns; texts are never null."""
        texts = {name: f"coalesce({name}, '')" for name in (*SINGLE, "kinds")} | {"records": "1.0::double"}
        cells = ", ".join(SHAPES.get(name, texts.get(name, name)) for name in columns)
        return self.db.execute(f"select {cells} from counted").fetchall()

    def _set_zone(self, zone: int | str) -> None:
        """`timed`: the rows with their local time. A slicer of days knows no hours to shift."""
        is_hourly = self.slicer.definition.time.granularity == "hour"
        local = f"time + interval ({zone if is_hourly else 0}) hour"
        if isinstance(zone, str):
            local = f"timezone('{zone}', timezone('UTC', time))"
        self.db.execute(f"create or replace temp view timed as select *, {local} as local from rows")
        for name, shape in SHAPES.items():
            self.db.execute(
                f"create or replace temp view key_{name} as "
                f"select id, {shape} as value, null as described from timed"
            )

    def _rows(self, asked: dict[str, Any], total: Line) -> list[tuple[tuple[str, ...], Line]]:
        split_by = asked["split_by"]
        if not split_by:
            return [((), total)]
        joins = " ".join(f"join key_{name} as k{place} using (id)" for place, name in enumerate(split_by))
        keys = [f"k{place}.value" for place in range(len(split_by))]
        named = ", ".join(f'{key} as "{name}"' for key, name in zip(keys, split_by, strict=True))
        grouped = f"select {named}, {{data}} from counted {joins} group by {', '.join(keys)}"
        order = ", ".join([*_orders(asked), *(f'"{name}"' for name in split_by)])
        return self._lines(f"select * from ({grouped}) order by {order}", split_by)

    def _lines(self, query: str, split_by: list[str]) -> list[tuple[tuple[str, ...], Line]]:
        data = ", ".join(f"{AGGREGATES[name]} as {name}" for name in DATA)
        rows = self.db.execute(query.format(data=data)).fetchall()
        width = len(split_by)
        return [(line[:width], dict(zip(DATA, line[width:], strict=True))) for line in rows]


def _elements(cell: str | list[str | None] | None) -> list[str]:
    """The elements of a list, or between separators: blanks around them and empty ones don't count."""
    parts = cell.split(SEPARATOR) if isinstance(cell, str) else cell or []
    return [part.strip() for part in parts if part and part.strip()]


def _orders(asked: dict[str, Any]) -> list[str]:
    first = asked["split_by"][0]
    usual = [{"name": "spend", "direction": "desc"}]
    if first in SHAPES:
        usual = [{"name": name, "direction": "asc"} for name in asked["split_by"]]
    orders = asked.get("order_by", usual)
    return [f"{_sorted_by(order['name'])} {order['direction']} nulls last" for order in orders]


def _sorted_by(name: str) -> str:
    return "try_cast(number as double)" if name == "number" else f'"{name}"'


def _conditions(clauses: list[list[dict[str, Any]]]) -> tuple[str, list[str]]:
    """Of each clause any filter holds."""
    conditions, values = ["true"], []
    for clause in clauses:
        alternatives = [_condition(wanted) for wanted in clause]
        conditions.append(f"({' or '.join(condition for condition, _ in alternatives)})")
        values += [value for _, own in alternatives for value in own]
    return " and ".join(conditions), values


def _condition(wanted: dict[str, Any]) -> tuple[str, list[str]]:
    positive = wanted["match"].removeprefix("not ")
    texts = ["value", "described"] if wanted["search_mappings"] else ["value"]
    tests, values = [], []
    for text in texts:
        for value in wanted["value"]:
            lower = "lower({})" if wanted["case_insensitive"] else "{}"
            tests.append(TESTS[positive].format(text=lower.format(text), value=lower.format("?")))
            values.append(value)
    negated = "not " if wanted["match"].startswith("not ") else ""
    return f"id {negated}in (select id from key_{wanted['name']} where {' or '.join(tests)})", values
