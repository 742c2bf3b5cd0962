"""Lists that grow while a page shows them."""

from hoglet.console.components.followed_list import FollowedList

OLDER = {"before": "2"}


def followed(*newest: int) -> FollowedList[int]:
    items = FollowedList[int](lambda item: item)
    items.take_newest(list(newest), OLDER)
    return items


def test_the_newest_replace_each_other() -> None:
    items = followed(3, 2)

    assert not items.take_newest([3, 2], OLDER)
    assert items.take_newest([4, 3], OLDER)
    assert items.items == [4, 3]


def test_new_items_leave_the_older_ones_that_were_loaded() -> None:
    items = followed(3, 2)
    requested = items.page()
    assert items.take_newest([4, 3], {"before": "3"})  # while the page is on its way
    assert items.add_older(requested, [1], None)

    assert not items.take_newest([4, 3], {"before": "3"})
    assert items.take_newest([5, 4], {"before": "4"})
    assert items.items == [5, 4, 3, 2, 1]
    assert items.older is None


def test_a_gap_drops_the_older_ones() -> None:
    items = followed(3, 2)
    requested = items.page()

    assert items.take_newest([9, 8], {"before": "8"})
    assert items.items == [9, 8]
    assert not items.add_older(requested, [1], None)
    assert items.older == {"before": "8"}


def test_a_page_of_other_filters_is_not_added() -> None:
    items = followed(3, 2)
    requested = items.page()
    items.clear()

    assert not items.add_older(requested, [1], None)
    assert items.items == []
