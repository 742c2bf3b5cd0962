"""Actions that run once however often their button is pressed."""

import asyncio

import pytest

from hoglet.console.widgets import one_at_a_time


@pytest.mark.parametrize("leaves_the_page", [None, False, True])
async def test_a_double_click_acts_once(leaves_the_page: bool | None) -> None:
    answered = asyncio.Event()
    acted = 0

    async def act() -> bool | None:
        nonlocal acted
        acted += 1
        await answered.wait()
        return leaves_the_page

    press = one_at_a_time(act)
    first = asyncio.create_task(press())
    await asyncio.sleep(0)
    await press()
    assert acted == 1

    answered.set()
    await first
    await press()
    assert acted == (1 if leaves_the_page else 2)


async def test_an_action_that_failed_can_be_repeated() -> None:
    acted = 0

    async def act() -> None:
        nonlocal acted
        acted += 1
        raise OSError("no answer")

    press = one_at_a_time(act)
    for _ in range(2):
        with pytest.raises(OSError, match="no answer"):
            await press()
    assert acted == 2
