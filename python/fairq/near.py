"""The near miss of a misspelt name."""

from __future__ import annotations

from collections.abc import Iterable

_CALL, _FLOOD, _SHORT = "call(rate=100kbit/s)", "flood(rate=20Mbit/s)", "cubic(size=100kB)"

MEANT = {
    # lists
    "queues": "disciplines", "queue": "disciplines", "qdiscs": "disciplines", "schedulers": "disciplines",
    "controls": "transports", "sources": "traffic", "maps": "topologies",
    # flows
    "tcp": "cubic", "bulk": "cubic", "elephant": "cubic", "iperf": "cubic", "iperf3": "cubic", "netperf": "cubic",
    "ftp": "cubic", "download": "cubic", "linux": "cubic", "bic": "cubic", "quic": "cubic",
    "upload": "cubic(direction=up)", "mouse": _SHORT, "mice": _SHORT, "short": _SHORT,
    "new_reno": "newreno", "sack": "reno", "aimd": "generic", "ctcp": "cubic", "westwood": "westwood_plus",
    "bbr1": "bbr", "bbrv1": "bbr", "bbr2": "bbr3", "bbrv2": "bbr3", "bbrv3": "bbr3", "l4s": "prague",
    "udp": _FLOOD, "cbr": _FLOOD, "constant_rate": _FLOOD, "attack": _FLOOD,
    "voip": _CALL, "voice": _CALL, "video": _CALL, "speech": _CALL, "phone": _CALL, "rtp": _CALL, "webrtc": _CALL,
    "zoom": _CALL, "skype": _CALL, "game": _CALL, "gaming": _CALL, "ping": _CALL,
    "http": "web", "https": "web", "www": "web", "browser": "web", "browsing": "web", "page": "web",
}  # fmt: skip
"""Words that others have for a name of ours, and what to write: the name, with the settings that it
needs."""


def meant(word: str, known: Iterable[str]) -> str | None:
    """What to write for a word of others, if its name is one of `known`.

    >>> meant("VoIP", ["call", "web"]), meant("udp", ["web"])
    ('call(rate=100kbit/s)', None)
    """
    ours = MEANT.get(word.lower().replace("-", "_"))
    return ours if ours is not None and ours.partition("(")[0] in known else None


SETTINGS_OF_TC = {
    "bandwidth": "rate", "memlimit": "memory", "memory_limit": "memory", "tupdate": "update", "flows": "queues",
    "avpkt": "mean_packet", "peakrate": "peak_rate",
}  # fmt: skip
"""Words of Linux's tc for settings of ours."""


def setting_meant(message: str) -> str:
    """A message on a setting that a queue does not have, with our name if it is one of tc's words.

    >>> setting_meant("design.bandwidth: no such field of cake; there are rate, preset")
    'design.bandwidth: no such field of cake; the setting is called rate here'
    """
    start, there_are, names = message.partition("; there are ")
    word = start.partition(": no such field")[0].rpartition(".")[2]
    ours = SETTINGS_OF_TC.get(word)
    if not there_are or ours not in names.split(", "):
        return message
    return f"{start}; the setting is called {ours} here"


def near_miss(word: str, known: Iterable[str]) -> str:
    """The end of a message: did you mean the nearest of `known`, or what there is."""
    import difflib

    names = list(known)
    if (ours := meant(word, names)) is not None:
        return f"; did you mean {ours}?"
    # a hyphen and an underscore are the same slip everywhere
    plain = {name.lower().replace("-", "_"): name for name in reversed(names)}
    found = difflib.get_close_matches(word.lower().replace("-", "_"), plain, 1, 0.7)
    if found:
        return f"; did you mean {plain.get(found[0], found[0])}?"
    return f"; there are {', '.join(names)}" if names else ""
