"""What `fairq docs` says of itself."""

from __future__ import annotations

from typing import Annotated

from fairq.core.records import Document


class Manual(Document):
    """A page of the documentation."""

    address: Annotated[str | None, "What a browser opens, until the command ends; null: nothing is served."]
    path: Annotated[str, "The file of the page."]
    page: Annotated[str, "Its name in the site, with the anchor of the heading that was found."]
    title: Annotated[str, "Its title."]
