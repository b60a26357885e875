"""The last steps of a question, for undo and redo. Pure values: the session keeps them with the question."""

from collections.abc import Mapping
from dataclasses import dataclass

MOST_STEPS = 50
Params = Mapping[str, str]


@dataclass(frozen=True)
class Steps:
    """Questions as URL parameters: those before the current one, and those that were undone, nearest first.

    `past` runs from the oldest to the latest.
    """

    past: tuple[Params, ...] = ()
    undone: tuple[Params, ...] = ()

    def taken(self, left: Params) -> "Steps":
        """The steps after a change from `left`. Steps undone before can no longer be redone."""
        return Steps((*self.past, left)[-MOST_STEPS:])

    def back(self, left: Params) -> tuple[Params, "Steps"]:
        """The question before `left`, and the steps as seen from there; `left` itself without one."""
        if not self.past:
            return left, self
        return self.past[-1], Steps(self.past[:-1], (left, *self.undone))

    def forward(self, left: Params) -> tuple[Params, "Steps"]:
        """The question that was undone last, and the steps as seen from there; `left` itself without one."""
        if not self.undone:
            return left, self
        return self.undone[0], Steps((*self.past, left), self.undone[1:])

    def gone(self, left: Params, there: Params) -> "Steps":
        """After the browser went from `left` to `there`.

        To a question of these steps it undoes or redoes what lies between; to another it is a step.
        """
        if there == left:
            return self
        if there in self.undone:
            place = self.undone.index(there)
            return Steps((*self.past, left, *self.undone[:place]), self.undone[place + 1 :])
        if there in self.past:
            place = len(self.past) - 1 - self.past[::-1].index(there)
            return Steps(self.past[:place], (*self.past[place + 1 :], left, *self.undone))
        return self.taken(left)
