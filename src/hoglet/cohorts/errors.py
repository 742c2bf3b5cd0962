"""Errors of cohorts."""

from hoglet.kit.errors import HogletError, Invalid


class CohortInUse(Invalid):
    """A cohort in use cannot be deleted; the detail lists its users."""


class Obsolete(HogletError):
    """A newer save superseded a calculation; its result is dropped."""

    code = "obsolete"
