"""The verdicts on a run beside another."""

from enum import StrEnum


class Verdict(StrEnum):
    """What a comparison says of the first of two runs, in the order in which it is asked."""

    WORSE = "worse"
    BETTER = "better"
    WITHIN = "within margin"
    NOT_WORSE = "not worse"
    UNDECIDED = "undecided"
