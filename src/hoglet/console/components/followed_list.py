"""A list that grows at its newest end while a page shows it. Pure."""

from collections.abc import Callable, Hashable

type Query = dict[str, str]

_MOST = 10_000  # items in a browser


class FollowedList[T]:
    """The newest items, and older pages that were loaded.

    Args:
        key: identifies an item.
    """

    def __init__(self, key: Callable[[T], Hashable]) -> None:
        self._key = key
        self._has_paged = False
        self.items: list[T] = []
        """Newest first."""
        self.older: Query | None = None
        """The query parameters of the page after the last item; None if there is none."""

    def clear(self) -> None:
        """Forget every item, as the filters have changed."""
        self.items, self.older, self._has_paged = [], None, False

    def page(self) -> Query | None:
        """The query of the next older page; from now on, new items leave the older ones."""
        self._has_paged = True
        return self.older

    def take_newest(self, newest: list[T], older: Query | None) -> bool:
        """Take the first page of the list; returns whether anything changed.

        Older items are dropped if there may be unknown ones between them and the new ones.
        """
        known = set(map(self._key, self.items))
        new = [item for item in newest if self._key(item) not in known]
        if self._has_paged and len(new) < len(newest) and len(known) < _MOST:
            self.items = [*new, *self.items]
            return bool(new)
        is_same = list(map(self._key, self.items)) == list(map(self._key, newest))
        self.items, self.older, self._has_paged = newest, older, False
        return not is_same

    def add_older(self, requested: Query | None, items: list[T], older: Query | None) -> bool:
        """Add the page that ``requested`` requested; False if the list was replaced meanwhile."""
        if requested is not self.older:
            return False
        self.items = [*self.items, *items]
        self.older = older
        return True
