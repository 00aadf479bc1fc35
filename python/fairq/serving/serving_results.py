"""What tenants get under each policy.

The compiled part makes the document; `fairq schema serve` says what the fields mean.
"""

from __future__ import annotations

from fairq.core.pictured import Pictured
from fairq.core.records import Record
from fairq.core.rows import Row, Table


class Question(Row):
    """What was asked, with what it left unsaid."""

    log: str | None
    tenants: str | None
    seats: int
    speed: float
    cost_known: str
    seeds: int | None
    duration_s: float | None
    done: str | None


class Tenant(Row, named="TenantRow"):
    """A tenant and what it asks."""

    tenant: str
    weight: float
    priority: int
    requests: int
    cost_s_mean: float
    cost_s_max: float
    load: float | None


class OfPolicy(Row, named="PolicyRow"):
    """A policy."""

    policy: str
    busy: float
    duration_s: float
    gap_s_max: float | None
    bound_reached: float | None
    note: str | None


class OfTenant(Row, named="Row"):
    """A tenant under a policy; of random requests the values are means over the seeds."""

    policy: str
    tenant: str
    requests: int
    service_s: float
    waiting_s_mean: float | None
    waiting_s_mean_low: float | None
    waiting_s_mean_high: float | None
    waiting_s_p50: float | None
    waiting_s_p95: float | None
    waiting_s_p99: float | None
    waiting_s_p99_low: float | None
    waiting_s_p99_high: float | None
    waiting_s_max: float | None
    slowdown_mean: float | None
    slowdown_mean_low: float | None
    slowdown_mean_high: float | None
    waits: float
    share: float | None
    share_low: float | None
    share_high: float | None
    max_min_share: float | None
    worst_from_s: float | None
    worst_to_s: float | None
    missing_s: float | None
    gap_s: float | None
    gap_to: str | None
    bound_s: float | None


class Likeness(Row):
    """How much a policy would have started in the order of the log."""

    policy: str
    agreement: float | None
    pairs: int


class Answer(Row):
    """The answer."""

    tenant: str
    quantity: str
    best: list[str]
    decided: bool
    looks_like: str | None
    text: str


class Serving(
    Pictured, Record, told=("rows", "policies", "tenants", "likeness"),
    places=("question", "tenants", "policies", "rows", "likeness", "answer", "document")
):  # fmt: skip
    """What tenants get under each policy.

    `rows` has each tenant under each policy: how long its requests waited, its share of the seats
    while it waited beside the max-min share of that time, and by how much it fell behind another at
    most beside the bound that is proven of the policy. `likeness` says which policy the ends of a
    log look like; it is empty without them.
    """

    question: Question
    tenants: Table[Tenant]
    policies: Table[OfPolicy]
    rows: Table[OfTenant]
    likeness: Table[Likeness]
    answer: Answer

    @property
    def text(self) -> str:
        """The answer as sentences."""
        return self.answer.text
