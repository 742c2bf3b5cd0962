"""The pages in the sidebar and in the jump dialog, in order."""

from urllib.parse import quote

import msgspec


class SidebarPage(msgspec.Struct, frozen=True):
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
        if self.path == "/status":  # a page of the server, with the project's sidebar
            return f"/status?project={project_id}"
        return f"/project/{project_id}{self.path}"


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


def group_href(project_id: str, index: int, key: str) -> str:
    """The page of a group: ``/project/1/groups/0/acme``."""
    return f"/project/{project_id}/groups/{index}/{quote(key, safe='')}"


def person_href(project_id: str, distinct_id: str, person_id: str | None) -> str:
    """The page of a person, by distinct id unless browsers would change it in a path.

    Example:
        >>> [person_href("1", each, "0190f7a0") for each in ("a/b", "..")]
        ['/project/1/person/a%2Fb', '/project/1/persons/0190f7a0']
    """
    if person_id and distinct_id.strip() in {"", ".", ".."}:  # resolved even if escaped
        return f"/project/{project_id}/persons/{person_id}"
    return f"/project/{project_id}/person/{quote(distinct_id, safe='')}"
