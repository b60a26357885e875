"""Questions in words: what a sentence may mean, by names of fields, values and periods; no language model.

"spend by country last week vs prior, only mobile" → the metric Spend, the split by Country, last week, the
period before, and the filter Device type is mobile. Words are taken longest first; a word that names several
things gives several readings, the likelier first.
"""

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import islice

from lib.figures import numbers
from lib.figures.query import periods
from lib.figures.query.periods import PREVIOUS, WEEKDAYS, YEAR
from lib.reporting import named_days
from lib.reporting.links import MOST_SPLITS
from lib.slicers.granularities import GRANULARITIES, TIME_KEY_FIELDS, Granularity
from lib.slicers.models import Slicer
from lib.wire.filters import Filter

Match = tuple[str, str, str]
"""A value that a word may mean: its key field, its code, and its description."""
Find = Callable[[Sequence[str]], Mapping[str, Sequence[Match]]]
"""Finds the values that texts mean, by the text."""
MOST_READINGS, LONGEST_PHRASE, MOST_WORDS = 4, 5, 40
LEAST_TYPO, CLOSE = 4, 0.8

FILLERS = frozenset(
    (
        "a", "an", "the", "of", "and", "with", "show", "me", "give", "list", "please", "get", "tell",
        "what", "is", "was", "were", "are", "our", "my", "all", "total", "how", "much", "many", "did", "do",
        "does", "has", "have", "had", "figures", "numbers", "data", "report", "compare", "compared", "to",
        "i", "we", "want", "see", "us's", "which", "who", "most",
    )
)  # fmt: skip
SPLIT_WORDS = frozenset(("by", "per", "across", "each", "every", "top", "split"))
EXCLUDING = frozenset(("without", "excluding", "except", "exclude", "not", "no", "minus", "but"))
INCLUDING = frozenset(
    ("only", "in", "for", "from", "on", "at", "just", "where", "within", "during", "over")
)  # fmt: skip
_COMPARISON_PHRASES: Mapping[tuple[str, ...], str] = {
    (PREVIOUS,): """
        vs prior, vs previous, vs previous period, vs the previous period, vs prior period, vs before,
        vs the period before, vs last period, versus prior, versus previous, against prior,
        against previous period, compared with previous, compared with the previous period,
        compared to previous period, compared to the previous period, compared to prior, period over period,
        pop, vs the week before, vs week before, vs the month before, vs prior week, vs previous week,
        week over week, wow, month over month, mom, day over day, same part of last week,
        same part of last month, same part of last quarter, vs the quarter before
    """,
    (WEEKDAYS,): """
        same weekdays, vs same weekdays, vs the same weekdays, vs same weekday, weekday by weekday
    """,
    (YEAR,): """
        vs last year, vs a year ago, a year ago, year over year, yoy, vs the year before, versus last year,
        compared to last year, compared with last year, vs previous year
    """,
    (): "without comparison, no comparison, not compared",
}
COMPARISONS = {
    " ".join(phrase.split()): compare
    for compare, phrases in _COMPARISON_PHRASES.items()
    for phrase in phrases.split(",")
}
COMPARISON_PILLS: Mapping[tuple[str, ...], str] = {
    (PREVIOUS,): "vs the period before",
    (WEEKDAYS,): "vs the same weekdays",
    (YEAR,): "vs a year ago",
}
SYNONYMS: tuple[tuple[str, ...], ...] = (
    ("spend", "cost", "costs", "spending", "media cost", "media spend", "adv payout", "budget"),
    ("impressions", "imps", "imp", "impression"),
    ("revenue", "publisher payout", "earnings", "payout"),
    ("cpm", "ecpm", "win cpm", "price"),
    ("ctr", "click rate", "click through rate", "clickthrough rate"),
    ("bid requests", "requests", "avails", "opportunities", "queries", "available impressions"),
    ("unique users", "uniques", "users", "reach", "people"),
    ("viewability", "viewable rate", "in view rate", "viewability rate"),
    ("fill rate", "fill"),
    ("bid rate", "bidrate"),
    ("win rate", "winrate"),
    ("conversions", "convs", "actions"),
    ("country", "countries", "geo", "geos", "nation"),
    ("device type", "device", "devices", "device types", "platform"),
    ("operating system", "os", "operating systems", "oses"),
    ("site domain", "domain", "domains", "website", "websites", "site", "sites"),
    ("site", "sites"),
    ("app bundle", "app", "apps", "bundle", "bundles"),
    ("publisher", "publishers", "pub", "pubs"),
    ("ssp", "ssps", "exchange", "exchanges", "supply source"),
    ("advertiser", "advertisers", "brand", "brands", "client", "clients"),
    ("campaign", "campaigns", "campaign id"),
    ("line item", "line items"),
    ("creative", "creatives", "ads"),
    ("deal", "deals", "deal id", "deal ids"),
    ("seat", "seats", "buyer", "buyers"),
    ("supply package", "packages", "package", "supply packages"),
    ("size", "sizes", "ad size", "ad sizes", "requested sizes"),
    ("region", "regions", "state", "states"),
    ("city", "cities", "town"),
    ("postal code", "zip", "zips", "zip code", "postcode"),
)
VALUE_WORDS: Mapping[str, tuple[str, ...]] = {
    "mobile": ("mobile", "phone", "smartphone", "mobile phone"),
    "phones": ("phone", "mobile", "smartphone"),
    "desktop": ("desktop", "pc", "personal computer", "computer"),
    "desktops": ("desktop", "pc", "computer"),
    "tablets": ("tablet",),
    "ctv": ("ctv", "connected tv", "tv", "television"),
    "tv": ("tv", "connected tv", "ctv", "television"),
    "us": ("us", "united states", "usa"),
    "usa": ("us", "united states", "usa"),
    "america": ("us", "united states", "usa"),
    "states": ("us", "united states"),
    "uk": ("uk", "gb", "united kingdom"),
    "britain": ("gb", "united kingdom", "uk"),
    "german": ("de", "germany"),
}


