"""What `fairq lab` says of itself."""

from __future__ import annotations

from typing import Annotated

from fairq.core.records import Document


class Lab(Document):
    """A lab that is being served."""

    address: Annotated[str, "What a browser opens; it is there until the command ends."]
    scenario: Annotated[str | None, "The scenario that it opens on; null: none was given."]
