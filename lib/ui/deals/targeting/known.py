"""Marks targeted values that don't occur in the report, so that typos are noticed."""

import time
from collections.abc import Iterable

from lib.deals.models import Targeting
from lib.insight.kinds import KINDS, TargetingKind, key_field
from lib.reporting.models import AudienceQuery
from lib.ui.deals.targeting.words import Marks
from lib.ui.kit.frame import PageContext
from lib.ui.query import values

UNKNOWN, NOT_CHECKED = "unknown", "not checked"
MOST_SECONDS = 1.5


def marks(
    context: PageContext, query: AudienceQuery, targetings: Iterable[Targeting], with_unchecked: bool = False
) -> Marks:
    """A word by kind and value for those that the report of these days lacks.

    `with_unchecked` also marks those of which the report can't tell: it has no such key field, or does not
    answer.
    """
    several, ends = [*targetings], time.monotonic() + MOST_SECONDS
    found: dict[str, dict[str, str]] = {}
    for kind in KINDS:
        codes = list(dict.fromkeys(kind.value(target) for one in several for target in kind.of(one)))
        if codes and not kind.is_list and (with_unchecked or time.monotonic() < ends):
            found[kind.name] = _marks(context, query, kind, codes, with_unchecked)
    return found


def _marks(
    context: PageContext, query: AudienceQuery, kind: TargetingKind, codes: list[str], with_unchecked: bool
) -> dict[str, str]:
    field = key_field(kind, context.slicer)
    known = {} if field is None else values.known(context, query, field.name, codes)
    found = {code: UNKNOWN for code in codes if known.get(code) is False}
    unchecked = dict.fromkeys((code for code in codes if code not in known), NOT_CHECKED)
    return found | unchecked if with_unchecked else found
