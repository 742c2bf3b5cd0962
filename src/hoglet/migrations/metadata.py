"""The tables of all packages, for Alembic's autogeneration and the migration tests."""

import importlib
import pkgutil

from sqlalchemy import MetaData

import hoglet
from hoglet.store.database import Base


def load_all_tables() -> MetaData:
    """Import every ``tables`` module of the package and return the metadata they declare."""
    for module in pkgutil.walk_packages(hoglet.__path__, "hoglet."):
        if module.name.rpartition(".")[2] == "tables":
            importlib.import_module(module.name)
    return Base.metadata
