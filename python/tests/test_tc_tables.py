"""Every row of tc's tables: what is written of a setting is read as the same, or a row says why."""

import json
import re

import pytest

import fairq
from fairq import _native
from fairq import traffic_control as tc
from fairq.traffic_control import qdisc_tables
from fairq.traffic_control.policing import LONGEST, POLICE
from fairq.traffic_control.qdisc_tables import CLASSES, FQ_PACING, LAW_OF_PIE, QDISCS, bytes_of
from fairq.traffic_control.units import MOST

SIZES = ["0B", "1B", "300B", "1514B", "2048B", "20000B", "70000B", f"{MOST}B"]
NUMBERS = ["0", "1", "2", "3", "5", "20", "64", "100", "128", "1024", "2048", "65536", f"{MOST}"]
TIMES = ["0us", "1us", "400us", "3ms", "16ms", "1s", "70s", f"{MOST}us"]
PARTS = ["0", "0.1", "0.2", "0.5", "0.99", "1"]
VALUES = {
    qdisc_tables.FLAG: ["true", "false"], qdisc_tables.ECN: ["true", "false"], qdisc_tables.NOECN: ["true", "false"],
    qdisc_tables.BY_RATE: ["timestamps", "departure_rate"], qdisc_tables.LINKLAYER: ["ethernet", "atm"],
    qdisc_tables.SFB_PART: [f"{one / 0xFFFF:.9g}" for one in (0, 1, 5, 0x1000, 0xFFFF)],
    qdisc_tables.PART: PARTS, qdisc_tables.GAIN: ["0", "0.25", "3.5", "200"],
    qdisc_tables.SIXTEENTHS: ["0", "0.0625", "0.5", "2"], qdisc_tables.PERCENT: PARTS, qdisc_tables.BELOW_100: PARTS,
    qdisc_tables.RATE: ["0bit/s", "1bit/s", "640kbit/s", "2Mbit/s", "9Gbit/s"], qdisc_tables.COUNT: NUMBERS,
    qdisc_tables.MILLISECONDS: ["0ms", "1ms", "70ms", "1s", "900s"], qdisc_tables.SECONDS: ["0s", "1s", "10s", "900s"],
    qdisc_tables.TIME: TIMES, qdisc_tables.STEP: TIMES,
    qdisc_tables.CURVE: ["(m2=1Mbit/s)", "(d=5ms, m2=1Mbit/s)", "(m1=3Mbit/s, d=5ms, m2=1Mbit/s)"],
    **dict.fromkeys([qdisc_tables.SIZE, qdisc_tables.BYTES, qdisc_tables.DECIMAL_BYTES, qdisc_tables.CELLED], SIZES),
    **dict.fromkeys([qdisc_tables.NUMBER, qdisc_tables.DECIMAL, qdisc_tables.PLAIN_SIZE], NUMBERS),
}  # fmt: skip
"""By unit: the bounds, what may be a default, and others that tc has room for."""
FORMS = {
    "token_bucket": "token_bucket(rate=1Mbit/s, peak_rate=8Gbit/s, {}) + 60000B",
    "red": "red(ecn=true, {}) + 400000B",
    "police": "police(rate=1Mbit/s, mtu=1514B, {}) + fifo + 50packets",
    "law of pie": "fq_pie(pie=({})) + 50packets",
    "class htb": "htb(classes=[(name=c1, rate=1Mbit/s, {})], default=c1)",
    "class hfsc": "hfsc(classes=[(name=c1, link_share=(m2=9Mbit/s), {})], default=c1)",
    "class drr": "drr(classes=[(name=c1, {})])",
    "class qfq": "linux_qfq(classes=[(name=c1, {})])",
    "htb": "htb(classes=[(name=c1, rate=1Mbit/s)], default=c1, {})",
}
TABLES = {
    **{table.kind: table for table in QDISCS.values()}, **{f"class {kind}": table for kind, table in CLASSES.items()},
    "law of pie": LAW_OF_PIE, "fq_pacing": FQ_PACING, "police": POLICE,
}  # fmt: skip
ROWS = [(name, setting) for name, table in TABLES.items() for setting in table.rows()]


def part(text):
    """The settings of the part that a text form is about."""
    queue = json.loads(_native.queue(text))
    found = queue.get("policer") or queue.get("design") or queue.get("buffer") or queue["scheduler"]
    return {**found, **(found.get("pie") or {}), **found.get("classes", [{}])[0]}


def form(name, setting, value):
    """A text form with one setting; what a form says already of it is replaced."""
    whole = FORMS.get(name, f"{name}({{}}) + 50packets")
    return re.sub(rf"\b{setting}=(\(.*?\)|[\w/]+), ", "", whole).format(f"{setting}={value}")


def unsaid(text, setting):
    """What a setting is where it is not said, if that may be."""
    try:
        return part(re.sub(rf"(, )?\b{setting}=here", "", text)).get(setting)
    except fairq.UsageError:
        return None


@pytest.mark.parametrize(("name", "setting"), ROWS)
def test_a_setting_that_is_written_is_read_as_the_same(name, setting):
    table = TABLES[name]
    word, row = table.rows()[setting]
    default = unsaid(form(name, setting, "here"), setting)
    values = [*VALUES[row.unit], f"{default}".replace(" ", "")]
    same = []
    for value in values:
        text = form(name, setting, value)
        try:
            here = part(text).get(setting)
            written = tc.write(text, "e")
        except fairq.UsageError:
            continue
        if any(one["setting"] == setting for one in written.differs):
            continue
        again = part(tc.read("\n".join(written.commands)).text)
        # tc sends no such zero, and the default stays; an mtu above any packet bounds nothing.
        is_kept = word in table.zero.split() and re.fullmatch("0[a-zA-Z/]*", value)
        is_kept = is_kept or ((name, setting) == ("police", "mtu") and bytes_of(value) > LONGEST)
        # fq is linux_fq when it is read.
        assert again.get(word if name == "fq_pacing" else setting) == (default if is_kept else here), value
        same.append(here)
    assert default is None or default in same
    assert any(here != default for here in same)
