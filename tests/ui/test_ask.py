"""Answers are asked for once, kept for a moment, and only for whom they were given to."""

import threading
from datetime import date

import pandas as pd
import pytest

from lib.figures.query.ask import MOST, SECONDS, Answers, Key
from lib.reporting.answers import Audience, Total
from lib.reporting.models import AudienceQuery
from lib.wire.errors import DeadlineExceeded

EMPTY = pd.DataFrame()


class Service:
    """A service that counts what it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def answer(self) -> Audience:
        """Another answer each time."""
        self.asked += 1
        return Audience(EMPTY, EMPTY, EMPTY, Total({}, self.asked))


def key(place: int = 0, person: str = "viewer") -> Key:
    """One of many questions."""
    query = AudienceQuery(
        project_name="demo", slicer_name="delivery", start_date="-7d", end_date="yesterday", limit=place
    )
    return person, date(2026, 11, 21), query


def test_the_same_question_is_asked_once() -> None:
    """An answer is kept by question and person."""
    answers, service = Answers(), Service()
    first = answers.get(key(), service.answer)
    assert answers.get(key(), service.answer) is first
    assert answers.get(key(person="manager"), service.answer) is not first
    assert answers.get(key(1), service.answer) is not first
    assert service.asked == 3


def test_answers_grow_old() -> None:
    """After two minutes the question is asked again."""
    now = 0.0
    answers, service = Answers(lambda: now), Service()
    answers.get(key(), service.answer)
    now = SECONDS + 1
    answers.get(key(), service.answer)
    assert service.asked == 2


def test_only_so_many_are_kept() -> None:
    """The oldest answers make room for new ones."""
    answers, service = Answers(), Service()
    for place in range(MOST + 1):
        answers.get(key(place), service.answer)
    answers.get(key(MOST), service.answer)
    assert service.asked == MOST + 1
    answers.get(key(0), service.answer)
    assert service.asked == MOST + 2


def test_who_comes_second_waits() -> None:
    """Two blocks of a page that ask the same at the same time cause one request."""
    answers, service = Answers(), Service()
    is_asking, may_answer = threading.Event(), threading.Event()

    def slow() -> Audience:
        is_asking.set()
        may_answer.wait(10)
        return service.answer()

    audiences: list[Audience] = []
    threads = [threading.Thread(target=lambda: audiences.append(answers.get(key(), slow))) for _ in range(2)]
    threads[0].start()
    is_asking.wait(10)
    threads[1].start()
    may_answer.set()
    for thread in threads:
        thread.join(10)
    assert service.asked == 1
    assert audiences[0] is audiences[1]


def test_failures_are_not_kept() -> None:
    """A question that failed is asked again."""
    answers, service = Answers(), Service()

    def late() -> Audience:
        raise DeadlineExceeded("too late")

    with pytest.raises(DeadlineExceeded):
        answers.get(key(), late)
    assert answers.get(key(), service.answer).total.records_found == 1


def test_an_answer_in_the_background() -> None:
    """What is asked in the background is awaited until it comes, asked once, and then known."""
    answers, service, may_come = Answers(), Service(), threading.Event()

    def slow() -> Audience:
        may_come.wait(10)
        return service.answer()

    answers.start(key(), slow)
    answers.start(key(), slow)
    assert answers.peek(key()) is None
    (pending,) = answers.pending()
    may_come.set()
    assert pending.result(10).total.records_found == 1
    assert answers.peek(key()) is pending.result()
    assert (service.asked, answers.pending()) == (1, [])
