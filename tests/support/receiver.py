"""A delivery target that records what arrives."""

import collections

from support.local_http import Handler, LocalHttp


class Receiver(LocalHttp):
    """Records deliveries: event uuid → delivery ids, one for each arrival."""

    def __init__(self) -> None:
        self.arrivals: dict[str, list[str]] = collections.defaultdict(list)
        arrivals = self.arrivals

        class Delivered(Handler):
            def handle_any(self) -> None:
                self.body()
                arrivals[self.path.removeprefix("/")].append(self.headers["X-Hoglet-Delivery"])
                self.answer(200)

        super().__init__(Delivered)