@dataclass(frozen=True)
class Reading:
    """What a sentence may mean: the parts of a question that it names, the others being as they were.

    `fields` are data fields, `compare` as in a view (None: not named), `score` the likelier the higher;
    `ignored` are words that mean nothing here.
    """

    fields: tuple[str, ...] = ()
    split_by: tuple[str, ...] = ()
    days: tuple[str, str] | None = None
    compare: tuple[str, ...] | None = None
    grain: Granularity | None = None
    filters: tuple[Filter, ...] = ()
    limit: int | None = None
    score: float = 0.0
    pills: tuple[str, ...] = field(default=(), compare=False)
    ignored: tuple[str, ...] = field(default=(), compare=False)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was understood."""
        names_something = self.fields or self.split_by or self.days or self.filters or self.grain
        return not (names_something or self.compare is not None)


@dataclass(frozen=True)
class Readings:
    """The readings of a sentence, the likeliest first; without any, why."""

    best: tuple[Reading, ...]
    reason: str = ""


@dataclass(frozen=True)
class _Vocabulary:
    """Phrases in small letters, and what they name: data fields, key fields, days, granularities."""

    data: Mapping[str, Sequence[str]]
    keys: Mapping[str, Sequence[str]]
    days: Mapping[str, tuple[str, str, str]]
    grains: Mapping[str, Granularity]

    @property
    def words(self) -> list[str]:
        """Every word of every phrase, for typos."""
        phrases = (*self.data, *self.keys, *self.days, *COMPARISONS, *self.grains)
        return sorted(
            {word for phrase in phrases for word in phrase.split()} | SPLIT_WORDS | {"only", "without"}
        )


def read(text: str, slicer: Slicer, today: date, find: Find) -> Readings:
    """What a sentence may mean about a slicer. `find` looks up values; `today` is in the slicer's zone."""
    clean = re.sub(r"[?!;:,()\"“”]", " ", text.casefold()).replace("versus", "vs").replace("v. ", "vs ")
    words = [word.strip(".'’") for word in re.sub(r"\bvs\.", "vs", clean).split() if word.strip(".'’")]
    if not words:
        return Readings((), "Type a question, like: spend by country last week.")
    if len(words) > MOST_WORDS or len(text) > MOST_WORDS * 10:
        return Readings((), f"Too long: {MOST_WORDS} words at most.")
    vocabulary = _vocabulary(slicer, today)
    words = _correct(words, vocabulary, find)
    parser = _Parser(words, vocabulary, _values_in(words, vocabulary, find))
    candidates = list(islice(parser.readings(), 200))
    best = sorted({reading: None for reading in candidates if not reading.is_empty}, key=lambda r: -r.score)
    useful = [reading for reading in best if reading.score >= best[0].score - 1.5] if best else []
    if not useful:
        return Readings((), f"No field, value or period of this slicer is named “{' '.join(words)[:60]}”.")
    return Readings(tuple(_describe(reading, slicer, today, find) for reading in useful[:MOST_READINGS]))


