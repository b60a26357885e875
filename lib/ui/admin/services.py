"""The screen Services, for administrators: the address of each service, and a check of it step by step."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lib.serving import connect
from lib.serving.check import Step, check
from lib.settings import Settings
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain

RESULT, CHECK = "services_found", "services_check"
KEPT_SECONDS = 60
MARKS = {
    "ok": ":green[:material/check_circle:]",
    "note": ":gray[:material/info:]",
    "refused": ":red[:material/block:]",
    "failed": ":red[:material/error:]",
}


@dataclass(frozen=True)
class CheckResult:
    """The steps of a check, and when it ended."""

    at: float
    clock: datetime
    steps: tuple[Step, ...]


def draw(context: PageContext) -> None:
    """Draw the latest check, or run one and draw its steps as they finish."""
    if context.person.role != "admin":
        st.info("Only administrators can see the services.", icon=":material/lock:")
        return
    settings = Settings.current()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            "Where reports and deals come from. A check changes nothing; `tranche check` does the same.",
            width="stretch",
        )
        st.button(
            "Check again", icon=":material/refresh:", key=CHECK, on_click=st.session_state.pop,
            args=(RESULT, None),
        )  # fmt: skip
    for breaker in connect.installation(settings).lines.breakers:
        if breaker.rest:
            st.warning(
                f"{plain(breaker.name.capitalize())} failed several times in a row, and is not called "
                f"for {breaker.rest} seconds (circuit open).",
                icon=":material/pause_circle:",
            )
    summary, columns = st.empty(), st.columns(2, gap="large")
    check_result: CheckResult | None = st.session_state.get(RESULT)
    if check_result is None or time.monotonic() - check_result.at > KEPT_SECONDS:
        with summary, st.spinner("Checking each service", show_time=True):
            steps = _draw_steps(check(settings), columns)
        now = datetime.now().astimezone()
        check_result = st.session_state[RESULT] = CheckResult(time.monotonic(), now, steps)
    else:
        _draw_steps(check_result.steps, columns)
    with summary:
        wrong = sum(not step.is_good for step in check_result.steps)
        if wrong:
            sentence = "One thing needs fixing" if wrong == 1 else f"{wrong} things need fixing"
            st.error(sentence, icon=":material/error:")
        else:
            st.success("Everything works", icon=":material/check_circle:")
    st.caption(f"Checked at {check_result.clock:%H:%M:%S} (server time)")


def _draw_steps(steps: Iterable[Step], columns: Sequence[DeltaGenerator]) -> tuple[Step, ...]:
    """Draw each step as it finishes, grouped by service; returns the steps."""
    results: list[Step] = []
    services: list[str] = []
    for step in steps:
        is_new = step.service not in services
        services += [step.service] if is_new else []
        with columns[services.index(step.service) % len(columns)]:
            if is_new:
                st.header(plain(step.service), anchor=False)
            st.markdown(f"{MARKS[step.state]} **{plain(step.what)}** · {plain(step.result)}")
            if step.remedy:
                st.caption(f":material/build: {plain(step.remedy)}")
        results.append(step)
    return tuple(results)
