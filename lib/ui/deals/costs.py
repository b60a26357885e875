"""The cost of each target as a table: on the form of a package, and in its drawer."""

import math
from collections.abc import Callable

import pandas as pd
import streamlit as st

from lib.deals.models import Targeting
from lib.insight import cost, estimate
from lib.insight.cost import Element, TargetCost, Trials
from lib.insight.estimate import BIDS, IMPRESSIONS, Estimate, field_of
from lib.insight.filters import Lists
from lib.reporting.answers import Audience
from lib.reporting.models import DataField
from lib.ui.charts import numbers
from lib.ui.charts.numbers import Numbers
from lib.ui.deals import insights, report
from lib.ui.deals.targeting import words
from lib.ui.deals.targeting.words import Described
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import report_errors

DAYS = 30
NO_RANGE = "range unknown"


@st.fragment(parallel=True)
def draw(
    context: PageContext,
    place: str,
    targeting: Targeting,
    lists: Lists,
    media_type: str | None,
    descriptions: Described,
) -> None:
    """The table, once it is computed; nothing where the targeting has no element."""
    tried = cost.trials(targeting, context.slicer, lists, media_type)
    field = field_of(context.slicer, (*BIDS, *IMPRESSIONS))
    if not (tried.each or tried.unmeasured):
        insights.forget(place)
        return
    st.header("Cost of each target", anchor=False)
    if field is None:
        st.caption("This slicer has no data field for bids or impressions.")
        return
    with report_errors("The cost of each target", kept="What you entered is kept."):
        _draw(context, place, tried, field, descriptions)


def _draw(context: PageContext, place: str, tried: Trials, field: DataField, descriptions: Described) -> None:
    filters = (tried.whole.filters, *(trial.filters for trial in tried.each))
    queries = [report.question(context, one, DAYS, (field.name,)) for one in filters]
    batch = insights.query_batch(context, place, queries)
    answers = insights.answers_or_progress(batch, place, "the cost of each target")
    if answers is None:
        return
    first, last = report.period(context, queries[0])
    if not any(map(estimate.has_data, answers)):
        st.caption(f"The report has no data for {numbers.days(first, last)}.")
        return
    _table(cost.costs(tried, answers, field.name), field, descriptions)
    where = f"{plain(context.project)}/{plain(context.slicer_name)}"
    st.caption(f"{numbers.days(first, last)} · From {where} · {precision_of(answers, field)}")
    for sentence in _omission_note(tried, descriptions):
        st.caption(f":material/info: {plain(sentence)}")


def precision_of(answers: list[Audience], field: DataField) -> str:
    """Whether the figures of these answers are exact."""
    if all(estimate.total(answer, field.name).is_exact for answer in answers):
        return "Exact"
    return "Estimates, with their 95 % ranges"


def share(costs: TargetCost, shown: Numbers) -> str:
    """`−38.0 %` for what a target costs, `brings 43.9 %`; with its range if it is estimated."""
    estimate = costs.share
    if estimate.value is None:
        return "no data" if costs.change.value is None else "none either way"
    if estimate.value == 0 and estimate.is_exact:
        return "costs nothing" if costs.restricts else "brings nothing"
    sign = numbers.MINUS if costs.restricts else ""
    text = f"{'' if costs.restricts else 'brings '}{sign}{shown.percent(estimate.value)}"
    return text + _range(estimate, lambda value: f"{sign}{shown.percent(value)}")


def without(costs: TargetCost, numbers: Numbers) -> str:
    """`4.10 M more`, `1.20 M fewer`, `the same`."""
    estimate = costs.change
    if estimate.value is None:
        return "no data"
    if estimate.value == 0:
        return "the same" + _range(estimate, numbers.rough)
    more = "more" if costs.restricts else "fewer"
    return f"{numbers.rough(estimate.value)} {more}{_range(estimate, numbers.rough)}"


def name(element: Element, descriptions: Described) -> str:
    """`not Safari`; `only US, CA` for all of a kind, as its targets are named one by one too."""
    text = words.sentence(element.targeting, None if len(element.targets) <= 2 else 2, descriptions)
    return f"only {text}" if len(element.targets) > 1 and not element.is_excluded else text


def _range(estimate: Estimate, written: Callable[[float], str]) -> str:
    if estimate.low is None or estimate.high is None:
        return ""
    if not (math.isfinite(estimate.low) and math.isfinite(estimate.high)):
        return f" ({NO_RANGE})"
    return f" ({written(max(estimate.low, 0.0))} to {written(estimate.high)})"


def _table(target_costs: list[TargetCost], field: DataField, descriptions: Described) -> None:
    """The costs, highest first, then the gains."""
    shown = Numbers.of(st.context.locale)
    columns = {
        numbers.title(field): [share(one, shown) for one in target_costs],
        "Without it": [without(one, shown) for one in target_costs],
    }
    index = pd.Index([plain(name(one.element, descriptions)) for one in target_costs], name="Target")
    st.table(pd.DataFrame(columns, index=index), border="horizontal", alt="What each target costs or brings")


def _omission_note(tried: Trials, descriptions: Described) -> list[str]:
    """A note on what the table leaves out."""
    names = [name(element, descriptions) for element in tried.unmeasured]
    sentences = [f"Not measured, as this slicer can't tell: {', '.join(names)}."] if names else []
    if tried.skipped:
        sentences.append(f"Measured are the first {len(tried.each)}; {len(tried.skipped)} more are not.")
    return sentences
