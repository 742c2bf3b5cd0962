"""The pages in the sidebar and in the jump dialog, in order."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SidebarPage:
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
    SidebarPage("Home", "home", "", "g h"),
    SidebarPage("Events", "events", "/events", "g e"),
    SidebarPage("Persons", "people", "/persons", "g p"),
    SidebarPage("SQL", "sql", "/sql", "g s"),
    SidebarPage("Functions", "bolt", "/functions", "g f"),
    SidebarPage("Endpoints", "api", "/endpoints", "g n"),
    SidebarPage("Dead letters", "error", "/dead-letters", "g d"),
    SidebarPage("Data", "list", "/data"),
    SidebarPage("Cohorts", "cohorts", "/cohorts"),
    SidebarPage("Actions", "done_all", "/actions"),
    SidebarPage("Variables", "braces", "/variables"),
    SidebarPage("Integrations", "plug", "/integrations"),
    SidebarPage("Settings", "key", "/settings"),
    SidebarPage("Status", "status", "/status"),
)
