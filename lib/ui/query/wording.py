"""Questions in words: what a sentence may mean, by names of fields, values and periods; no language model.

"spend by country last week vs prior, only mobile" → the metric Spend, the split by Country, last week, the
period before, and the filter Device type is mobile. Words are taken longest first; a word that names several
things gives several readings, the likelier first. Words that name nothing are shown as they were typed.
"""

import calendar
import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from itertools import islice
from pathlib import Path

from lib.figures import numbers
from lib.figures.numbers import Numbers
from lib.figures.query import filters, periods
from lib.figures.query.periods import PREVIOUS, WEEKDAYS, YEAR
from lib.reporting import named_days
from lib.reporting.links import MOST_SPLITS
from lib.reporting.models import DataFilter
from lib.slicers.granularities import CYCLES, GRANULARITIES, SPAN_KEY_FIELDS, Granularity
from lib.slicers.models import Slicer
from lib.ui.query.wording_days import NUMBERS, WEEKLY, DayWords
from lib.wire.filters import DataMatch, Filter, Match

Meaning = tuple[str, str, str]
"""A value that a word may mean: its key field, its code, and its description."""
ValueIndex = Mapping[str, Sequence[Meaning]]
"""What texts mean, by the text as `text_key` writes it."""
WEEKDAY = CYCLES["weekday"].key_field
MOST_READINGS, LONGEST_PHRASE, MOST_WORDS = 4, 8, 40
LEAST_TYPO, CLOSE = 4, 0.8

_WORDS = tomllib.loads((Path(__file__).parent / "words.toml").read_text("utf-8"))
FILLERS, SPLIT_WORDS, EXCLUDING, INCLUDING, MOVING = (
    frozenset(_WORDS[name].split()) for name in ("fillers", "split", "excluding", "including", "moving")
)
SILENT = FILLERS | SPLIT_WORDS | EXCLUDING | INCLUDING | {"or"}
MOVES = frozenset(_WORDS["moves"])
COMPARE_WORDS: Mapping[str, DataMatch] = {
    word: match for match, words in _WORDS["compare"].items() for word in words
}
COMPARISONS = {
    phrase: () if name == "none" else (name,)
    for name, phrases in _WORDS["comparisons"].items()
    for phrase in phrases
}
SYNONYMS: Sequence[Sequence[str]] = _WORDS["fields"]["same"]
VALUE_WORDS: Mapping[str, Sequence[str]] = _WORDS["values"]
OR, OR_NOT = "or", "or not"
NUMBER = re.compile(r"[$€£]?(\d+(?:\.\d+)?)(k|m|mm|bn|b|%)?")
FACTORS = {"k": 10**3, "m": 10**6, "mm": 10**6, "b": 10**9, "bn": 10**9}
_COMPARE = "|".join(map(re.escape, sorted(COMPARE_WORDS, key=len, reverse=True)))
FIGURE_FORMS = (
    re.compile(
        rf"(?:(?P<field>.+?) )?(?:is |are |of )?(?P<compare>{_COMPARE}) (?P<number>\S+)(?: (?P<after>.+))?"
    ),
    re.compile(r"(?:(?P<field>.+?) )?(?P<compare>)(?P<number>\S+?)(?:\+| or more)(?: (?P<after>.+))?"),
)
BETWEEN = re.compile(
    r"(?:(?P<field>.+?) )?(?:is |are )?between (?P<low>\S+) (?:and|to) (?P<high>\S+)(?: (?P<after>.+))?"
)
_RUNNING = re.compile(r"(?:vs|with|to|against)(?: the)? last (week|month|quarter)")  # of this one
UNITS = frozenset(("day", "days", "week", "weeks", "month", "months", "hour", "hours"))  # fmt: skip
COMPARISON_PILLS: Mapping[tuple[str, ...], str] = {
    (PREVIOUS,): "vs the period before",
    (WEEKDAYS,): "vs the same weekdays",
    (YEAR,): "vs a year ago",
}


