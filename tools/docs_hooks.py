"""mkdocs hook: links to files outside docs/, which are not in the site, become text.

A link to a file that does not exist fails the build, as links between pages do.
"""

import re
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parent.parent
_LINK = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+[^)#\s]+)[^)\s]*\)")


def on_page_markdown(markdown: str, *, page: Any, **_context: Any) -> str:
    """The text of a page, with such links replaced by the path from the repository root.

    Raises:
        FileNotFoundError: the file does not exist.
    """
    folder = (_ROOT / "docs" / page.file.src_uri).parent

    def plain(match: re.Match[str]) -> str:
        target = (folder / match[2]).resolve()
        if target.is_relative_to(_ROOT / "docs"):
            return match[0]
        if not target.exists():
            raise FileNotFoundError(f"{page.file.src_uri}: {match[2]} does not exist")
        return f"{match[1]} (`{target.relative_to(_ROOT)}`)"

    return _LINK.sub(plain, markdown)
