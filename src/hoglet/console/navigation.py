"""The pages in the sidebar and in the jump dialog, in order."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """An entry of the sidebar.

    Args:
        title: as shown.
        icon: a name of ``static/console.js``.
        path: below the project, ``/functions``; "" is the home page.
        keys: the shortcut, ``g f``.
    """

    title: str
    icon: str
    path: str
    keys: str = ""

    def href(self, project_id: str) -> str:
        """The address, e.g. ``/project/1/functions``."""
        return self.path if self.path == "/status" else f"/project/{project_id}{self.path}"


PAGES = (
    Page("Home", "home", "", "g h"),
    Page("Events", "events", "/events", "g e"),
    Page("Persons", "people", "/persons", "g p"),
    Page("SQL", "sql", "/sql", "g s"),
    Page("Functions", "bolt", "/functions", "g f"),
    Page("Endpoints", "api", "/endpoints", "g n"),
    Page("Dead letters", "error", "/dead-letters", "g d"),
    Page("Data", "list", "/data"),
    Page("Cohorts", "cohorts", "/cohorts"),
    Page("Actions", "done_all", "/actions"),
    Page("Variables", "braces", "/variables"),
    Page("Integrations", "plug", "/integrations"),
    Page("Settings", "key", "/settings"),
    Page("Status", "status", "/status"),
)
