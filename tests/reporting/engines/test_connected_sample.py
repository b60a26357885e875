"""Samples of connected slicers: the records and ranges of the resident engine, and what happens with age."""

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from connected import CONNECTION, connected, publish

from lib import private
from lib.cli import main
from lib.reporting.definition import Definition
from lib.reporting.engines.connected import Connections, IbisEngine, LiveSlicers, writing
from lib.reporting.engines.resident import ResidentEngine
from lib.reporting.engines.sums import Question, Sums
from lib.reporting.measures import measures, pairs
from lib.reporting.models import Filter
from lib.reporting.warehouse import Warehouse
from lib.reporting.warehouse.slicer import StoredSlicer
from lib.wire.deadline import Deadline
from lib.wire.errors import BadRequest

RECORDS, DAYS, LIMIT, INTO = 12_000, 6, 3_000, "tranche_samples"
FIRST = dt.date(2026, 5, 1)
DEFINITION = Definition.model_validate(
    {
        "timezone": 3,
        "time": {"column": "time", "granularity": "hour"},
        "key_fields": [{"name": "site"}, {"name": "tags", "segmented": True}],
        "data_fields": [
            {"name": "imps"},
            {"name": "cost", "display_type": "float"},
            {"name": "price", "aggregate": "mean"},
            {"name": "most", "aggregate": "max"},
            {"name": "ecpm", "formula": "1000 * cost / imps"},
        ],
    }
)
BIG = Filter(name="site", match="not equals", value=("s0",))


def frame(days: int = DAYS, records: int = RECORDS) -> pd.DataFrame:
    """Heavy-tailed records of some days, in the order of time; a price is missing now and then."""
    draw = np.random.default_rng(3)
    hours = np.sort(draw.integers(0, 24 * days, records)) - DEFINITION.timezone
    imps = np.ceil(draw.pareto(1.3, records) * 10)
    tags = draw.choice(np.array(["a", "b", "a|b", ""]), records)
    return pd.DataFrame(
        {
            "time": pd.Timestamp(FIRST, tz="UTC") + pd.to_timedelta(hours, unit="h"),
            "site": draw.choice([f"s{number}" for number in range(6)], records),
            "tags": [text.split("|") if text else [] for text in tags.tolist()],
            "imps": imps,
            "cost": imps * draw.gamma(2, 0.001, records),
            "price": np.where(draw.random(records) < 0.1, np.nan, draw.normal(2, 1, records)),
            "most": imps,
        }
    )


def rows(found: pd.DataFrame) -> pa.Table:
    """The records as the warehouse has them."""
    return pa.Table.from_pandas(found, schema=DEFINITION.schema(), preserve_index=False)


class Source:
    """A table of these records at a source, a slicer over it with a sample, and the same rows imported."""

    def __init__(self, home: Path, url: str, most: int = 100_000) -> None:
        publish(rows(frame()), DEFINITION, url, "sales")
        self.now, self.url, self.most = [0.0], url, most
        self.connections = Connections({CONNECTION: url})
        self.live = LiveSlicers(self.connections, lambda: self.now[0], patience=60)
        self.warehouse = Warehouse(home, self._current)
        self.warehouse.connect("p", "sales", connected(DEFINITION, "sales"))
        with self.warehouse.writer("p", "imported", DEFINITION) as writer:
            writer.write(rows(frame()))
            writer.commit("made by a test", "0")
        self.engine = IbisEngine(self.live)
        self.write()

    def _current(self, stored: StoredSlicer) -> StoredSlicer:
        return stored if stored.definition.source is None else self.live.current(stored)

    def write(self) -> None:
        """Write a sample."""
        self.live.write_sample(self.stored, INTO, self.most)

    @property
    def stored(self) -> StoredSlicer:
        """The connected slicer."""
        return self.warehouse.open("p", "sales")

    def ask(self, limit: int | None = LIMIT, days: int = 60, **asked: tuple[object, ...]) -> Sums:
        """The sums over the connected slicer."""
        return self.engine.audience(self.stored, question(limit, days, **asked), Deadline())

    def resident(self, **asked: tuple[object, ...]) -> Sums:
        """The sums over the imported rows."""
        imported = self.warehouse.open("p", "imported")
        return ResidentEngine().audience(imported, question(LIMIT, **asked), Deadline())

    def add(self, more: pd.DataFrame) -> None:
        """Put more records into the table, and let a minute pass."""
        if self.url.startswith("parquet"):
            publish(rows(pd.concat([frame(), more])), DEFINITION, self.url, "sales")
        else:
            with psycopg.connect(self.url) as connection:
                connection.execute("DROP TABLE sales")
            publish(rows(pd.concat([frame(), more])), DEFINITION, self.url, "sales")
        self.now[0] += 60

    def tables(self) -> list[str]:
        """The tables of samples at the source."""
        if self.url.startswith("parquet"):
            return sorted(path.stem for path in Path(urlsplit(self.url).path).glob(f"{INTO}/*"))
        with psycopg.connect(self.url) as connection:
            found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", [INTO])
            return sorted(name for (name,) in found)


