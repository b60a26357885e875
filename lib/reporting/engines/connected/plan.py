"""Which records of a sample a question reads, if it is answered from one."""

from dataclasses import dataclass

import numpy as np

from lib.reporting.engines.connected.columns import DAY_HOURS
from lib.reporting.engines.connected.live import Sampled
from lib.reporting.engines.connected.statements import FIRST_DAY, Statements
from lib.reporting.engines.resident.sampling import SMALLEST_SAMPLE


@dataclass(frozen=True)
class Plan:
    """Records with q below `tau` of the sample, but for the days `changed`, which are read whole.

    `reads` is how many records that is.
    """

    sample: Sampled
    tau: float
    changed: frozenset[int]
    reads: int


def plan_of(asked: Statements) -> Plan | None:
    """The largest draw within the question's limit of rows, as the resident engine takes it (rows.py).

    None where all records are to be read: without a limit or a sample, where they are within the limit, or
    where the sample has too few of them.
    """
    sample, limit = asked.live.sample, asked.question.rows_limit
    if sample is None or limit is None or asked.records <= limit:
        return None
    stored, hourly = sample.stored, asked.live.definition.time.granularity == "hour"
    own, zone = (asked.live.definition.timezone, asked.question.timezone) if hourly else (0, 0)
    begin, end = ((day - FIRST_DAY).days * DAY_HOURS for day in (asked.question.first, asked.question.last))
    opens = np.array(stored.days, dtype=np.int64) * DAY_HOURS - own + zone
    overlaps = (opens < end + DAY_HOURS) & (opens + DAY_HOURS > begin)
    unchanged = ~np.isin(stored.days, sorted(sample.changed))
    days_now = (asked.live.shown_hours(own) // DAY_HOURS)[asked.inside]
    is_changed = np.isin(days_now, sorted(sample.changed))
    whole = int(asked.live.counts[asked.inside][is_changed].sum())
    drawn = stored.drawn_by_day[overlaps & unchanged].sum(axis=0)
    place = int(np.searchsorted(drawn, limit - whole, side="right")) - 1
    if whole >= limit or not (overlaps & unchanged).any() or (place == len(drawn) - 1 and stored.is_whole):
        return None
    place = max(0, place)
    tau = float(stored.thresholds[place])
    is_sparse = not stored.is_whole and drawn[place] < min(limit - whole, SMALLEST_SAMPLE)
    if is_sparse or tau * stored.smallest_size >= 1:
        return None
    return Plan(sample, tau, frozenset(days_now[is_changed].tolist()), whole + int(drawn[place]))