@dataclass(frozen=True)
class Reading:
    """What a sentence may mean: the parts of a question that it names, the others being as they were.

    `fields` are data fields, `compare` as in a view (None: not named), `moved` asks for the tab What moved,
    `score` the likelier the higher; `latest` are the alternatives of the condition named last. `ignored` are
    words that mean nothing here.
    """

    fields: tuple[str, ...] = ()
    split_by: tuple[str, ...] = ()
    days: tuple[str, str] | None = None
    compare: tuple[str, ...] | None = None
    grain: Granularity | None = None
    filters: tuple[Filter, ...] = ()
    any_of: tuple[tuple[Filter, ...], ...] = ()
    data_filters: tuple[DataFilter, ...] = ()
    moved: bool = False
    limit: int | None = None
    score: float = 0.0
    latest: tuple[Filter, ...] = field(default=(), compare=False)
    pills: tuple[str, ...] = field(default=(), compare=False)
    ignored: tuple[str, ...] = field(default=(), compare=False)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was understood."""
        return replace(self, score=0.0) == Reading()

    def where(self, name: str, code: str, match: Match) -> "Reading":
        """The reading with this condition; values of one key field and match are one condition."""
        after = _join(self.filters, name, code, match)
        latest = next(filter_ for filter_ in after if (filter_.name, filter_.match) == (name, match))
        return replace(self, filters=after, latest=(latest,))

    def or_where(self, name: str, code: str, match: Match) -> "Reading":
        """The reading with this alternative to the condition named last."""
        group = _join(self.latest, name, code, match)
        others = tuple(filter_ for filter_ in self.filters if filter_ not in self.latest)
        groups = tuple(other for other in self.any_of if other != self.latest)
        if len(group) == 1:
            return replace(self, filters=(*others, *group), any_of=groups, latest=group)
        return replace(self, filters=others, any_of=(*groups, group), latest=group)


def _join(conditions: tuple[Filter, ...], name: str, code: str, match: Match) -> tuple[Filter, ...]:
    for index, filter_ in enumerate(conditions):
        if (filter_.name, filter_.match) == (name, match):
            both = filter_.model_copy(update={"value": tuple(dict.fromkeys((*filter_.value, code)))})
            return (*conditions[:index], both, *conditions[index + 1 :])
    return (*conditions, Filter(name=name, value=(code,), match=match))


@dataclass(frozen=True)
class Readings:
    """The readings of a sentence, the likeliest first; without any, why."""

    best: tuple[Reading, ...]
    reason: str = ""


@dataclass(frozen=True)
class _Vocabulary:
    """What phrases in small letters name: data fields, key fields, granularities, days and values."""

    slicer: Slicer
    data: Mapping[str, Sequence[str]]
    keys: Mapping[str, Sequence[str]]
    grains: Mapping[str, Granularity]
    days: DayWords
    index: ValueIndex

    @cached_property
    def words(self) -> set[str]:
        """Every word of every phrase but those of values, for typos."""
        tables = (self.data, self.keys, COMPARISONS, self.grains, self.days.phrases, COMPARE_WORDS, MOVES)
        words = {word for table in tables for phrase in table for word in phrase.split()}
        return words | SILENT | MOVING | UNITS | {*VALUE_WORDS, "last"}

    @cached_property
    def value_words(self) -> set[str]:
        return {word for phrase in self.index for word in phrase.split()}

    def values(self, phrase: str) -> list[Meaning]:
        """The values that a phrase may mean; none of words like `in`, which is also India's code."""
        texts = () if phrase in SILENT else (phrase, *VALUE_WORDS.get(phrase, ()))
        return [*dict.fromkeys(meaning for text in texts for meaning in self.index.get(text, ()))]

    def correct(self, word: str) -> str:
        """The word, or where it is a typo, the one that it is near."""
        if len(word) < LEAST_TYPO or re.search(r"\d", word) or word in self.words or word in self.value_words:
            return word
        near = [
            other
            for other in self.words | self.value_words
            if abs(len(other) - len(word)) < 3 and other[0] in word[:2] and word[0] in other[:2]
        ]
        return next(iter(difflib.get_close_matches(word, sorted(near), 1, CLOSE)), word)


def text_key(text: str) -> str:
    """A text as it is found by: its words in small letters, without the marks between them."""
    return " ".join(word.casefold() for word in _words(text))