def question(
    limit: int | None,
    days: int = 60,
    split_by: tuple[str, ...] = (),
    filters: tuple[Filter, ...] = (),
    data_fields: tuple[str, ...] = ("imps", "cost", "price", "most", "ecpm"),
    timezone: int = 3,
) -> Question:
    """A question for these data fields over so many days."""
    wanted = [measures(DEFINITION)[name] for name in data_fields]
    return Question(
        first=FIRST,
        last=FIRST + dt.timedelta(days=days - 1),
        timezone=timezone,
        split_by=split_by,
        filters=filters,
        atoms=frozenset().union(*(measure.atoms for measure in wanted)),
        pairs=pairs(wanted),
        rows_limit=limit,
    )


@pytest.fixture(scope="module", params=["duckdb", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], str]:
    """Makes URLs of empty sources, of one database after the other."""

    def made() -> str:
        if request.param == "duckdb":
            return f"parquet://{tmp_path_factory.mktemp('lake')}"
        from databases import new_database_of

        server = request.getfixturevalue("postgres_server")
        return new_database_of(server).replace("postgresql+psycopg://", "postgresql://")

    return made


@pytest.fixture(scope="module")
def kept(place: Callable[[], str], tmp_path_factory: pytest.TempPathFactory) -> Source:
    """A source that no test changes."""
    return Source(tmp_path_factory.mktemp("home"), place())


@pytest.fixture
def source(place: Callable[[], str], tmp_path: Path) -> Source:
    """A source of a test's own."""
    return Source(tmp_path / "home", place())


def same(found: Sums, expected: Sums) -> None:
    """Whether two answers are one: groups, estimates, moments, and what intervals are made of."""
    order, theirs = (sums.groups.astype("str").sort_values(list(sums.groups)) for sums in (found, expected))
    assert order.to_numpy().tolist() == theirs.to_numpy().tolist()
    for mine, other, places, others in (
        (found.rows, expected.rows, order.index, theirs.index),
        (found.total, expected.total, [0], [0]),
    ):
        assert mine.exact == other.exact
        assert mine.estimate.keys() == other.estimate.keys()
        for part in ("estimate", "certain", "moments"):
            for name, values in getattr(other, part).items():
                got = getattr(mine, part)[name]
                np.testing.assert_allclose(got[places], values[others], rtol=1e-9, err_msg=f"{part} {name}")
        np.testing.assert_array_equal(mine.records[places], other.records[others])
    assert (found.records_read, found.records_in_range) == (expected.records_read, expected.records_in_range)
    assert found.dates == expected.dates
    assert (found.sample is None) == (expected.sample is None)
    if found.sample is not None and expected.sample is not None:
        assert found.sample.contribution == pytest.approx(expected.sample.contribution, rel=1e-9)
        assert found.sample.moments == pytest.approx(expected.sample.moments, rel=1e-9)
        assert found.sample.signed == expected.sample.signed
        assert found.sample.bounds.keys() == expected.sample.bounds.keys()
    assert found.missing == pytest.approx(expected.missing, rel=1e-9)


@pytest.mark.parametrize(
    ("split_by", "filters", "timezone"),
    [
        ((), (BIG,), 3),
        (("site",), (), -5),
        (("tags", "granularity_day"), (BIG,), -5),
        (("granularity_hour",), (), 3),
    ],
)
def test_the_sample_is_that_of_the_resident_engine(
    kept: Source, split_by: tuple[str, ...], filters: tuple[Filter, ...], timezone: int
) -> None:
    """The same rows give the same records drawn, estimates, moments and ranges as when they are imported."""
    asked = {"split_by": split_by, "filters": filters, "timezone": timezone}
    found = kept.ask(**asked)
    same(found, kept.resident(**asked))
    assert (found.sample is not None) == bool(filters or "site" in split_by or "tags" in split_by)


