"""Renders user text literally.

``ui.code`` uses Markdown, where text can close its fence and inject links and images; nothing here
is parsed as HTML or Markdown.
"""

from nicegui import ui

_BLOCK = "p-3 pr-12 text-sm font-mono overflow-x-auto"
_LINES = {"+": "bg-green-100", "-": "bg-red-100", "@": "opacity-60"}
# Browsers offer `clipboard` to HTTPS and localhost only; the selection works everywhere.
_COPY = """() => {
    const shown = getHtmlElement(%d);
    if (navigator.clipboard) return navigator.clipboard.writeText(shown.textContent);
    getSelection().selectAllChildren(shown);
    document.execCommand('copy');
}"""


def code_block(text: str, *, wraps: bool = False) -> ui.label:
    """A block of text with a copy button; ``set_text`` changes it."""
    with _frame():
        shown = ui.label(text).classes(_BLOCK).props("tabindex=0")
        shown.classes("whitespace-pre-wrap break-words" if wraps else "whitespace-pre")
        button = ui.button(icon="content_copy").props('flat dense size=sm aria-label="Copy"')
        button.classes("absolute top-1 right-1").on("click", js_handler=_COPY % shown.id)
        button.tooltip("Copy")
    return shown


def diff_block(text: str) -> None:
    """A unified diff with colored lines."""
    with _frame(), ui.column().classes(f"{_BLOCK} gap-0"):
        for line in text.splitlines():
            color = "" if line.startswith(("+++", "---")) else _LINES.get(line[:1], "")
            ui.label(line or " ").classes(f"whitespace-pre-wrap break-words w-full {color}")


def _frame() -> ui.element:
    return ui.element("div").classes("w-full relative rounded border border-slate-200 bg-slate-50")


def pointed(source: str, place: tuple[int, int]) -> str:
    """The line of ``source`` at a position (from 1), with a caret below it; empty without one.

    Example:
        >>> print(pointed("select a", (1, 8)))
        1 | select a
                   ^
    """
    number, column = place
    lines = source.splitlines()
    if not 1 <= number <= len(lines):
        return ""
    start = f"{number} | "
    return f"{start}{lines[number - 1]}\n{' ' * (len(start) + column - 1)}^"
