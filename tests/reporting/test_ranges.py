"""The intervals hold the truth as often as they say, over many samples of slicers of several kinds."""

import numpy as np
import numpy.typing as npt
import pytest
from range_coverage import DEFINITION, FORMULAS, KINDS, Coverage, Population, coverage, population
from scipy.stats import binom, gamma

from lib.reporting import intervals
from lib.reporting.engines.sums import Aggregate, Sample
from lib.reporting.measures import measures

DRAWS = 250
USER_SAMPLES = 1_000
KNOWN = measures(DEFINITION)
RARE = {"conversions", "cpa"}


@pytest.fixture(scope="module", params=KINDS)
def people(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Population:
    """A slicer of each kind: sizes with a heavy tail, even ones, one record as large as all others."""
    return population(request.param, tmp_path_factory.mktemp("ranges"))


@pytest.fixture(scope="module")
def covered(people: Population) -> dict[str, Coverage]:
    """How often the interval of each data field held."""
    return coverage(people, DRAWS)


@pytest.mark.parametrize("name", [name for name in KNOWN if name not in RARE])
def test_filtered_totals(covered: dict[str, Coverage], name: str) -> None:
    """The interval of a filtered total holds the truth in 93 to 97 of 100 samples, whatever the field."""
    assert 0.93 <= np.mean(covered[name].totals) <= 0.97


@pytest.mark.parametrize("name", KNOWN)
def test_groups(covered: dict[str, Coverage], name: str) -> None:
    """In groups of whatever size an interval that is given holds the truth in 93 of 100 samples or more."""
    assert np.mean(covered[name].groups) >= 0.93


@pytest.mark.parametrize("name", [name for name in KNOWN if name not in RARE])
def test_groups_of_many_records(covered: dict[str, Coverage], name: str) -> None:
    """In groups of 30 effective records or more it does so in 93 of 100 samples or more, too."""
    assert np.mean(covered[name].sure_groups) >= 0.93


@pytest.mark.parametrize("name", KNOWN)
def test_no_interval_without_width(covered: dict[str, Coverage], name: str) -> None:
    """No interval has zero width where something was left out."""
    assert covered[name].narrowest > 0


def aggregate(**atoms: tuple[float, float, float]) -> Aggregate:
    """A group with, per atom, its estimate, its certain part, and its second moment."""
    return Aggregate(
        estimate={atom: np.array([found[0]]) for atom, found in atoms.items()},
        certain={atom: np.array([found[1]]) for atom, found in atoms.items()},
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
    process_lock = aggregate(**{"sum:imps": (100.0, 0.0, 1e-6 * 100**2)})
    found = intervals.ranges(KNOWN["imps"], np.array([100.0]), process_lock, usual(**{"sum:imps": 400.0}))
    assert found.high[0] > 500
    assert found.n_eff[0] < 1


def test_a_group_that_shows_nothing_may_hold_the_usual_record() -> None:
    """A sum of which the sample saw nothing may be 3 usual records, which 5 of 100 samples would miss."""
    nothing = aggregate(**{"sum:imps": (0.0, 0.0, 0.0)})
    found = intervals.ranges(KNOWN["imps"], np.zeros(1), nothing, usual(**{"sum:imps": 400.0}))
    assert found.low[0] == 0
    assert found.high[0] == pytest.approx(-np.log(0.05) * 400)


def test_few_records_have_the_range_of_a_count() -> None:
    """Of two records with a weight of 2, which stand for four, the range is twice that of a Poisson count of
    two: between the exact ends and those of one more on the left, and of one less on the right."""
    two = aggregate(**{"sum:imps": (4.0, 0.0, 8.0)})
    found = intervals.ranges(KNOWN["imps"], np.array([4.0]), two, usual(**{"sum:imps": 2.0}))
    low, high = (gamma([2, 3]).ppf(tail) for tail in (0.025, 0.975))
    assert found.low[0] == pytest.approx(2 * np.cbrt(low[0] ** 2 * low[1]))
    assert found.high[0] == pytest.approx(high.sum())


def test_a_ratio_of_too_few_records_has_no_interval() -> None:
    """A ratio on less than three effective records has no interval where it would say nothing."""
    few = aggregate(**{"sum:clicks": (2.0, 0.0, 4.0), "sum:imps": (100.0, 0.0, 100.0**2)})
    found = intervals.ranges(
        KNOWN["ctr"], np.array([2.0]), few, usual(**{"sum:clicks": 2.0, "sum:imps": 100.0})
    )
    assert np.isnan(found.low[0])
    assert np.isnan(found.high[0])


def test_a_rate_stays_between_its_limits() -> None:
    """An interval never leaves what the formula can give: a rate is between 0 and 100."""
    many = aggregate(**{"sum:clicks": (90.0, 0.0, 1_500.0), "sum:imps": (100.0, 0.0, 500.0)})
    sample = usual(**{"sum:clicks": 2.0, "sum:imps": 2.0})
    found = intervals.ranges(KNOWN["ctr"], np.array([90.0]), many, sample)
    assert found.high[0] == 100
    assert found.low[0] >= 0


def test_limits_are_those_of_single_records(people: Population) -> None:
    """The limits kept for a ratio are its least and greatest value in a record; None where x may be 0."""
    atoms = people.layout.contents.lanes
    blocks = np.hstack([people.layout.block(n) for n in range(len(people.layout.spans))])
    column = {atom.removeprefix("sum:"): blocks[:, at] for at, atom in enumerate(atoms)}
    seen = column["imps"] > 0
    ctr = 100 * column["clicks"][seen] / column["imps"][seen]
    bounds = people.layout.contents.bounds
    assert tuple(bounds["ctr"]) == pytest.approx((ctr.min(), ctr.max()))
    assert bounds["cpa"][1] is None
    assert set(FORMULAS) | {"bid"} == set(bounds)


@pytest.fixture(scope="module")
def user_coverage() -> dict[str, list[bool]]:
    """A thousand random shares of 9,000 users: how often the interval held, filtered and per large group."""
    draw = np.random.default_rng(7)
    users, records = 9_000, 24_000
    codes = draw.zipf(1.3, records) % users
    group, passed = draw.zipf(1.4, records) % 12, draw.random(records) < 1 / 3
    hits: dict[str, list[bool]] = {"total": [], "groups": []}
    for _ in range(USER_SAMPLES):
        seen = (np.argsort(draw.random(users)) < users // 5)[codes]
        for kind, rows, keys in (
            ("total", passed, np.zeros(records, int)),
            ("groups", np.ones(records, bool), group),
        ):
            truth = count_users(keys[rows], codes[rows], users)
            found = count_users(keys[seen & rows], codes[seen & rows], users)
            held, many = users_held(truth, np.resize(found, truth.shape), users)
            hits[kind] += held[many].tolist()
    return hits


def users_held(
    truth: npt.NDArray[np.float64], found: npt.NDArray[np.float64], users: int
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Whether the interval of users counted on a fifth of them holds, and where it rests on 30 or more."""
    estimate = {"unique:users": 5 * found}
    share, everybody = {"unique:users": 1 / 5}, {"unique:users": users}
    ranges = intervals.ranges(
        USERS, estimate["unique:users"], Aggregate(estimate, found, share=share, users=everybody), None
    )
    return (ranges.low <= truth) & (truth <= ranges.high), ranges.n_eff >= 30


USERS = measures(
    DEFINITION.model_validate(
        {**DEFINITION.model_dump(exclude_unset=True), "audience_sources": [{"name": "users"}]}
    )
)["unique_users"]


def count_users(
    group: npt.NDArray[np.int64], codes: npt.NDArray[np.int64], users: int
) -> npt.NDArray[np.float64]:
    """How many different users each group has."""
    seen = np.unique(group * users + codes)
    return np.bincount(seen // users, minlength=int(group.max(initial=0)) + 1).astype(np.float64)


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


def test_unique_users_are_inverted_exactly() -> None:
    """Limits are numbers of users of which so many, or fewer, are counted in 2.5 % of samples (mid-p)."""
    found = intervals.ranges(USERS, np.array([20.0]), counted_users(np.array([4.0]), 0.2, 10**9), None)
    low, high = found.low[0], found.high[0]
    more = np.interp(low, [7, 8, 9], [binom.sf(4, n, 0.2) + binom.pmf(4, n, 0.2) / 2 for n in (7, 8, 9)])
    sizes = np.arange(35, 60)
    less = np.interp(high, sizes, binom.cdf(3, sizes, 0.2) + binom.pmf(4, sizes, 0.2) / 2)
    assert (more, less) == pytest.approx((0.025, 0.025), abs=0.01)
    assert high - 20 > 20 - low


def test_all_users_counted_leave_no_range() -> None:
    """Where the share's users are all users that there are, the estimate is certain."""
    found = intervals.ranges(USERS, np.array([1_000.0]), counted_users(np.array([200.0]), 0.2, 1_000), None)
    assert found.low[0] == found.high[0] == 1_000