def test_a_sample_reads_its_own_table(kept: Source) -> None:
    """A sampled question reads no more records than its limit; without or within a limit, all are read."""
    assert 0 < kept.ask(filters=(BIG,)).records_read <= LIMIT
    assert kept.ask(None, filters=(BIG,)).records_read == RECORDS
    assert kept.ask(RECORDS, filters=(BIG,)).records_read == RECORDS


def test_info_names_the_database_and_the_share_of_the_sample(source: Source) -> None:
    """What reads the rows: all of them at first, a part after a smaller sample, and how old they are."""
    title = "Parquet" if source.url.startswith("parquet:") else "PostgreSQL"
    assert source.stored.info().engine == f"{title}, sample of 100 %"
    smaller = source.live.write_sample(source.stored, INTO, 10_000)
    assert source.stored.info().engine == f"{title}, sample of {round(100 * smaller.rows / RECORDS)} %"
    as_of = dt.datetime.fromisoformat(source.stored.info().as_of or "")
    assert dt.timedelta() <= dt.datetime.now(dt.UTC) - as_of < dt.timedelta(minutes=1)
    imported = source.warehouse.open("p", "imported").info()
    assert (imported.engine, (imported.as_of or "")[:10]) == ("imported", as_of.isoformat()[:10])


def test_new_days_are_read_whole(source: Source) -> None:
    """Days that came after the sample are exact parts of the estimate; the days before are as they were."""
    before = source.ask(filters=(BIG,), split_by=("granularity_day", "site"))
    more = frame(1, 500).assign(time=lambda found: found["time"] + pd.Timedelta(days=DAYS))
    source.add(more)
    found = source.ask(filters=(BIG,), split_by=("granularity_day", "site"))
    assert found.sample is not None
    assert found.records_in_range == RECORDS + 500
    assert found.records_read <= LIMIT
    day = str(FIRST + dt.timedelta(days=DAYS))
    is_new = found.groups["granularity_day"].astype("str") == day
    imps = dict(zip(found.groups.loc[is_new, "site"], found.rows.estimate["sum:imps"][is_new], strict=True))
    assert imps == more[more["site"] != "s0"].groupby("site")["imps"].sum().to_dict()
    np.testing.assert_array_equal(found.rows.certain["sum:imps"][is_new], list(imps.values()))
    assert found.rows.records[~is_new].sum() <= before.rows.records.sum()
    assert source.ask(split_by=("site",)).total.estimate["sum:imps"] == pytest.approx(
        frame()["imps"].sum() + more["imps"].sum()
    )


def test_changed_days_are_read_whole(source: Source) -> None:
    """A day whose records per hour have changed is read as it is now, and never from the sample."""
    more = frame(1, 700)
    source.add(more)
    both = pd.concat([frame(), more])
    local = (both["time"] + pd.Timedelta(hours=3)).dt.date
    expected = both[(local == FIRST) & (both["site"] != "s0")]
    found = source.ask(4_000, filters=(BIG,), split_by=("granularity_day",))
    first = found.groups["granularity_day"].astype("str") == str(FIRST)
    assert found.sample is not None
    assert found.rows.estimate["sum:imps"][first] == found.rows.certain["sum:imps"][first]
    assert found.rows.estimate["sum:imps"][first] == expected["imps"].sum()
    days = source.ask(4_000, split_by=("granularity_day",))
    sums = both.groupby(local)["imps"].sum()
    assert days.rows.estimate["sum:imps"].tolist() == pytest.approx(sums.tolist())


def test_too_much_has_changed(source: Source) -> None:
    """Where the days that changed have more records than the limit, the answer is exact."""
    source.add(frame())
    found = source.ask(filters=(BIG,))
    assert found.sample is None
    assert found.total.estimate["records"] == 2 * (frame()["site"] != "s0").sum()
    source.write()
    assert source.ask(filters=(BIG,)).sample is not None


def test_a_smaller_sample(place: Callable[[], str], tmp_path: Path) -> None:
    """With fewer rows than the table has, questions are answered from those."""
    source = Source(tmp_path / "home", place(), 10_000)
    stored = source.live.of(source.stored).sample
    assert stored is not None and not stored.manifest.is_whole and stored.manifest.rows <= 10_000
    same(source.ask(filters=(BIG,), split_by=("site",)), source.resident(filters=(BIG,), split_by=("site",)))
    assert source.ask(11_999, filters=(BIG,)).records_read <= 10_000


