"""Every module can be imported, so that none needs a package that is not declared."""

import importlib
import pkgutil

import hoglet

RUN_BY_ALEMBIC = "hoglet.migrations.env"


def test_every_module_can_be_imported() -> None:
    names = [module.name for module in pkgutil.walk_packages(hoglet.__path__, "hoglet.")]
    failures: dict[str, str] = {}
    for name in names:
        if name == RUN_BY_ALEMBIC or name.endswith("__main__"):
            continue
        try:
            importlib.import_module(name)
        except Exception as error:  # noqa: BLE001 (all of them are listed)
            failures[name] = repr(error)

    assert len(names) > 500
    assert failures == {}
