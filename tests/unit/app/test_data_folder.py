"""The data folder admits one server and keeps its key private."""

import stat

import pytest

from hoglet.app.data_folder import DataFolderInUse, DataFolderLock, secret_keys


def test_a_second_server_is_refused_until_the_first_lets_go(tmp_path):
    first, second = DataFolderLock(tmp_path), DataFolderLock(tmp_path)
    first.acquire()

    with pytest.raises(DataFolderInUse, match="in use"):
        second.acquire()
    first.release()
    second.acquire()


def test_the_key_is_made_once_and_readable_by_its_owner_only(tmp_path):
    keys = secret_keys(tmp_path, [])

    assert secret_keys(tmp_path, []) == keys
    assert stat.S_IMODE((tmp_path / "secret.key").stat().st_mode) == 0o600


def test_configured_keys_win(tmp_path):
    assert secret_keys(tmp_path, ["a", "b"]) == ["a", "b"]
    assert not (tmp_path / "secret.key").exists()