def test_samples_are_replaced(source: Source) -> None:
    """A new sample takes the place of the old; the one before it stays for questions that still read it."""
    first = source.tables()
    versions = {source.stored.version}
    source.write()
    assert len(source.tables()) == 2
    source.write()
    versions.add(source.stored.version)
    assert len(source.tables()) == 2 and first[0] not in source.tables()
    assert len(versions) == 2


def test_one_sample_is_written_at_a_time(source: Source) -> None:
    """While another process writes a sample of the slicer, a second is refused, and leaves no table."""
    before = source.tables()
    other = private.process_lock(source.stored.folder / writing.LOCK)
    with other, pytest.raises(BadRequest, match="Another sample of sales is being written; wait"):
        source.write()
    assert source.tables() == before


def test_the_table_itself_is_not_touched(kept: Source) -> None:
    """A sample leaves the table that it is drawn from as it was."""
    if kept.url.startswith("parquet"):
        lake = Path(urlsplit(kept.url).path)
        assert sorted(path.name for path in lake.iterdir()) == ["sales.parquet", INTO]
        assert pq.read_table(lake / "sales.parquet").num_rows == RECORDS
        return
    with psycopg.connect(kept.url) as connection:
        columns = connection.execute(
            "SELECT column_name FROM information_schema.columns WHERE table_name = 'sales'"
        ).fetchall()
        counted = connection.execute("SELECT count(*) FROM sales").fetchone()
    assert {name for (name,) in columns} == set(DEFINITION.source_columns())
    assert counted == (RECORDS,)


def test_without_its_table(source: Source) -> None:
    """Where the table of a sample was removed at the source, answers are exact."""
    for name in source.tables():
        source.connections.drop_own(CONNECTION, (INTO, name))
    source.now[0] += 60
    found = source.ask(filters=(BIG,))
    assert (found.sample, found.records_read) == (None, RECORDS)


def test_another_definition(source: Source) -> None:
    """A sample that was drawn for another definition is not used."""
    changed = DEFINITION.model_copy(update={"timezone": 0})
    source.warehouse.connect("p", "sales", connected(changed, "sales"), replace=True)
    assert source.live.of(source.stored).sample is None


def test_where_nothing_can_be_written(
    place: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the source can't take a table, the command says so before it reads, and what would help."""
    source = Source(tmp_path / "home", place())
    monkeypatch.setattr(writing, "_drawing", None)
    if source.url.startswith("parquet"):
        (Path(urlsplit(source.url).path) / "taken").write_text("a file, not a folder")
        with pytest.raises(BadRequest, match="can't be written to"):
            source.live.write_sample(source.stored, "taken", 100_000)
        return
    with psycopg.connect(source.url, autocommit=True) as admin:
        admin.execute("DROP ROLE IF EXISTS reader")
        admin.execute("CREATE ROLE reader LOGIN")
        admin.execute("GRANT SELECT ON sales TO reader")
    live = LiveSlicers(Connections({CONNECTION: source.url.replace("tranche@", "reader@")}))
    with pytest.raises(BadRequest, match="CREATE SCHEMA elsewhere AUTHORIZATION"):
        live.write_sample(source.stored, "elsewhere", 100_000)


def test_by_command(place: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`tranche connect --sample` writes the sample with a new slicer, and anew for one that is there."""
    home, url = tmp_path / "home", place()
    publish(rows(frame(2, 2_000)), DEFINITION, url, "sales")
    home.mkdir()
    (home / "tranche.toml").write_text(f'[connections.lake]\nurl = "{url}"\n')
    (home / "tranche.toml").chmod(0o600)
    monkeypatch.setenv("TRANCHE_HOME", str(home))
    monkeypatch.chdir(tmp_path)
    command = ["connect", "lake", "sales", "--project", "acme", "--slicer", "sales", "--sample"]
    for _ in range(2):
        made = CliRunner().invoke(main, command)
        assert made.exit_code == 0, made.output
        assert f"A sample of 2,000 rows is written to {INTO}.sample_" in made.output
    refused = CliRunner().invoke(main, [*command, "--sample-into", "a/b"])
    assert refused.exit_code == 1
    assert "small letters" in refused.output