def _words(text: str) -> list[str]:
    clean = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text).replace("!=", " not ").replace(" %", "%")
    clean = re.sub(r"(>=|<=|[<>=≥≤])", r" \1 ", re.sub(r"[?!;:,()\"“”]", " ", clean))
    return [word for part in clean.split() if (word := part.strip(".'’"))]


def read(text: str, slicer: Slicer, today: date, index: ValueIndex, locale: str = "") -> Readings:
    """What a sentence may mean about a slicer; `today` is in its zone, `locale` that of numbers in pills."""
    own_words = _words(text)
    if not own_words:
        return Readings((), "Type a question, like: spend by country last week.")
    if len(own_words) > MOST_WORDS or len(text) > MOST_WORDS * 10:
        return Readings((), f"Too long: {MOST_WORDS} words at most.")
    vocabulary = _vocabulary(slicer, today, index)
    words = [{"versus": "vs", "v": "vs"}.get(word.casefold(), word.casefold()) for word in own_words]
    parser = _Parser([*map(vocabulary.correct, words)], own_words, vocabulary)
    candidates = list(islice(parser.readings(), 200))
    best = sorted({reading: None for reading in candidates if not reading.is_empty}, key=lambda r: -r.score)
    useful = [reading for reading in best if reading.score >= best[0].score - 1.5] if best else []
    if not useful:
        return Readings(
            (), f"No field, value or period of this slicer is named “{' '.join(own_words)[:60]}”."
        )
    return Readings(tuple(_describe(reading, vocabulary, locale) for reading in useful[:MOST_READINGS]))


def _vocabulary(slicer: Slicer, today: date, index: ValueIndex) -> _Vocabulary:
    data: dict[str, list[str]] = {}
    keys: dict[str, list[str]] = {}
    for data_field in slicer.data_fields:
        _name(data, data_field.name, data_field.description)
    for key_field in slicer.key_fields:
        if key_field.name not in SPAN_KEY_FIELDS:
            _name(keys, key_field.name, key_field.description)
    for names in (data, keys):
        own = dict(names)
        last_words: dict[str, list[str]] = {}  # `cpm` is Win CPM and Bid CPM
        for phrase, targets in own.items():
            first, _, last = phrase.rpartition(" ")
            if first and len(last) > 2:
                meanings = last_words.setdefault(last, [])
                meanings += [name for name in targets if name not in meanings]
        for phrase, targets in last_words.items():
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
    return _Vocabulary(slicer, data, keys, grains, DayWords(slicer, today), index)


def _name(names: dict[str, list[str]], name: str, description: str | None) -> None:
    """Enter a field under its name, the last part of it, and its description, each also in the plural."""
    last = re.split(r"[.]", name)[-1]
    phrases = {name.casefold(), last.replace("_", " ").casefold(), (description or "").casefold()}
    phrases |= {phrase.removesuffix(" id") for phrase in phrases}
    for phrase in filter(None, phrases):
        for form in (phrase, f"{phrase}s", f"{phrase[:-1]}ies" if phrase.endswith("y") else phrase):
            if name not in names.setdefault(form, []):
                names[form].append(name)


