"""Parts of an insert are known by their block numbers."""

from pathlib import Path

from hoglet.warehouse.disk_space import InsertedParts


def add(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).mkdir()


def test_only_parts_as_inserted_count(tmp_path: Path):
    add(tmp_path, "202611_3_3_0", "202612_7_7_0", "202611_1_9_1", "202611_3_3_0_12", "detached")
    add(tmp_path, "tmp_insert_202611_11_11_0", "all_2_2_0")

    parts = InsertedParts(tmp_path)

    assert parts.highest_block() == 7
    assert parts.after(2) == {"202611_3_3_0", "202612_7_7_0"}
    assert parts.after(7) == set()


def test_the_highest_block_number_stays_when_its_part_is_merged(tmp_path: Path):
    add(tmp_path, "202611_4_4_0")
    parts = InsertedParts(tmp_path)
    assert parts.highest_block() == 4

    (tmp_path / "202611_4_4_0").rmdir()
    assert parts.highest_block() == 4
    add(tmp_path, "202611_5_5_0", "202501_6_6_0")
    assert parts.highest_block() == 6
