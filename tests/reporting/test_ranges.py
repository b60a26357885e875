"""The intervals hold the truth as often as they say, over many samples of slicers of several kinds."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from range_coverage import CLASSES, DEFINITION, FORMULAS, KINDS, Coverage, Population, coverage, population
from scipy.stats import binom, gamma
from scipy.stats import t as student

from lib.engines.resident.draw import Draw
from lib.engines.sums import Aggregate, Sample
from lib.reporting import intervals
from lib.slicers.measures import measures

DRAWS = 250
USER_SAMPLES = 1_000
KNOWN = measures(DEFINITION)
EXACT = "conversions"
"""Rare and large: every record that has one is drawn."""


@pytest.fixture(scope="module", params=KINDS)
def people(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Population:
    """A slicer of each kind: sizes with a heavy tail, even ones, one record as large as all others."""
    return population(request.param, tmp_path_factory.mktemp("ranges"))


@pytest.fixture(scope="module")
def covered(people: Population) -> dict[str, Coverage]:
    """How often the interval of each data field held."""
    return coverage(people, DRAWS)


@pytest.mark.parametrize("name", [name for name in KNOWN if name != EXACT])
def test_filtered_totals(covered: dict[str, Coverage], name: str) -> None:
    """The interval of a filtered total holds the truth in 93 to 97 of 100 samples, whatever the field."""
    assert 0.93 <= np.mean(covered[name].held["totals"]) <= 0.97


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("size", [name for name in CLASSES if name != "totals"])
def test_groups(covered: dict[str, Coverage], name: str, size: str) -> None:
    """In groups of whatever size it does so in 92 of 100 samples or more: of sums, of profits with rare heavy
    rows, and of ratios of these."""
    assert np.mean(covered[name].held[size]) >= 0.92


@pytest.mark.parametrize("name", KNOWN)
def test_every_group_has_an_interval(covered: dict[str, Coverage], name: str) -> None:
    """What a sample met has an interval, also the cost per conversion of few conversions."""
    assert not any(covered[name].without)


@pytest.mark.parametrize("name", KNOWN)
def test_no_interval_without_width(covered: dict[str, Coverage], name: str) -> None:
    """No interval has zero width where something was left out."""
    assert covered[name].narrowest > 0


def aggregate(**atoms: tuple[float, float, float]) -> Aggregate:
    """A group with, per atom, its estimate, its certain part, and its second moment."""
    return Aggregate(
        estimate={atom: np.array([row[0]]) for atom, row in atoms.items()},
        certain={atom: np.array([row[1]]) for atom, row in atoms.items()},
        moments={
            (a, b): np.array([np.sqrt(atoms[a][2] * atoms[b][2])]) for a in atoms for b in atoms if a <= b
        },
        records=np.ones(1),
        exact=False,
    )


def usual(**contributions: float) -> Sample:
    """A sample in which one more record usually adds so much to each atom, independently of the others."""
    pairs = [(a, b) for a in contributions for b in contributions if a <= b]
    return Sample(
        contribution=contributions,
        moments={(a, b): contributions[a] ** 2 if a == b else 0.0 for a, b in pairs},
        signed=frozenset(),
        bounds={"ctr": (0.0, 100.0)},
    )


def test_a_lone_record_is_not_certain() -> None:
    """A group of one record whose weight is just above 1 may have lost others as large as the usual one."""
    lone = aggregate(**{"sum:imps": (100.0, 0.0, 1e-6 * 100**2)})
    interval = intervals.ranges(KNOWN["imps"], np.array([100.0]), lone, usual(**{"sum:imps": 400.0}))
    assert interval.high[0] > 500
    assert interval.n_eff[0] < 2


def test_a_group_that_shows_nothing_may_hold_the_usual_record() -> None:
    """A sum of which the sample saw nothing may be 3 usual records, which 5 of 100 samples would miss."""
    nothing = aggregate(**{"sum:imps": (0.0, 0.0, 0.0)})
    interval = intervals.ranges(KNOWN["imps"], np.zeros(1), nothing, usual(**{"sum:imps": 400.0}))
    assert interval.low[0] == 0
    assert interval.high[0] == pytest.approx(-np.log(0.05) * 400)


def test_few_records_have_the_range_of_a_count() -> None:
    """Of two records with a weight of 2, which stand for four, the range is twice that of a Poisson count of
    two: between the exact ends and those of one more on the left, and of one less on the right."""
    two = aggregate(**{"sum:imps": (4.0, 0.0, 8.0)})
    interval = intervals.ranges(KNOWN["imps"], np.array([4.0]), two, usual(**{"sum:imps": 2.0}))
    low, high = (gamma([2, 3]).ppf(tail) for tail in (0.025, 0.975))
    assert interval.low[0] == pytest.approx(2 * np.cbrt(low[0] ** 2 * low[1]), rel=1e-5)
    assert interval.high[0] == pytest.approx(high.sum(), rel=1e-5)


def test_a_ratio_has_the_interval_that_its_sides_leave() -> None:
    """Where both sides vary on their own, R is possible while (N - RD)² ≤ a² + R²b², a and b being how far
    each side reaches in that direction."""
    sides = {"sum:clicks": (40.0, 0.0, 80.0), "sum:imps": (900.0, 100.0, 30_000.0)}
    group, sample = aggregate(**sides), usual(**{"sum:clicks": 2.0, "sum:imps": 30.0})
    group.moments["sum:clicks", "sum:imps"][:] = 0.0
    clicks, imps = (
        intervals.ranges(KNOWN[name], np.array([value]), group, sample)
        for name, value in (("clicks", 40.0), ("imps", 900.0))
    )
    interval = intervals.ranges(KNOWN["ctr"], np.array([100 * 40 / 900]), group, sample)
    for ratio, reach in (
        (interval.low[0] / 100, (40 - clicks.low[0], imps.high[0] - 900)),
        (interval.high[0] / 100, (clicks.high[0] - 40, 900 - imps.low[0])),
    ):
        assert (40 - 900 * ratio) ** 2 == pytest.approx(reach[0] ** 2 + (ratio * reach[1]) ** 2)


def test_a_ratio_over_an_exact_sum_has_the_interval_of_what_stands_above() -> None:
    """Three conversions whose records were certain to be drawn: what they cost is as uncertain as the cost,
    and the usual record, which has a hundredth of a conversion, hardly matters."""
    group = aggregate(**{"sum:revenue": (30.0, 0.0, 100.0), "sum:conversions": (3.0, 3.0, 0.0)})
    sample = usual(**{"sum:revenue": 3.0, "sum:conversions": 1e-6})
    interval = intervals.ranges(KNOWN["cpa"], np.array([10.0]), group, sample)
    revenue = intervals.ranges(KNOWN["revenue"], np.array([30.0]), group, sample)
    assert interval.low[0] == pytest.approx(revenue.low[0] / 3, rel=1e-3)
    assert interval.high[0] == pytest.approx(revenue.high[0] / 3, rel=1e-3)


def test_a_ratio_over_what_may_be_nothing_has_no_interval() -> None:
    """Profit may be zero here, and revenue per profit then be anything."""
    definition = DEFINITION.model_dump(exclude_unset=True)
    definition["data_fields"] = [
        *definition["data_fields"], {"name": "per_profit", "formula": "revenue / profit"}
    ]  # fmt: skip
    measure = measures(DEFINITION.model_validate(definition))["per_profit"]
    group = aggregate(**{"sum:revenue": (30.0, 0.0, 100.0), "sum:profit": (10.0, 0.0, 400.0)})
    sample = replace(
        usual(**{"records": 2.0, "sum:revenue": 3.0, "sum:profit": 5.0}), signed=frozenset({"sum:profit"})
    )
    group.certain["records"] = np.zeros(1)
    interval = intervals.ranges(measure, np.array([3.0]), group, sample)
    assert np.isnan(interval.low[0]) and np.isnan(interval.high[0])


def test_a_profit_has_students_range_by_its_records() -> None:
    """Eight light records of 5 each in absolute value, of which the sum is -2: t by the design, not by a sum
    near zero. V = 8 · 25, of the usual record 25 more: n = (8·5 + 5)² / 225 = 9, (225 / 200)² · 9 degrees."""
    group = replace(aggregate(**{"sum:profit": (-2.0, 0.0, 200.0)}), records=np.array([8.0]))
    group.certain["records"] = np.zeros(1)
    sample = replace(usual(**{"records": 2.0, "sum:profit": 5.0}), signed=frozenset({"sum:profit"}))
    interval = intervals.ranges(KNOWN["profit"], np.array([-2.0]), group, sample)
    side = student.ppf(0.975, 9 * (225 / 200) ** 2) * np.sqrt(225)
    assert (interval.low[0], interval.high[0]) == pytest.approx((-2 - side, -2 + side))
    assert interval.n_eff[0] == pytest.approx(9)


def test_a_rate_stays_between_its_limits() -> None:
    """An interval never leaves what the formula can give: a rate is between 0 and 100."""
    many = aggregate(**{"sum:clicks": (90.0, 0.0, 1_500.0), "sum:imps": (100.0, 0.0, 500.0)})
    sample = usual(**{"sum:clicks": 2.0, "sum:imps": 2.0})
    interval = intervals.ranges(KNOWN["ctr"], np.array([90.0]), many, sample)
    assert interval.high[0] == 100
    assert interval.low[0] >= 0


def test_limits_are_those_of_single_records(people: Population) -> None:
    """The limits kept for a ratio are its least and greatest value in a record; None where x may be 0."""
    atoms = people.layout.contents.lanes
    blocks = np.hstack(
        [form.restore(people.layout.block(n)[:]) for n, form in enumerate(people.layout.forms)]
    )
    column = {atom.removeprefix("sum:"): blocks[:, at] for at, atom in enumerate(atoms)}
    seen = column["imps"] > 0
    ctr = 100 * column["clicks"][seen] / column["imps"][seen]
    bounds = people.layout.contents.bounds
    assert tuple(bounds["ctr"]) == pytest.approx((ctr.min(), ctr.max()))
    assert bounds["cpa"][1] is None
    assert set(FORMULAS) | {"bid"} == set(bounds)


def test_what_is_always_drawn_adds_next_to_nothing(people: Population) -> None:
    """Of n reference records with conversions none is light: one of n + 2 may be (rule of succession), with
    the largest weight."""
    layout = people.layout
    sample = Draw(layout, 0.2, ["records", "sum:conversions"], [("sum:conversions",) * 2]).sample()
    block, (lane, *_) = layout.columns["sum:conversions"]
    conversions = layout.block(block)[:, lane]
    weight = 1 / (0.2 * layout.contents.smallest_size)
    typical = layout.contents.typical[list(layout.contents.lanes).index("sum:conversions")]
    assert sample.contribution["sum:conversions"] <= weight * typical / 100
    assert sample.contribution["sum:conversions"] >= weight * typical / (2 + np.count_nonzero(conversions))


@pytest.fixture(scope="module")
def user_coverage() -> dict[str, list[bool]]:
    """A thousand random shares of 9,000 users: how often the interval held, filtered and per large group."""
    draw = np.random.default_rng(7)
    users, records = 9_000, 24_000
    codes = draw.zipf(1.3, records) % users
    group, passed = draw.zipf(1.4, records) % 12, draw.random(records) < 1 / 3
    pairs = {"total": np.unique(codes[passed]), "groups": np.unique(group * users + codes)}
    hits: dict[str, list[bool]] = {"total": [], "groups": []}
    for _ in range(USER_SAMPLES):
        sampled = np.argsort(draw.random(users)) < users // 5
        for kind, groups_and_users in pairs.items():
            groups, codes = np.divmod(groups_and_users, users)
            truth, sample_users = np.bincount(groups), np.bincount(groups, sampled[codes])
            held, many = users_held(truth.astype(np.float64), sample_users, users)
            hits[kind] += held[many].tolist()
    return hits


def users_held(
    truth: npt.NDArray[np.float64], sample_users: npt.NDArray[np.float64], users: int
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Whether the interval of users counted on a fifth of them holds, and where it rests on 30 or more."""
    estimate = {"unique:users": 5 * sample_users}
    share, everybody = {"unique:users": 1 / 5}, {"unique:users": users}
    ranges = intervals.ranges(
        USERS, estimate["unique:users"], Aggregate(estimate, sample_users, share=share, users=everybody), None
    )
    return (ranges.low <= truth) & (truth <= ranges.high), ranges.n_eff >= 30


