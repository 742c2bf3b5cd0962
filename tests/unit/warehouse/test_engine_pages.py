"""After the engine is loaded, only the pages of its library that it uses are mapped."""

import re
import subprocess
import sys

RELEASED = """
import re
from pathlib import Path
from hoglet.warehouse import engine_pages

def resident():
    smaps = Path("/proc/self/smaps_rollup").read_text()
    return int(re.search(r"^Rss: +([0-9]+)", smaps, re.MULTILINE)[1])

import chdb.state
before = resident()
engine_pages.unmap_loaded_pages("_chdb.abi3.so")
print("released", before - resident())
mappings = list(engine_pages.file_mappings("_chdb.abi3.so"))
print("changed", sum(mapping.is_changed for mapping in mappings), "of", len(mappings))
answer = chdb.state.connect(":memory:").query("SELECT sum(number) FROM numbers(1000)", "TSV")
print("sum", str(answer).strip())
try:
    chdb.state.connect(":memory:").query("SELECT nothing")
except Exception as error:
    print("error", "UNKNOWN_IDENTIFIER" in str(error))
"""


def test_the_engine_works_after_its_pages_were_unmapped() -> None:
    done = subprocess.run(
        [sys.executable, "-c", RELEASED], check=True, capture_output=True, text=True
    )

    released = re.search("released ([0-9]+)", done.stdout)
    assert released is not None
    assert int(released[1]) > 64 * 1024  # KiB; 160 MiB of chDB 4
    changed = re.search("changed ([0-9]+) of ([0-9]+)", done.stdout)
    assert changed is not None
    assert 0 < int(changed[1]) < int(changed[2])
    assert "sum 499500" in done.stdout
    assert "error True" in done.stdout


def test_a_library_that_is_not_loaded_has_no_mappings() -> None:
    program = (
        "from hoglet.warehouse.engine_pages import file_mappings, unmap_loaded_pages\n"
        "unmap_loaded_pages('_chdb.abi3.so')\n"
        "print(list(file_mappings('_chdb.abi3.so')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )

    assert done.stdout.strip() == "[]"
