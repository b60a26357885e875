"""The volume that each target of a package costs or adds: without it compared with it.

One question per target, and it is about the difference itself: the records that are in with the target and
out without it, or the other way round. Its range is that of this figure alone, which is much narrower
than what two ranges would leave. A filter and its negation together select everything (decisions, Several
filters), so that the difference is a filter too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lib.deals.models import Targeting
from lib.deals.targeting.filters import Lists, Translation, report_filters
from lib.deals.targeting.kinds import KINDS, Element, key_field
from lib.insight import estimate
from lib.insight.deal_report import DealReport
from lib.reporting.answers import Audience, Estimate
from lib.reporting.query_batch import Lookup
from lib.slicers.models import Slicer
from lib.wire.filters import Filter

MOST_OF_A_SIDE, MOST, DAYS = 8, 40, 30
EQUALS, NOT_EQUALS = "equals", "not equals"


@dataclass(frozen=True)
class Trial:
    """An element, and the filters that select the records that come in or go out without it.

    `restricts`: there is more without it.
    """

    element: Element
    filters: tuple[Filter, ...]
    restricts: bool


@dataclass(frozen=True)
class Trials:
    """The whole targeting as filters, and what to ask about its elements.

    `omissions` are elements that filters of this slicer can't say, `rest` those beyond MOST.
    """

    whole: Translation
    each: tuple[Trial, ...]
    omissions: tuple[Element, ...]
    rest: tuple[Element, ...]


@dataclass(frozen=True)
class TargetCost:
    """`change` is how much more there would be without the element, or less where it does not restrict.

    `share` is that in percent of what there would be without it, or of what there is.
    """

    element: Element
    restricts: bool
    change: Estimate
    share: Estimate


def lookup(
    report: DealReport, targeting: Targeting, lists: Lists, media_type: str | None, field: str
) -> Lookup[tuple[list[TargetCost], Trials]]:
    """What each target costs or adds of what `field` counts lately, and what of it was tried."""
    tries = trials(targeting, report.slicer, lists, media_type)
    filter_sets = (tries.whole.filters, *(trial.filters for trial in tries.each))
    queries = [report.query(DAYS, filters=filters, data_fields=(field,)) for filters in filter_sets]
    return Lookup(queries, lambda answers: (costs(tries, answers, field), tries))


def trials(targeting: Targeting, slicer: Slicer, lists: Lists, media_type: str | None) -> Trials:
    """The questions about a targeting; arguments as for `report_filters`."""
    own = Targeting().model_copy(update={name: getattr(targeting, name) for name in Targeting.model_fields})
    whole = report_filters(own, slicer, lists, media_type)
    each: list[Trial] = []
    omissions: list[Element] = []
    for element in elements(own):
        name = element.kind.field
        targets = tuple(target for target in getattr(own, name) if target not in element.targets)
        rest = report_filters(own.model_copy(update={name: targets}), slicer, lists, media_type)
        field, match = key_field(element.kind, slicer), NOT_EQUALS if element.is_excluded else EQUALS
        side, rest_side = (
            next(
                (only for only in query.filters if field and (only.name, only.match) == (field.name, match)),
                None,
            )
            for query in (whole, rest)
        )
        # The filters don't have it, or change otherwise without it.
        if side is None or rest.left_out != whole.left_out:
            omissions.append(element)
        elif rest_side is None or element.is_excluded:
            each.append(Trial(element, (*rest.filters, _negate(side)), True))
        else:
            each.append(Trial(element, (*whole.filters, _negate(rest_side)), False))
    rest_of_trials = tuple(trial.element for trial in each[MOST:])
    return Trials(whole, tuple(each[:MOST]), tuple(omissions), rest_of_trials)


def elements(targeting: Targeting) -> Iterator[Element]:
    """Each target, and all that are meant of a kind together; of many, only all of them together."""
    for kind in KINDS:
        for is_excluded in (False, True):
            side = [target for target in kind.of(targeting) if target.is_excluded == is_excluded]
            targets = tuple(dict.fromkeys(side))
            if len(targets) > MOST_OF_A_SIDE or (len(targets) > 1 and not is_excluded):
                yield Element(kind, targets, is_excluded)
            if len(targets) <= MOST_OF_A_SIDE:
                yield from (Element(kind, (target,), is_excluded) for target in targets)


def costs(all_trials: Trials, answers: Sequence[Audience], field: str) -> list[TargetCost]:
    """The cost of each element, highest first, then the gain of each, largest first.

    `answers` are those to the filters of the whole and then of each trial, in this order.
    """
    volume, target_costs = answers[0].total_of(field), list[TargetCost]()
    for trial, answer in zip(all_trials.each, answers[1:], strict=True):
        change, compare = answer.total_of(field), estimate.share if trial.restricts else estimate.part
        target_costs.append(TargetCost(trial.element, trial.restricts, change, compare(change, volume)))
    return sorted(target_costs, key=lambda cost: (not cost.restricts, -(cost.change.value or 0.0)))


def _negate(filter_: Filter) -> Filter:
    return filter_.model_copy(update={"match": NOT_EQUALS if filter_.match == EQUALS else EQUALS})