USERS = measures(
    DEFINITION.model_validate(
        {**DEFINITION.model_dump(exclude_unset=True), "audience_sources": [{"name": "users"}]}
    )
)["unique_users"]


def test_unique_users_of_groups(user_coverage: dict[str, list[bool]]) -> None:
    """Counted on a share of all users, a group's unique users lie in their range 92 times of 100 or more."""
    assert np.mean(user_coverage["groups"]) >= 0.92


def test_unique_users_behind_a_filter(user_coverage: dict[str, list[bool]]) -> None:
    """Counted on a share of all users, those behind a filter lie in their range 93 to 97 times of 100."""
    assert 0.93 <= np.mean(user_coverage["total"]) <= 0.97


@pytest.mark.parametrize("share", [0.1, 0.2, 0.5])
def test_unique_users_of_any_number(share: float) -> None:
    """Of 3 to 10,000 users about 95 % of ranges hold, and those that don't are as often above as below."""
    draw, everybody = np.random.default_rng(17), 10**7
    for users in (3, 10, 30, 100, 1_000, 10_000):
        counted = draw.binomial(users, share, 1_000).astype(np.float64)
        ranges = intervals.ranges(USERS, counted / share, counted_users(counted, share, everybody), None)
        high, low = np.mean(ranges.high < users), np.mean(ranges.low > users)
        assert 1 - high - low >= 0.92
        if users >= 100:
            assert 1 - high - low <= 0.975 and 0.01 <= high <= 0.04 and 0.01 <= low <= 0.04


