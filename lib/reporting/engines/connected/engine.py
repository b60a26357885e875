"""The engine of connected slicers: exact, or from the sample that was written beside the rows."""

from lib.reporting.engines.connected.exact import Exact
from lib.reporting.engines.connected.live import LiveSlicers
from lib.reporting.engines.connected.plan import plan_of
from lib.reporting.engines.connected.sampled import SampledAnswer
from lib.reporting.engines.connected.statements import Statements
from lib.reporting.engines.sums import Question, Sums
from lib.reporting.warehouse import StoredSlicer
from lib.wire.deadline import Deadline


class IbisEngine:
    """Answers questions in the database that has the rows.

    They are exact, but where a slicer has a sample (samples.py) and a question a limit of rows. Time and
    memory there are the database's; here they grow with the groups of the answer alone.
    """

    def __init__(self, live: LiveSlicers) -> None:
        self._live = live

    def audience(self, stored: StoredSlicer, question: Question, deadline: Deadline) -> Sums:
        """See Engine. A statement that takes longer than the deadline is interrupted where it runs."""
        asked = Statements(self._live, stored, question, deadline)
        plan = plan_of(asked)
        if plan is not None:
            return SampledAnswer(asked, plan).sums()
        groups, rows, total = Exact(asked, question.atoms).answer()
        return Sums(
            groups=groups,
            rows=rows,
            total=total,
            dates=asked.dates,
            records_read=asked.records,
            records_in_range=asked.records,
        )
