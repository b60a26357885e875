"""Long work on screen: a job goes step by step, and one dialog part draws its progress and its Stop.

Each step is a script run of its own, in the session of the person who looks on. So a step has that person's
rights of that moment, no thread outlives the session, and a click on Stop waits for one step at most.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import streamlit as st

from lib.deals.client import Deals
from lib.ui.kit.frame import PageContext
from lib.wire.errors import TrancheError

STEP_SECONDS, PAUSE_SECONDS = 0.5, 0.1


class Job(ABC):
    """Work as far as it has come. It is changed in place and stays in the session, so that a run that is
    broken off loses nothing."""

    @property
    @abstractmethod
    def is_running(self) -> bool:
        """Whether there is a step to do."""

    @property
    @abstractmethod
    def progress(self) -> tuple[int, int]:
        """How many are done, of how many."""

    @abstractmethod
    def step(self, client: Deals) -> None:
        """Do as much as fits in STEP_SECONDS; a failure is part of the result, not an exception."""

    @abstractmethod
    def stop(self) -> None:
        """Do no more. A callback."""

    def run(self, client: Deals) -> None:
        """Do all of it now."""
        while self.is_running:
            self.step(client)

    @property
    def verb(self) -> str:
        """What is counted: `3 of 10 sent`."""
        return ""

    @property
    def has_stop(self) -> bool:
        return self.is_running


@dataclass
class PartsJob(Job):
    """Work that an iterator does part by part, of `total`; `problem` says why it ended early."""

    parts: Iterator[Any]
    total: int
    done_count: int = 0
    problem: str = ""
    is_over: bool = False

    @abstractmethod
    def take(self, part: Any) -> None:
        """Take a part that the iterator has made, and count it in `done_count`."""

    def step(self, client: Deals) -> None:
        ends = time.monotonic() + STEP_SECONDS
        try:
            for part in self.parts:
                self.take(part)
                if time.monotonic() >= ends:
                    return
        except TrancheError as error:
            self.problem = error.sentence
        except BaseException:
            self.problem = "The server's log says why."
            raise
        self.is_over = True

    def stop(self) -> None:
        """Take no more. A callback."""
        self.is_over = True

    @property
    def is_running(self) -> bool:
        """Whether there are parts to come, as far as is known."""
        return not self.is_over and not self.problem

    @property
    def progress(self) -> tuple[int, int]:
        """How many are done, of how many."""
        return self.done_count, self.total


def draw(
    context: PageContext, job: Job, number: Callable[[int], str], after: Callable[[], None] = lambda: None
) -> None:
    """Draw the progress of a running job while its steps run, and Stop.

    `number` writes a number as the reader does; `after` follows the last step, or Stop.
    """
    st.fragment(_step, run_every=PAUSE_SECONDS)(context, job, number, after)
    if job.has_stop:
        st.button("Stop", icon=":material/stop:", key="job_stop", on_click=_stop, args=(job, after))


def _step(context: PageContext, job: Job, number: Callable[[int], str], after: Callable[[], None]) -> None:
    verb = job.verb
    if job.is_running:
        job.step(context.deals)
    count, total = job.progress
    st.progress(min(1.0, count / max(1, total)), f"{number(count)} of {number(total)} {verb}".rstrip())
    if not job.is_running:
        after()
        st.rerun()


def _stop(job: Job, after: Callable[[], None]) -> None:
    job.stop()
    after()
