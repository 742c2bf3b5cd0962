"""Errors of cohorts."""

from hoglet.kit.errors import HogletError, Invalid


class CohortInUse(Invalid):
    """A cohort that others refer to cannot be deleted; the detail names them."""


class Obsolete(HogletError):
    """A newer save made a calculation pointless; its result is dropped."""

    code = "obsolete"
