"""All commands.

``hoglet <noun> <verb>``, nouns in the plural. Commands call a server; those of ``hoglet admin``
open a data folder. Exit codes: 0 success, 1 differences or a failure, 2 wrong usage or no server.

Only the command that is called is imported, so that help is quick and a server holds no other.
"""

from hoglet.cli.application import command_line
from hoglet.cli.command_table import CommandEntry, CommandTable

_KEYS = "hoglet.cli.admin.keys"
_SYNC = "hoglet.cli.project.sync"

COMMANDS = CommandTable(
    {
        "serve": CommandEntry(
            "hoglet.cli.server.serve:serve",
            "Start the server; Ctrl-C or SIGTERM shuts it down gracefully.",
        ),
        "demo": CommandEntry(
            "hoglet.cli.demo:demo",
            "Run the demo on 336,776 real departures; every figure is checked against the CSV.",
        ),
        "login": CommandEntry(
            "hoglet.cli.server.login:login",
            "Verify and save a personal API key; later commands use it without options.",
        ),
        "logout": CommandEntry(
            "hoglet.cli.server.login:logout",
            "Remove a profile and its key from this machine; the key itself stays valid.",
        ),
        "query": CommandEntry(
            "hoglet.cli.query:query", "Run a query and print its rows.", calls_server=True
        ),
        "status": CommandEntry(
            "hoglet.cli.status:status",
            "Show the health checks and queues of a server; exits with 1 if a check fails.",
            calls_server=True,
        ),
        "mcp": CommandEntry(
            "hoglet.cli.mcp:mcp",
            "Serve the project's tools to a local agent: MCP over standard input and output.",
            calls_server=True,
        ),
        "backup": CommandEntry(
            "hoglet.cli.backup:backup",
            "Copy all data of a running server as of one moment, without stopping it.",
        ),
        "restore": CommandEntry(
            "hoglet.cli.backup:restore",
            "Restore a backup to a new data folder, on which a server can then be started.",
        ),
        "init": CommandEntry(
            "hoglet.cli.project.init:init",
            "Create a project folder with an example function, endpoint and tests.",
        ),
        "dev": CommandEntry(
            "hoglet.cli.project.dev:dev",
            "Serve a project from a temporary folder; push and test its files whenever they"
            " change.",
        ),
        "test": CommandEntry(
            "hoglet.cli.project.tests:run_tests",
            "Run the tests of a project; exits with 0 if all pass, 1 if some fail, 2 for invalid"
            " files.",
        ),
        "pull": CommandEntry(
            "hoglet.cli.project.pull:pull",
            "Write the server's functions, endpoints, actions, variables and cohorts to files.",
            calls_server=True,
        ),
        "diff": CommandEntry(
            f"{_SYNC}:diff",
            "Show what push would change; exits with 1 if anything differs, 2 for errors.",
            calls_server=True,
        ),
        "push": CommandEntry(
            f"{_SYNC}:push",
            "Apply the files to the server: first a plan, then all changes or none.",
            calls_server=True,
        ),
        "profiles": CommandEntry(
            "hoglet.cli.server.login:profiles_app", "Servers and keys saved by hoglet login."
        ),
        "functions": CommandEntry(
            "hoglet.cli.functions.commands:functions_app", "Functions of a project."
        ),
        "endpoints": CommandEntry(
            "hoglet.cli.endpoints.commands:endpoints_app", "Endpoints as files, and their runs."
        ),
        "tokens": CommandEntry(
            "hoglet.cli.tokens:tokens_app", "Tenant tokens and their signing keys."
        ),
        "events": CommandEntry("hoglet.cli.events:events_app", "Events."),
        "cohorts": CommandEntry("hoglet.cli.cohorts:cohorts_app", "Cohorts of a project."),
        "integrations": CommandEntry(
            "hoglet.cli.integrations:integrations_app", "Stored credentials of functions."
        ),
        "hog": CommandEntry(
            "hoglet.cli.hog.commands:hog_app", "Run, compile and check Hog programs."
        ),
        # as hoglet admin keys and hoglet admin projects
        "keys": CommandEntry(
            f"{_KEYS}:keys_app", "API keys of users and programs.", is_hidden=True
        ),
        "projects": CommandEntry(f"{_KEYS}:projects_app", "Projects.", is_hidden=True),
        "admin": CommandEntry(
            "hoglet.cli.admin.commands:admin_app",
            "Manage a data folder without a server: keys, projects, queues, secrets, databases.",
        ),
    }
)

app = command_line(COMMANDS)
