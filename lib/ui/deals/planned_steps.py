"""The steps of a change of several on screen: progress, and the result and a note for each."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from lib.ui.charts.numbers import Numbers
from lib.ui.deals.planned_job import Outcome, PlannedJob
from lib.ui.deals.several_change import Effect
from lib.ui.frame.frame import Here
from lib.ui.supply import catalogue
from lib.ui.supply.rows import KINDS, Key

PAUSE_SECONDS, NAME_WIDTH = 0.1, 180
Results = Mapping[Key, Outcome]


def run(here: Here, job: PlannedJob, done: Callable[[], None]) -> None:
    """Read or send step by step, each a run of its own, and draw how far it is; `done` follows the last."""
    st.fragment(_step, run_every=PAUSE_SECONDS)(here, job, done)


def results(job: PlannedJob) -> Results:
    """The outcomes by key."""
    return {one.effect.key: one for one in job.outcomes}


def became(effect: Effect, found: Results) -> str:
    """What became of it, in a word."""
    if effect.key in found:
        outcome = found[effect.key]
        return "Saved" if not outcome.reason else "Unknown" if outcome.is_open else "Failed"
    return "Refused" if effect.refused else "Not sent" if effect.is_change else "Unchanged"


def note(effect: Effect, found: Results) -> str:
    """Why it failed or was refused, or what else is concerned."""
    outcome = found.get(effect.key)
    return (outcome.reason if outcome else "") or effect.refused or effect.also


def table(shown: dict[str, list[str]], alt: str) -> None:
    """Draw a table of changes, whose names are not cut off."""
    names = {"Name": st.column_config.Column(width=NAME_WIDTH)}
    st.dataframe(shown, hide_index=True, alt=alt, column_config=names)


def verdict(job: PlannedJob, said: str, more: str = "") -> None:
    """Draw the result: `said`, what failed and what was not sent; `more` follows where something did."""
    if not job.failed and not job.left:
        st.success(f"{said}.", icon=":material/check_circle:")
        return
    parts = [said, f"{number(len(job.failed))} failed" if job.failed else ""]
    parts.append(f"{number(len(job.left))} not sent" if job.left else "")
    st.warning(f"{', '.join(filter(None, parts))}. {more}".rstrip(), icon=":material/info:")


def summary(job: PlannedJob, changes: str) -> None:
    """Draw how much a preview will save, refuses and leaves; `changes` names what is saved, if anything."""
    refused = sum(bool(one.refused) for one in job.effects)
    same = sum(not one.is_change for one in job.effects) - refused
    said = [f"**{changes}** will be saved." if changes else "**Nothing** to save."]
    said += [f"{number(refused)} refused."] if refused else []
    said += [f"{number(same)} unchanged."] if same else []
    st.markdown(" ".join(said))


def changes(effects: Sequence[Effect]) -> str:
    """`3 deals and 1 package`."""
    counts = {entity: sum(one.key[0] == entity for one in effects) for entity in (*KINDS,)[::-1]}
    return " and ".join(counted(entity, count) for entity, count in counts.items() if count)


def counted(entity: str, count: int) -> str:
    """`3 deals`."""
    return f"{number(count)} {KINDS[entity].lower()}{'' if count == 1 else 's'}"


def number(count: int) -> str:
    """A number as the reader writes it."""
    return Numbers.of(st.context.locale).number(count)


def _step(here: Here, job: PlannedJob, done: Callable[[], None]) -> None:
    client, before = catalogue.client(here), job.phase
    if before == "reading":
        job.read(client)
        come, total, doing = len(job.effects), len(job.effects) + len(job.to_read), "read"
    else:
        job.write(client)
        come, total, doing = len(job.outcomes), len(job.outcomes) + len(job.left), "sent"
    st.progress(come / max(1, total), f"{number(come)} of {number(total)} {doing}")
    if job.phase != before:
        if job.phase == "done":
            done()
            catalogue.forget()
        st.rerun()
