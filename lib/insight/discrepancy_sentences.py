"""What the comparison of a deal's two sides says, in sentences: for the buyer, or for the seller."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lib.deals.buyer_counts import NOUNS
from lib.insight.discrepancy import SHORTEST_SPAN, CountComparison, Gap
from lib.wire.text import write_day

OURS = {"requests": "we sent", "bids": "we received", "wins": "we count", "spend": "we count"}
LOOK_AT = {
    ("requests", -1): "the endpoint, its timeouts and limits of requests per second",
    ("requests", 1): "requests that are sent again, and other deals counted with this one",
    ("bids", -1): "bids counted under another deal id, or without one",
    ("bids", 1): "bids that come after the timeout, can't be read, or lie below the floor",
    ("wins", -1): "win notices (nurl) and billing notices (burl) that do not arrive",
    (
        "wins",
        1,
    ): "wins that were not shown: whether each side counts win notices (nurl) or billing notices (burl)",
    ("spend", -1): "the currency, fees that one side leaves out, and the price that was bid or cleared",
    ("spend", 1): "the currency, fees that one side adds, and the price that was bid or cleared",
}
"""Where a step is lost between both sides, by whether the buyer counts less or more (OpenRTB 2.6, 7.2)."""
COUNTING_ADVICE = (
    "how they are counted, since the steps after them agree: filters before the count, sampled logs"
)


@dataclass(frozen=True)
class Addressee:
    """How sentences speak of the buyer: to them, or about them. `wins` is what our side has for wins."""

    is_buyer: bool
    wins: str = "wins"

    @property
    def subject(self) -> str:
        """Who counts."""
        return "you" if self.is_buyer else "the buyer"

    @property
    def own(self) -> str:
        """Whose counts."""
        return "your" if self.is_buyer else "the buyer's"

    def verb(self, is_over: bool) -> str:
        """They count."""
        return "counted" if is_over else "count" if self.is_buyer else "counts"


def title(gap: Gap) -> str:
    """A gap in a list: `Buyer counts 31 % fewer bid requests`."""
    return f"Buyer counts {_how_many(gap)} {NOUNS[gap.step]}"


def sentences(
    comparison: CountComparison, reader: Addressee, tolerance: float, late: int | None = None
) -> list[str]:
    """Where both sides differ and since when, or that they agree; then what it depends on.

    `late` is after how many days the buyer's counts usually come.
    """
    if len(comparison.days) < SHORTEST_SPAN:
        few = len(comparison.days)
        what = f"{few} common day{'' if few == 1 else 's'}" if few else "no common days yet"
        return [
            f"There {'is' if few == 1 else 'are'} {what}: from {SHORTEST_SPAN} on, both sides are compared."
        ]
    result = [*_conclusion(comparison, reader, tolerance, late)]
    if comparison.shift:
        way = "later" if comparison.shift > 0 else "earlier"
        result.append(
            f"{reader.own.capitalize()} days fit ours one day {way} much better, and are compared so: they "
            "may be named by another rule, or begin in another time zone."
        )
    return result


def _conclusion(
    comparison: CountComparison, reader: Addressee, tolerance: float, late: int | None
) -> Iterator[str]:
    main, share = comparison.main, f"within {100 * tolerance:.3g} %"
    if main is None:
        totals = [f"{NOUNS[step]} {100 * (ratio - 1):+.1f} %" for step, ratio in comparison.ratios.items()]
        text = ", ".join(totals).replace("-", "−")
        yield f"Both sides agree {share}; {reader.own} side in the sum: {text}."
        return
    yield _gap(main, comparison, reader)
    others = [gap for gap in comparison.gaps if gap is not main]
    following = [gap.step for gap in others if comparison.follows(gap)]
    if following:
        yield f"{_list(following)} follow{_ending(following)}."
    yield from (_gap(gap, comparison, reader) for gap in others if gap.step not in following)
    agreeing = [step for step in comparison.ratios if step not in {gap.step for gap in comparison.gaps}]
    if agreeing:
        yield f"{_list(agreeing)} agree{_ending(agreeing)} {share}."
    if comparison.may_arrive(main):
        own = reader.own.capitalize()
        usual = f" {own} counts usually come {late} day{'s'[: late != 1]} after a day." if late else ""
        yield f"These are the newest days: their counts may still be arriving.{usual}"
        return
    is_counting = main.ratio < 1 and agreeing and not following
    yield f"Look at {COUNTING_ADVICE if is_counting else LOOK_AT[main.step, -1 if main.ratio < 1 else 1]}."


def _gap(gap: Gap, comparison: CountComparison, reader: Addressee) -> str:
    """`From 14 Nov 2026 on, you count 31 % fewer bid requests than we sent.`"""
    noun, ours = NOUNS[gap.step], OURS[gap.step]
    if gap.step == "wins" and reader.wins != "wins":
        ours = f"{ours} {reader.wins}"
    end = "on" if gap.last is None else f"to {write_day(gap.last)}"
    start = "the first common day" if gap.first == comparison.days[0] else write_day(gap.first)
    head = f"From {start} {end}, {reader.subject} {reader.verb(gap.last is not None)}"
    if gap.ratio == float("inf"):
        return f"{head} {noun}, where {ours} none."
    return f"{head} {_how_many(gap)} {noun} than {ours}."


def _how_many(gap: Gap) -> str:
    """`31 % fewer`."""
    if gap.ratio == float("inf"):
        return "more"
    less = "more" if gap.ratio > 1 else "less" if gap.step == "spend" else "fewer"
    return f"{abs(100 * (gap.ratio - 1)):.0f} % {less}"


def _ending(steps: Sequence[str]) -> str:
    return "s" if [*steps] == ["spend"] else ""


def _list(steps: Sequence[str]) -> str:
    *nouns, last = [NOUNS[step] for step in steps]
    text = f"{', '.join(nouns)} and {last}" if nouns else last
    return text[:1].upper() + text[1:]
