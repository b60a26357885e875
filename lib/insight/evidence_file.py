"""Evidence of a change as one file that somebody else can check: requests, figures by day, differences."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from lib.deals.models import EntityChange, PackageOrDeal
from lib.insight import evidence
from lib.insight.evidence import DayPair, Difference, EvidenceDays
from lib.reporting.answers import Audience
from lib.reporting.models import AudienceQuery, DataField
from lib.wire import exact

METHOD = (
    "A day after the change is paired with the same weekday before it; the day of the change is left out. "
    "Of each pair: ln(after / before), less the same of the untouched ones together. The difference is "
    "exp(mean) - 1, its range exp(mean -+ t * s) - 1 at 95 %: s is the root mean square of the same mean "
    "around each earlier day whose days around it lie before the change and have no other change (a "
    "placebo). t is Student's; its degrees of freedom are m^2 / sum of r^2 over all pairs of the m "
    "placebos, with r the correlation of two of them in a first-order autoregression."
)


@dataclass(frozen=True)
class Matter:
    """A change: the entity and its id, how it is now, the days around, and the ids of the untouched ones.

    `also` are the other changes of it in these days, `beside` the ids of its deals (or packages) that have
    changed since the first of them. `change_days` are the days of all changes of it.
    """

    key: tuple[str, int]
    entity: PackageOrDeal
    change: EntityChange
    also: Sequence[EntityChange]
    beside: Sequence[int]
    around: EvidenceDays
    others: Sequence[int]
    change_days: Collection[date] = ()


@dataclass(frozen=True)
class EvidenceRow:
    """A data field: its totals of the days before and after, its pairs, and the difference, if any."""

    field: DataField
    own: tuple[float | None, float | None]
    others: tuple[float | None, float | None] | None
    pairs: Sequence[DayPair]
    difference: Difference | None


def rows(matter: Matter, fields: Sequence[DataField], answers: Sequence[Audience]) -> list[EvidenceRow]:
    """The data fields from the answers to `evidence.questions`; totals are the service's own."""
    evidence_rows = []
    around = matter.around
    sides = evidence.sides(answers, around)
    for field in fields:
        totals = [tuple(answer.total.values.get(field.name) for answer in side[:2]) for side in sides]
        own, *rest = (evidence.daily(side, field.name) for side in sides)
        others = rest[0] if rest else None
        pairs = evidence.day_pairs(own, others, around)
        difference = evidence.difference(own, others, around, matter.change_days)
        theirs = (totals[1][0], totals[1][1]) if rest else None
        evidence_rows.append(EvidenceRow(field, (totals[0][0], totals[0][1]), theirs, pairs, difference))
    return evidence_rows


def content(matter: Matter, queries: Sequence[AudienceQuery], rows: Sequence[EvidenceRow]) -> bytes:
    """The file, as JSON."""
    document = {
        "changed": {"entity": matter.key[0], "id": matter.key[1], "name": matter.entity.name},
        "change": matter.change.model_dump(mode="json"),
        "other_changes_in_these_days": [one.model_dump(mode="json") for one in matter.also],
        "linked_ids_changed_since": list(matter.beside),
        "untouched_ids": list(matter.others),
        "method": METHOD,
        "requests": [
            {"path": "/API/v2/audience", "body": query.model_dump(mode="json", exclude_defaults=True)}
            for query in queries
        ],
        "figures": [_as_json(row) for row in rows],
    }
    return exact.dumps(document)


def _as_json(row: EvidenceRow) -> dict[str, Any]:
    difference = row.difference
    return {
        "data_field": row.field.name,
        "total": {"changed": row.own, "untouched": row.others},
        "days": [
            {
                "before": pair.before.isoformat(),
                "after": pair.after.isoformat(),
                "changed": pair.own,
                "untouched": pair.others,
            }
            for pair in row.pairs
        ],
        "difference": difference
        and {
            "value": difference.value,
            "low": difference.low,
            "high": difference.high,
            "pairs": difference.pairs,
            "placebos": difference.placebos,
            "placebos_as_large": difference.as_large,
            "is_certain": difference.is_certain,
            "falls_found_in_80_percent_of_cases_from": difference.reliable,
        },
    }
