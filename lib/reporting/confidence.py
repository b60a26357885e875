"""The confidence level of every interval, as the numbers and the words for it."""

from statistics import NormalDist

TAIL = 0.025
NORMAL = NormalDist().inv_cdf(1 - TAIL)
LEVEL = f"{100 * (1 - 2 * TAIL):g} %"
