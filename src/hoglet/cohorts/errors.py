"""Errors of cohorts."""

from hoglet.kit.errors import Invalid


class CohortInUse(Invalid):
    """A cohort in use cannot be deleted; the detail lists its users."""
