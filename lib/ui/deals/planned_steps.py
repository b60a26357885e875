"""The steps of a change of several on screen: progress, and the result and a note for each."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from lib.ui.charts.numbers import Numbers
from lib.ui.deals import catalogue
from lib.ui.deals.planned_job import Outcome, PlannedJob
from lib.ui.deals.rows import KINDS, Key
from lib.ui.deals.several_change import Effect
from lib.ui.kit.frame import PageContext
from lib.ui.kit.job import draw
from lib.ui.kit.markdown import plain

FIRST, NOTE = 50, "Note"
Results = Mapping[Key, Outcome]


def run(context: PageContext, job: PlannedJob, done: Callable[[], None]) -> None:
    """Read or send step by step, and draw how far it is; `done` follows what was sent last."""

    def after() -> None:
        if job.phase == "done":
            done()
            catalogue.forget()

    draw(context, job, number, after)


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


def table(shown: Mapping[str, Sequence[str]], alt: str) -> None:
    """Draw a table of changes: whole texts, wrapped, and no box that scrolls by itself.

    Of many rows the first are drawn, those with a note before the others, and a button for all. There is no
    column of notes without any.
    """
    shown = {title: texts for title, texts in shown.items() if title != NOTE or any(texts)}
    rows = [*zip(*shown.values(), strict=True)]
    titles, key = [*shown], f"all_of_{alt}"
    is_cut = len(rows) > FIRST and not st.session_state.get(key)
    if is_cut and NOTE in titles:
        rows.sort(key=lambda row: not row[titles.index(NOTE)])
    columns = zip(*rows[: FIRST if is_cut else None], strict=True)
    cells = {
        plain(name): [plain(text) for text in texts] for name, texts in zip(titles, columns, strict=False)
    }
    st.table(cells, border="horizontal", hide_index=True, alt=alt)
    if is_cut:
        label = f"Show all {number(len(rows))}"
        st.button(label, type="tertiary", key=f"{key}_shown", on_click=_show_all, args=(key,))


def _show_all(key: str) -> None:
    """Draw all rows of a table. A callback."""
    st.session_state[key] = True


def verdict(job: PlannedJob, sentence: str, more: str = "") -> None:
    """Draw the result: `said`, what failed and what was not sent; `more` follows where something did."""
    if not job.failed and not job.left:
        st.success(f"{sentence}.", icon=":material/check_circle:")
        return
    parts = [sentence, f"{number(len(job.failed))} failed" if job.failed else ""]
    parts.append(f"{number(len(job.left))} not sent" if job.left else "")
    st.warning(f"{', '.join(filter(None, parts))}. {more}".rstrip(), icon=":material/info:")


def summary(job: PlannedJob, changes: str) -> None:
    """Draw how much a preview will save, refuses and leaves; `changes` names what is saved, if anything."""
    refused = sum(bool(one.refused) for one in job.effects)
    same = sum(not one.is_change for one in job.effects) - refused
    sentences = [f"**{changes}** will be saved." if changes else "**Nothing** to save."]
    sentences += [f"{number(refused)} refused."] if refused else []
    sentences += [f"{number(same)} unchanged."] if same else []
    st.markdown(" ".join(sentences))


def changes(effects: Sequence[Effect]) -> str:
    """`3 deals and 1 package`."""
    counts = {entity: sum(one.key[0] == entity for one in effects) for entity in (*KINDS,)[::-1]}
    return " and ".join(count_label(entity, count) for entity, count in counts.items() if count)


def others(changes: Sequence[Effect]) -> None:
    """Draw the deals that change with a package and were not chosen."""
    found = {deal: (name, effect.name) for effect in changes for deal, name in effect.others.items()}
    if not found:
        return
    count = f"{number(len(found))} other deal{'s' if len(found) > 1 else ''}"
    verb = "changes too: its" if len(found) == 1 else "change too: their"
    st.markdown(f":material/warning: **{count}** {verb} dates are those of the package.")
    names, packages = zip(*found.values(), strict=True)
    table({"Deal": names, "Package": packages}, "Other deals that change")


def count_label(entity: str, count: int) -> str:
    """`3 deals`."""
    return f"{number(count)} {KINDS[entity].lower()}{'' if count == 1 else 's'}"


def number(count: int) -> str:
    """A number as the reader writes it."""
    return Numbers.of(st.context.locale).number(count)