@dataclass(frozen=True)
class _Parser:
    """All readings of the words, in the person's own spelling `own_words`: the longest phrases first."""

    words: Sequence[str]
    own_words: Sequence[str]
    vocabulary: _Vocabulary

    def readings(self, index: int = 0, reading: Reading = Reading(), mode: str = "") -> Iterator[Reading]:
        """The readings that go on from the word `index`; `mode` is what the words before it are about."""
        if index >= len(self.words):
            yield reading
            return
        for length in range(min(LONGEST_PHRASE, len(self.words) - index), 0, -1):
            phrase = " ".join(self.words[index : index + length])
            is_span = self.words[index + length : index + length + 1] and self.words[index + length] in UNITS
            nexts = [
                *(() if is_span else self._figures(phrase, reading)),
                *self._meanings(phrase, reading, mode, index + length),
            ]
            for after, next_mode in nexts:
                longer = replace(after, score=after.score + length * length * 0.1)
                yield from self.readings(index + length, longer, next_mode)
            if nexts:
                return
        yield from self.readings(index + 1, *self._after_word(index, reading, mode))

    def _after_word(self, index: int, reading: Reading, mode: str) -> tuple[Reading, str]:
        """The reading after a word that names nothing, and what the next words are about."""
        word = self.words[index]
        if word in SPLIT_WORDS:
            return reading, "split"
        if word in EXCLUDING:
            return reading, OR_NOT if mode == OR else "exclude"
        if word == OR and mode != "exclude" and reading.latest:
            return reading, OR
        if word in INCLUDING:
            return reading, mode if mode in ("exclude", OR, OR_NOT) else "include"
        if self.words[index - 1 : index] == ["top"] and (word.isdigit() or word in NUMBERS[1:]):
            return replace(reading, limit=int(word) if word.isdigit() else NUMBERS.index(word)), mode
        if word in FILLERS or word == OR or (reading.moved and word in MOVING):
            return reading, mode
        if word in MOVING:
            return replace(reading, moved=True), mode
        return replace(
            reading, score=reading.score - 1.0, ignored=(*reading.ignored, self.own_words[index])
        ), mode

    def _figures(self, phrase: str, reading: Reading) -> Iterator[tuple[Reading, str]]:
        """The readings with a filter by a metric: `at least 10000 impressions`, `ctr below 0.2`."""
        limits: tuple[tuple[DataMatch, str], ...] = ()
        if between := BETWEEN.fullmatch(phrase):
            limits, match = ((">=", between["low"]), ("<=", between["high"])), between
        elif form := next(filter(None, (form.fullmatch(phrase) for form in FIGURE_FORMS)), None):
            limits, match = ((COMPARE_WORDS[form["compare"] or "min"], form["number"]),), form
        numbers_in = [NUMBER.fullmatch(text) for _, text in limits]
        if not limits or not all(numbers_in):
            return
        names = [name for name in (match["field"], match["after"]) if name]
        fields = self.vocabulary.data.get(names[0], ()) if names else reading.fields[-1:]
        for name in fields if len(names) < 2 else ():
            filters_by_figures = (
                DataFilter(name=name, match=compare, value=float(number[1]) * FACTORS.get(number[2], 1))
                for (compare, _), number in zip(limits, numbers_in, strict=True)
                if number
            )
            more = (*reading.data_filters, *filters_by_figures)
            yield replace(reading, data_filters=more, latest=(), score=reading.score + 1), ""

    def _meanings(
        self, phrase: str, reading: Reading, mode: str, after: int
    ) -> Iterator[tuple[Reading, str]]:
        """Each meaning of a phrase: the reading with it, and what the words from `after` on are about."""
        vocabulary, score = self.vocabulary, reading.score + 1
        keys = vocabulary.keys.get(phrase, ())
        is_weekly = phrase in WEEKLY and any(key.name == WEEKDAY for key in vocabulary.slicer.key_fields)
        running = _RUNNING.fullmatch(phrase)
        if running and reading.days and reading.days[0] == f"-0{running[1][0]}_first":
            yield replace(reading, compare=(PREVIOUS,), score=score), ""
        elif phrase in COMPARISONS:
            yield replace(reading, compare=COMPARISONS[phrase], score=score), ""
        elif mode != "split" and is_weekly:
            yield from self._weekdays(phrase, reading, mode)
        elif phrase in MOVES:
            yield replace(reading, moved=True, score=score), mode
        elif reading.days is None and (days := vocabulary.days.read(phrase)) is not None:
            yield replace(reading, days=days, score=score), ""
        elif phrase in vocabulary.grains:
            yield replace(reading, grain=vocabulary.grains[phrase], score=score), ""
        elif keys and mode == "split":
            yield from self._splits(keys, reading, mode, after)
        else:
            yield from self._splits(keys, reading, mode, after)
            for name in vocabulary.data.get(phrase, ()):
                if name not in reading.fields:
                    yield replace(reading, fields=(*reading.fields, name), score=score), ""
            is_negative, is_or = mode in ("exclude", OR_NOT), mode in (OR, OR_NOT)
            match: Match = "not equals" if is_negative else "equals"
            for name, code, _ in vocabulary.values(phrase):
                if phrase.isdigit() and mode != "include" and name not in self._fields_before(after - 1):
                    continue  # a number, not a value
                likelier = replace(reading, score=reading.score + (1.0 if mode else 0.8))
                if not is_or:
                    yield likelier.where(name, code, match), mode
                elif vocabulary.slicer.knows("any_of") or [(f.name, f.match) for f in reading.latest] == [
                    (name, match)
                ]:
                    yield likelier.or_where(name, code, match), ""

    def _weekdays(self, phrase: str, reading: Reading, mode: str) -> Iterator[tuple[Reading, str]]:
        """The readings of "on monday": of each week, or else of the last one."""
        weekly, score = reading, reading.score + 1
        for day in WEEKLY[phrase]:
            value = f"{day + 1} {calendar.day_name[day]}"
            weekly = weekly.where(WEEKDAY, value, "not equals" if mode == "exclude" else "equals")
        yield replace(weekly, score=score), ""
        if reading.days is None and (days := self.vocabulary.days.read(phrase)) is not None:
            yield replace(reading, days=days, score=score - 0.1), ""

    def _fields_before(self, index: int) -> set[str]:
        """The key fields that the words before that index name."""
        runs = (" ".join(self.words[max(index - length, 0) : index]) for length in (1, 2, 3))
        return {name for run in runs for name in self.vocabulary.keys.get(run, ())}

    def _splits(
        self, keys: Sequence[str], reading: Reading, mode: str, after: int
    ) -> Iterator[tuple[Reading, str]]:
        """The readings with a split by one of these key fields; or as it is, where its value comes next."""
        rest = [word for word in self.words[after:] if word not in FILLERS | EXCLUDING]
        runs = (" ".join(rest[:length]) for length in range(1, LONGEST_PHRASE))
        with_values = {name for run in runs for name, _, _ in self.vocabulary.values(run)} if keys else set()
        for name in keys:
            if mode != "split" and name in with_values:
                next_mode = mode if mode in ("exclude", OR, OR_NOT) else "include"
                yield replace(reading, score=reading.score + 0.5), next_mode  # "where country is Germany"
            elif name not in reading.split_by and len(reading.split_by) < MOST_SPLITS and mode != "exclude":
                score = reading.score + (1.0 if mode == "split" else 0.6)
                yield replace(reading, split_by=(*reading.split_by, name), score=score), "split"


