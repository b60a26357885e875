"""The rows that every tool is given, and what is asked of them."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

DAYS, USERS = 60, 200_000
CARDINALITY = {"country": 60, "site": 2_000, "browser": 12, "os": 8, "page": 50_000}
TAGS = tuple(f"tag {number}" for number in range(20))
SITES = tuple(f"site {number}" for number in range(1, 40))


@dataclass(frozen=True)
class Case:
    """A question: key fields to split by; whether sites are filtered, tags unnested, users counted."""

    split: tuple[str, ...]
    filtered: bool = False
    segmented: bool = False
    distinct: bool = False

    @property
    def title(self) -> str:
        """The case in a few words."""
        keys = " × ".join(("tags", *self.split) if self.segmented else self.split)
        return f"{keys}{', 39 sites' if self.filtered else ''}{', distinct users' if self.distinct else ''}"

    @property
    def is_plain(self) -> bool:
        """One of the eight splits that the geometric mean is of."""
        return not (self.filtered or self.segmented or self.distinct)


CASES = (
    Case(("os",)),
    Case(("country",)),
    Case(("site",)),
    Case(("country", "browser")),
    Case(("site", "browser")),
    Case(("page",)),
    Case(("country", "site", "os")),
    Case(("page", "site")),
    Case(("country",), filtered=True),
    Case(("country", "browser"), filtered=True),
    Case((), segmented=True),
    Case(("country",), distinct=True),
)


def make_rows(records: int, fields: int, seed: int = 1) -> pd.DataFrame:
    """Heavy-tailed records: categorical key fields, one to four tags, users, `fields` whole numbers."""
    rng = np.random.default_rng(seed)
    hours = pd.to_timedelta(rng.integers(0, 24 * DAYS, records), unit="h")
    columns: dict[str, object] = {"time": pd.Timestamp("2026-09-01", tz="UTC") + hours}
    for name, values in CARDINALITY.items():
        columns[name] = _categories(rng.zipf(1.3, records) % values, name, values)
    columns["users"] = _categories(rng.integers(0, USERS, records), "user", USERS)
    combinations = [
        [TAGS[(first + 3 * step) % len(TAGS)] for step in range(count)]
        for first in range(len(TAGS))
        for count in range(1, 5)
    ]
    chosen = rng.integers(0, len(combinations), records)
    columns["tags"] = pd.Series(np.array(combinations, dtype=object)[chosen], dtype=object)
    size = np.floor(rng.pareto(1.5, records) * 10)
    for number in range(fields):
        columns[f"m{number}"] = np.floor(size * rng.random(records))
    return pd.DataFrame(columns)


def _categories(codes: np.ndarray, name: str, values: int) -> pd.Categorical:
    return pd.Categorical.from_codes(codes.astype(np.int32), [f"{name} {n}" for n in range(values)])


def checksum(keys: list[np.ndarray], values: list[np.ndarray]) -> tuple[int, int]:
    """How many groups, and a sum over them that tells groups and fields apart, whatever their order."""
    mixed = np.zeros(len(values[0]), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for key in keys:
            hashed = pd.util.hash_array(np.asarray(key, dtype=object), categorize=True)
            mixed = mixed * np.uint64(1_000_003) + hashed
        for column in values:
            mixed = mixed * np.uint64(31) + np.asarray(column, dtype=np.float64).astype(np.uint64)
            mixed ^= mixed >> np.uint64(29)
        return len(mixed), int(mixed.sum())
