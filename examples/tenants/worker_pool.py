"""A pool of workers that share their time fairly among tenants."""

import threading

import fairq


class Pool:
    """Calls of tenants, run by as many threads as there are seats."""

    def __init__(self, seats, policy="sfq_d", weights=None):
        self.dispatcher = fairq.Dispatcher(seats, policy, weights=weights)
        self.workers = [threading.Thread(target=self.work) for _ in range(seats)]
        for worker in self.workers:
            worker.start()

    def submit(self, tenant, call):
        """Run `call`, which returns its cost, when it is the turn of `tenant`."""
        self.dispatcher.push(tenant, call)

    def work(self):
        for seat in self.dispatcher:
            try:
                seat.cost = seat.item()
            except Exception as error:
                # The seat is free all the same, and the time it took is charged.
                print(f"{seat.tenant}: {error!r}")

    def close(self):
        """Wait for what was submitted."""
        self.dispatcher.close()
        for worker in self.workers:
            worker.join()