def _describe(reading: Reading, vocabulary: _Vocabulary, locale: str) -> Reading:
    """The reading with the pills that it would set, in the order of the screen."""
    pills, comparisons = [], {**COMPARISON_PILLS}
    slicer, today = vocabulary.slicer, vocabulary.days.today
    if reading.days is not None:
        preset = periods.preset_of(slicer, *reading.days, today)
        days = named_days.resolve(*reading.days, today, slicer)
        pills.append(preset.label if preset else numbers.days(*days))
        part = named_days.part_before(reading.days[0], days, today, slicer).name
        comparisons[(PREVIOUS,)] = f"vs {part[0].lower()}{part[1:]}"
    if reading.compare is not None:
        pills.append(comparisons.get(reading.compare, "not compared"))
    labels: dict[str, dict[str, str]] = {}
    for name, code, label in (meaning for meanings in vocabulary.index.values() for meaning in meanings):
        labels.setdefault(name, {})[code] = label
    for filter_ in reading.filters:
        pills.append(filters.sentence(filter_, slicer, labels.get(filter_.name), len(filter_.value)))
    pills += [filters.group_sentence(group, slicer, labels, None) for group in reading.any_of]
    pills += [filters.figure_sentence(each, slicer, Numbers.of(locale)) for each in reading.data_filters]
    pills += [numbers.title(slicer.data_field(name)) for name in reading.fields]
    pills += [f"by {filters.field(name, slicer)}" for name in reading.split_by]
    pills += [f"per {reading.grain}"] if reading.grain else []
    pills += [f"top {reading.limit}"] if reading.limit else []
    pills += ["What moved"] if reading.moved else []
    return replace(reading, pills=tuple(pills))