def counted_users(
    counted: npt.NDArray[np.float64], share: float, everybody: int, atom: str = "unique:users"
) -> Aggregate:
    """Users that were counted on a share of all of them."""
    return Aggregate({atom: counted / share}, counted, share={atom: share}, users={atom: everybody})


def test_a_figure_per_user_has_the_range_of_the_users() -> None:
    """1,000 exact impressions of 67 to 146 users are 6.9 to 15 each, also in an answer of a sample."""
    definition = DEFINITION.model_dump(exclude_unset=True) | {"audience_sources": [{"name": "users"}]}
    definition["data_fields"] = [
        *definition["data_fields"],
        {"name": "frequency", "formula": "imps / unique_users"},
    ]
    measure = measures(DEFINITION.model_validate(definition))["frequency"]
    counted = counted_users(np.array([20.0]), 0.2, 10**6)
    both = replace(counted, estimate=counted.estimate | {"sum:imps": np.array([1_000.0])})
    users = intervals.ranges(USERS, np.array([100.0]), counted, None)
    for sample in (None, usual(**{"sum:imps": 3.0})):
        interval = intervals.ranges(measure, np.array([10.0]), both, sample)
        assert (interval.low[0], interval.high[0]) == pytest.approx(
            (1_000 / users.high[0], 1_000 / users.low[0])
        )
        assert interval.n_eff[0] == 20


def test_unique_users_are_inverted_exactly() -> None:
    """Limits are numbers of users of which so many, or fewer, are counted in 2.5 % of samples (mid-p)."""
    interval = intervals.ranges(USERS, np.array([20.0]), counted_users(np.array([4.0]), 0.2, 10**9), None)
    low, high = interval.low[0], interval.high[0]
    more = np.interp(low, [7, 8, 9], [binom.sf(4, n, 0.2) + binom.pmf(4, n, 0.2) / 2 for n in (7, 8, 9)])
    sizes = np.arange(35, 60)
    less = np.interp(high, sizes, binom.cdf(3, sizes, 0.2) + binom.pmf(4, sizes, 0.2) / 2)
    assert (more, less) == pytest.approx((0.025, 0.025), abs=0.01)
    assert high - 20 > 20 - low


def test_all_users_counted_leave_no_range() -> None:
    """Where the share's users are all users that there are, the estimate is certain."""
    interval = intervals.ranges(
        USERS, np.array([1_000.0]), counted_users(np.array([200.0]), 0.2, 1_000), None
    )
    assert interval.low[0] == interval.high[0] == 1_000