def _vocabulary(slicer: Slicer, today: date) -> _Vocabulary:
    data: dict[str, list[str]] = {}
    keys: dict[str, list[str]] = {}
    for data_field in slicer.data_fields:
        _name(data, data_field.name, data_field.description)
    for key_field in slicer.key_fields:
        if key_field.name not in TIME_KEY_FIELDS:
            _name(keys, key_field.name, key_field.description)
    for names in (data, keys):
        own = dict(names)
        for phrase, targets in _last_words(own).items():
            names.setdefault(phrase, targets)
        for group in SYNONYMS:
            targets = [name for phrase in group for name in own.get(phrase, ())]
            for phrase in group if targets else ():
                names.setdefault(phrase, list(dict.fromkeys(targets)))
    grains = {
        phrase: grain
        for grain in periods.granularities(slicer)
        for phrase in (f"by {grain}", f"per {grain}", *GRANULARITIES[grain].phrases)
    }
    return _Vocabulary(data, keys, _days(slicer, today), grains)


def _last_words(names: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """What the last word of several names may mean: `cpm` Win CPM and Bid CPM."""
    last_words: dict[str, list[str]] = {}
    for phrase, targets in names.items():
        first, _, last = phrase.rpartition(" ")
        if first and len(last) > 2:
            last_words.setdefault(last, [])
            last_words[last] += [name for name in targets if name not in last_words[last]]
    return last_words


def _name(names: dict[str, list[str]], name: str, description: str | None) -> None:
    """Enter a field under its name, the last part of it, and its description, each also in the plural."""
    last = re.split(r"[.]", name)[-1]
    phrases = {name.casefold(), last.replace("_", " ").casefold(), (description or "").casefold()}
    phrases |= {phrase.removesuffix(" id") for phrase in phrases}
    for phrase in filter(None, phrases):
        for form in (phrase, f"{phrase}s", f"{phrase[:-1]}ies" if phrase.endswith("y") else phrase):
            if name not in names.setdefault(form, []):
                names[form].append(name)


def _days(slicer: Slicer, today: date) -> dict[str, tuple[str, str, str]]:
    """Phrases of periods: start, end and label."""
    phrases = {preset.label.casefold(): preset for preset in periods.presets(slicer, today)}
    other_names = {
        "wtd": "week to date", "mtd": "month to date", "qtd": "quarter to date", "today": "today so far",
        "the last week": "last week", "previous week": "last week", "past week": "last 7 days",
        "the last 7 days": "last 7 days", "past 7 days": "last 7 days", "previous month": "last month",
        "past month": "last 30 days", "previous quarter": "last quarter", "all time": "all data",
        "ever": "all data", "the last month": "last month", "this week": "this week",
    }  # fmt: skip
    phrases |= {name: phrases[label] for name, label in other_names.items() if label in phrases}
    return {phrase: (preset.start, preset.end, preset.label) for phrase, preset in phrases.items()}


def _correct(words: list[str], vocabulary: _Vocabulary, find: Find) -> list[str]:
    """The words with typos put right: those that are near a word of the vocabulary, and are in none."""
    vocabulary_words = {*vocabulary.words, *FILLERS, *EXCLUDING, *INCLUDING, *VALUE_WORDS, "vs", "last"}
    other_words = [word for word in words if word not in vocabulary_words and not re.search(r"\d", word)]
    values = find(other_words) if other_words else {}
    phrases = find(_phrases(words)) if other_words else {}
    in_values = {word for phrase in phrases for word in phrase.split()} | {*values}
    new_words = []
    for word in words:
        if word in other_words and word not in in_values and len(word) >= LEAST_TYPO:
            near = difflib.get_close_matches(word, vocabulary.words, 1, CLOSE)
            word = near[0] if near else word
        new_words.append(word)
    return new_words


def _phrases(words: Sequence[str]) -> list[str]:
    """The runs of words that a value may be called, each once."""
    runs = (
        " ".join(words[start : start + length])
        for length in range(1, 4)
        for start in range(len(words) - length + 1)
    )
    return list(dict.fromkeys(run for run in runs if run not in FILLERS and not {run} & SPLIT_WORDS))


def _values_in(words: Sequence[str], vocabulary: _Vocabulary, find: Find) -> dict[str, list[Match]]:
    """The values that runs of these words may mean."""
    runs = _phrases(words)
    texts = list(dict.fromkeys([*runs, *(other for run in runs for other in VALUE_WORDS.get(run, ()))]))
    matches_of = find(
        [text for text in texts if text not in vocabulary.days and text not in INCLUDING | EXCLUDING]
    )
    matches: dict[str, list[Match]] = {}
    for run in runs:
        for text in (run, *VALUE_WORDS.get(run, ())):
            for match in matches_of.get(text, ()):
                if match not in matches.setdefault(run, []):
                    matches[run].append(match)
    return {run: values for run, values in matches.items() if values}


@dataclass(frozen=True)
class _Parser:
    """All readings of the words: at each place the longest phrases first."""

    words: Sequence[str]
    vocabulary: _Vocabulary
    values: Mapping[str, Sequence[Match]]

    def readings(self, index: int = 0, reading: Reading = Reading(), mode: str = "") -> Iterator[Reading]:
        """The readings that go on from the word `index`; `mode` is what the words before it are about."""
        if index >= len(self.words):
            yield reading
            return
        for length in range(min(LONGEST_PHRASE, len(self.words) - index), 0, -1):
            phrase = " ".join(self.words[index : index + length])
            nexts = list(self._meanings(phrase, reading, mode))
            for after, next_mode in nexts:
                longer = replace(after, score=after.score + length * length * 0.1)
                yield from self.readings(index + length, longer, next_mode)
            if nexts:
                return
        yield from self.readings(index + 1, *self._after_word(self.words[index], reading, mode))

    def _after_word(self, word: str, reading: Reading, mode: str) -> tuple[Reading, str]:
        """The reading after a word that names nothing, and what the next words are about."""
        if word in SPLIT_WORDS:
            return reading, "split"
        if word in EXCLUDING:
            return reading, "exclude"
        if word in INCLUDING:
            return reading, "exclude" if mode == "exclude" else "include"
        if word.isdigit() and mode == "split":
            return replace(reading, limit=int(word)), mode
        if word in FILLERS or word == "vs":
            return reading, mode
        return replace(reading, score=reading.score - 1.0, ignored=(*reading.ignored, word)), mode

    def _meanings(self, phrase: str, reading: Reading, mode: str) -> Iterator[tuple[Reading, str]]:
        """Each meaning of a phrase: the reading with it, and what the next words are about."""
        keys = self.vocabulary.keys.get(phrase, ())
        if phrase in COMPARISONS:
            yield replace(reading, compare=COMPARISONS[phrase], score=reading.score + 1), ""
        elif (days := _days_in(phrase, self.vocabulary)) is not None and reading.days is None:
            yield replace(reading, days=days, score=reading.score + 1), ""
        elif phrase in self.vocabulary.grains:
            yield replace(reading, grain=self.vocabulary.grains[phrase], score=reading.score + 1), ""
        elif keys and mode == "split":
            yield from self._splits(keys, reading, mode)
        else:
            yield from self._splits(keys, reading, mode)
            for name in self.vocabulary.data.get(phrase, ()):
                if name not in reading.fields:
                    yield replace(reading, fields=(*reading.fields, name), score=reading.score + 1), ""
            for name, code, _ in self.values.get(phrase, ()):
                match = "not equals" if mode == "exclude" else "equals"
                weight = 1.0 if mode in ("include", "exclude") else 0.8
                filters = _with(reading.filters, name, code, match)
                yield replace(reading, filters=filters, score=reading.score + weight), mode

    def _splits(self, keys: Sequence[str], reading: Reading, mode: str) -> Iterator[tuple[Reading, str]]:
        """The readings with a split by one of these key fields; or as it is, where its value comes next."""
        fields_with_values = {name for matches in self.values.values() for name, _, _ in matches}
        for name in keys:
            if mode in ("include", "exclude") and name in fields_with_values:
                yield replace(reading, score=reading.score + 0.5), mode  # "where country is Germany"
            elif name not in reading.split_by and len(reading.split_by) < MOST_SPLITS and mode != "exclude":
                score = reading.score + (1.0 if mode == "split" else 0.6)
                yield replace(reading, split_by=(*reading.split_by, name), score=score), "split"


def _with(filters: Sequence[Filter], name: str, code: str, match: str) -> tuple[Filter, ...]:
    for index, filter_ in enumerate(filters):
        if (filter_.name, filter_.match) == (name, match):
            both = filter_.model_copy(update={"value": tuple(dict.fromkeys((*filter_.value, code)))})
            return (*filters[:index], both, *filters[index + 1 :])
    return (*filters, Filter(name=name, value=(code,), match=match))


def _days_in(phrase: str, vocabulary: _Vocabulary) -> tuple[str, str] | None:
    """The days of a phrase: a preset, so many days, weeks or months back, a date, or two."""
    if phrase in vocabulary.days:
        return vocabulary.days[phrase][:2]
    if back := re.fullmatch(r"(?:the )?(?:last|past|previous) (\d{1,3}) (day|week|month)s?", phrase):
        count, unit = int(back[1]), back[2][0]
        if count == 0:
            return None
        return (f"-{count}d", "yesterday") if unit == "d" else (f"-{count}{unit}_first", f"-1{unit}_last")
    dates = re.findall(r"\d{4}-\d{2}-\d{2}", phrase)
    if dates and re.fullmatch(r"\d{4}-\d{2}-\d{2}(?: (?:to|until|-|–) \d{4}-\d{2}-\d{2})?", phrase):
        return dates[0], dates[-1]
    return None


def _describe(reading: Reading, slicer: Slicer, today: date, find: Find) -> Reading:
    """The reading with the pills that it would set, in the order of the screen."""
    pills, comparisons = [], {**COMPARISON_PILLS}
    if reading.days is not None:
        preset = periods.preset_of(slicer, *reading.days, today)
        days = named_days.resolve(*reading.days, today, slicer)
        pills.append(preset.label if preset else numbers.days(*days))
        part = named_days.part_before(reading.days[0], days, today, slicer).name
        comparisons[(PREVIOUS,)] = f"vs {part[0].lower()}{part[1:]}"
    if reading.compare is not None:
        pills.append(comparisons.get(reading.compare, "not compared"))
    for filter_ in reading.filters:
        key = slicer.key_field(filter_.name)
        verb = "is" if filter_.match == "equals" else "is not"
        matches_of = find(filter_.value)
        labels = [_label(matches_of.get(code, ()), filter_.name, code) for code in filter_.value]
        pills.append(f"{key.description or key.name} {verb} {', '.join(labels)}")
    pills += [numbers.title(slicer.data_field(name)) for name in reading.fields]
    pills += [f"by {slicer.key_field(name).description or name}" for name in reading.split_by]
    pills += [f"per {reading.grain}"] if reading.grain else []
    pills += [f"top {reading.limit}"] if reading.limit else []
    return replace(reading, pills=tuple(pills))


def _label(matches: Iterable[Match], name: str, code: str) -> str:
    return next((label for key, other, label in matches if (key, other) == (name, code) and label), code)
