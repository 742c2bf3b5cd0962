"""Renders user text literally.

``ui.code`` uses Markdown, where text can close its fence and inject links and images. Here, text is
never parsed as HTML or Markdown.
"""

from nicegui import ui

_LINES = {"+": "diff-added", "-": "diff-removed", "@": "diff-place"}
# `navigator.clipboard` needs HTTPS or localhost; copying a selection works everywhere.
_COPY = """() => {
    const shown = getHtmlElement(%d);
    if (navigator.clipboard) navigator.clipboard.writeText(shown.textContent);
    else {
        getSelection().selectAllChildren(shown);
        document.execCommand('copy');
    }
    hogletSay('Copied.');
}"""


def code_block(text: str, *, wraps: bool = False) -> ui.label:
    """A block of text with a copy button; ``set_text`` changes it."""
    with _frame():
        label = ui.label(text).classes("lines").props('tabindex="0" role="group"')
        label.props["aria-label"] = "Text"
        if wraps:
            label.classes("wraps")
        button = ui.button(icon="content_copy", color=None)
        button.props('flat dense size=sm aria-label="Copy"')
        button.on("click", js_handler=_COPY % label.id)
    return label


def diff_block(text: str) -> None:
    """A unified diff with colored lines."""
    with _frame(), ui.element("div").classes("lines wraps"):
        for line in text.splitlines():
            color = "" if line.startswith(("+++", "---")) else _LINES.get(line[:1], "")
            ui.label(line or " ").classes(color)


def _frame() -> ui.element:
    return ui.element("div").classes("excerpt")


def pointed(source: str, position: tuple[int, int]) -> str:
    """The line of ``source`` at a position (from 1), with a caret below it; empty without one.

    Example:
        >>> print(pointed("select a", (1, 8)))
        1 | select a
                   ^
    """
    number, column = position
    lines = source.splitlines()
    if not 1 <= number <= len(lines):
        return ""
    start = f"{number} | "
    return f"{start}{lines[number - 1]}\n{' ' * (len(start) + column - 1)}^"
