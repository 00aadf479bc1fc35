"""Runs inside the guest: does the jobs of jobs.json one after another, each in network namespaces of its own.

    sender --s0/r0-- router (the discipline under test sends on r1) --r1/d0-- receiver (netem delays what goes back)

A job names its `tc` commands for r1 and has either `packets` (UDP frames at given times) or `flows` (TCP). What both
ends of the router saw is left in NAME.json: lists of [time in ns, number, bytes, source port, TOS].
"""

import ctypes
import fcntl
import json
import select
import socket
import struct
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Job = Mapping[str, Any]
LIBC = ctypes.CDLL(None, use_errno=True)
ADDRESSES = {"s0": "02:00:00:00:00:01", "r0": "02:00:00:00:00:02", "r1": "02:00:00:00:00:03", "d0": "02:00:00:00:00:04"}
NAMESPACES = {"s0": "sender", "r0": "router", "r1": "router", "d0": "receiver"}
PAIRS = [("s0", "r0"), ("r1", "d0")]
OFFLOADS = [0x1F, 0x24, 0x2C]  # TSO, GSO, GRO (ethtool)
SO_TIMESTAMPNS, SO_RCVBUFFORCE, SO_PRIORITY, TCP_CONGESTION = 35, 33, 12, 13
ROOM = 1 << 28  # of a tap: more than any job's frames


def sh(command: str, check: bool = True) -> str:
    """Run a command."""
    done = subprocess.run(command.split(), capture_output=True, text=True)
    if check and done.returncode:
        raise RuntimeError(f"{command}: {done.stderr.strip()}")
    return done.stdout


def enter(namespace: str | None) -> None:
    """Go into a network namespace; `None`: into the first."""
    path = Path(f"/run/netns/{namespace}" if namespace else "/proc/1/ns/net")
    with path.open() as file:
        if LIBC.setns(file.fileno(), 0x40000000):
            raise OSError(ctypes.get_errno(), "setns")


def build(job: Job) -> None:
    """The three hosts, their links and the job's disciplines."""
    hosts, sinks = job.get("hosts", 1), job.get("sinks", 1)
    for name in ("sender", "router", "receiver"):
        sh(f"ip netns add {name}")
        sh(f"ip -n {name} link set lo up")
    for one, other in PAIRS:
        sh(
            f"ip link add {one} netns {NAMESPACES[one]} address {ADDRESSES[one]} type veth"
            f" peer name {other} netns {NAMESPACES[other]} address {ADDRESSES[other]}"
        )
    own = {
        "s0": [f"10.0.0.{at}" for at in range(1, hosts + 1)],
        "r0": ["10.0.255.254"],
        "r1": ["10.1.255.254"],
        "d0": [f"10.1.0.{at}" for at in range(1, sinks + 1)],
    }
    for device, addresses in own.items():
        for address in addresses:
            sh(f"ip -n {NAMESPACES[device]} addr add {address}/16 dev {device}")
        sh(f"ip -n {NAMESPACES[device]} link set {device} up txqueuelen 1000")
        enter(NAMESPACES[device])
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
            for offload in OFFLOADS:
                value = ctypes.create_string_buffer(struct.pack("II", offload, 0))
                fcntl.ioctl(control, 0x8946, struct.pack("16sP", device.encode(), ctypes.addressof(value)))
    sh("ip -n sender route add default via 10.0.255.254")
    sh("ip -n receiver route add default via 10.1.255.254")
    # No ARP: neighbours are known for good.
    for one, other in PAIRS:
        for device, peer in ((one, other), (other, one)):
            for address in own[peer]:
                known = f"{address} lladdr {ADDRESSES[peer]} dev {device} nud permanent"
                sh(f"ip -n {NAMESPACES[device]} neigh replace {known}")
    settings = {"net.ipv4.ip_forward": 1, "net.ipv4.tcp_no_metrics_save": 1, **job.get("sysctl", {})}
    for name in ("sender", "router", "receiver"):
        enter(name)
        for key, value in settings.items():
            path = Path("/proc/sys") / key.replace(".", "/")
            if path.exists():
                path.write_text(str(value))
    for key, value in {"hystart": 1, "tcp_friendliness": 1, **job.get("cubic", {})}.items():
        Path(f"/sys/module/tcp_cubic/parameters/{key}").write_text(str(value))
    if job.get("rtt_ms"):
        sh(f"tc -n receiver qdisc add dev d0 root netem delay {job['rtt_ms']}ms limit 100000")
    for command in job["tc"]:
        sh(f"tc -n router {command}")
    if job.get("exact"):
        exact_line(job["exact"])
    time.sleep(0.2)


def exact_line(rate: int) -> None:
    """Make htb's class 1:1 a line: it saves 1024 ns of its rate, which is less than tc can ask for.

    What comes late by the clock's step of 256 ns is made up, nothing more.
    """
    ratespec = struct.pack("=BBHhHI", 0, 1, 0, -1, 0, rate // 8)
    parameters = ratespec + ratespec + struct.pack("=IIIII", 16, 16, 65535, 0, 0)  # bursts in ticks of 64 ns
    nested = struct.pack("=HH", 4 + len(parameters), 1) + parameters
    enter("router")
    body = struct.pack("=BxxxiIII", 0, socket.if_nametoindex("r1"), 0x10001, 0x10000, 0)
    body += struct.pack("=HH4s", 8, 1, b"htb\0") + struct.pack("=HH", 4 + len(nested), 0x8002) + nested
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as netlink:
        netlink.send(struct.pack("=IHHII", 16 + len(body), 40, 5, 1, 0) + body)
        (error,) = struct.unpack_from("=i", netlink.recv(4096), 16)
        if error:
            raise OSError(-error, "htb class")


class Tap:
    """What comes in at a device, each frame's time and first bytes."""

    def __init__(self, device: str) -> None:
        enter(NAMESPACES[device])
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_NONBLOCK, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.socket.bind((device, 0x0800))
        self.frames: list[list[int]] = []

    def drain(self) -> bool:
        """Take what has come; whether anything had."""
        before = len(self.frames)
        while True:
            try:
                frame, control, _, _ = self.socket.recvmsg(96, 64, socket.MSG_TRUNC)
            except BlockingIOError:
                return len(self.frames) > before
            seconds, ns = struct.unpack("ll", control[0][2])
            (length,) = struct.unpack_from("!H", frame, 16)
            (port,) = struct.unpack_from("!H", frame, 34)
            is_tcp = frame[23] == 6
            (number,) = struct.unpack_from("!I" if is_tcp else "<I", frame, 38 if is_tcp else 42)
            self.frames.append([seconds * 10**9 + ns, number, 14 + length, port, frame[15]])

    def close(self) -> list[list[int]]:
        """All frames; fails if one found no room."""
        self.drain()
        _, lost = struct.unpack("II", self.socket.getsockopt(263, 6, 8))
        self.socket.close()
        if lost:
            raise RuntimeError(f"a tap lost {lost} frames")
        return self.frames


def counters() -> dict[str, Any]:
    """What tc says of the router's disciplines."""
    return {
        "qdisc": sh("tc -n router -s -d qdisc show dev r1", False),
        "class": sh("tc -n router -s -d class show dev r1", False),
    }


def checksum(header: bytes) -> int:
    """Of an IPv4 header."""
    total: int = sum(struct.unpack("!10H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def frame(number: int, length: int, port: int, tos: int, host: int, sink: int) -> bytes:
    """A UDP packet of `length` bytes with its Ethernet header; the payload begins with its number."""
    plain = struct.pack(
        "!BBHHHBBH4s4s",
        0x45,
        tos,
        length - 14,
        number & 0xFFFF,
        0x4000,
        64,
        17,
        0,
        bytes([10, 0, 0, host]),
        bytes([10, 1, 0, sink]),
    )
    header = plain[:10] + struct.pack("!H", checksum(plain)) + plain[12:]
    ethernet = bytes.fromhex((ADDRESSES["r0"] + ADDRESSES["s0"]).replace(":", "")) + b"\x08\x00"
    udp_header = struct.pack("!HHHH", port, 9, length - 34, 0)
    return ethernet + header + udp_header + struct.pack("<I", number) + bytes(length - 46)


def udp(job: Job) -> dict[str, Any]:
    """`packets`: lists of time in ns, bytes of the frame, source port, TOS, host, sink, in order of time."""
    frames = [frame(number, *packet[1:]) for number, packet in enumerate(job["packets"])]
    build(job)
    taps = [Tap("r0"), Tap("d0")]
    enter("sender")
    out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    out.bind(("s0", 0))
    zero = time.monotonic_ns() + 10_000_000
    for packet, data in zip(job["packets"], frames, strict=True):
        while (wait := zero + packet[0] - time.monotonic_ns()) > 300:
            time.sleep(wait / 1e9)
        out.send(data)
    time.sleep(job.get("quiet", 1.0))
    while taps[1].drain():
        time.sleep(job.get("quiet", 1.0))
    out.close()
    return {**counters(), "in": taps[0].close(), "out": taps[1].close()}


def tcp(job: Job) -> dict[str, Any]:
    """`flows`: dicts of cc and start in seconds, and tos, host, sink where they differ; `duration` in seconds.

    With `sample`, seconds, the senders' windows are noted so often: [time in ns, flow, window, threshold, flight, lost,
    smoothed round trip in us, CA state].
    """
    build(job)
    taps = [Tap("r0"), Tap("d0")]
    flows, poll = job["flows"], select.epoll()
    sockets: dict[int, tuple[str, socket.socket]] = {}

    def watch(kind: str, one: socket.socket, event: int) -> None:
        one.setblocking(False)
        sockets[one.fileno()] = (kind, one)
        poll.register(one, event)

    enter("receiver")
    for at, flow in enumerate(flows):
        listener = socket.create_server((f"10.1.0.{flow.get('sink', 1)}", 20000 + at))
        if flow["cc"] == "dctcp":
            listener.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, b"dctcp")
        watch("listener", listener, select.EPOLLIN)
    enter("sender")
    pending = sorted(range(len(flows)), key=lambda at: flows[at]["start"])
    wall, zero = time.time_ns(), time.monotonic()
    chunk, space = bytes(1 << 17), bytearray(1 << 20)
    samples, following = [], job.get("sample", job["duration"])
    while (now := time.monotonic() - zero) < job["duration"]:
        if now >= following:
            following += job["sample"]
            samples += [[time.time_ns(), *sampled(one)] for kind, one in sockets.values() if kind == "sender"]
        while pending and flows[pending[0]]["start"] <= now:
            at = pending.pop(0)
            flow, sender = flows[at], socket.socket()
            sender.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, flow["cc"].encode())
            if flow.get("tos"):
                sender.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, flow["tos"])
            sender.bind((f"10.0.0.{flow.get('host', 1)}", 10000 + at))
            sender.setblocking(False)
            sender.connect_ex((f"10.1.0.{flow.get('sink', 1)}", 20000 + at))
            watch("sender", sender, select.EPOLLOUT)
        wake = min([job["duration"], following] + [flows[at]["start"] for at in pending[:1]])
        for number, _ in poll.poll(min(0.1, max(0.0, wake - now))):
            kind, one = sockets[number]
            try:
                if kind == "listener":
                    watch("reader", one.accept()[0], select.EPOLLIN)
                elif kind == "reader":
                    one.recv_into(space, 1 << 20, socket.MSG_TRUNC)
                else:
                    one.send(chunk)
            except BlockingIOError:
                pass
        for tap in taps:
            tap.drain()
    result = {**counters(), "zero_ns": wall, "samples": samples, "in": taps[0].close(), "out": taps[1].close()}
    for _, one in sockets.values():
        one.close()
    return result


def sampled(one: socket.socket) -> list[int]:
    """What the kernel says of a connection (struct tcp_info)."""
    info = one.getsockopt(socket.IPPROTO_TCP, 11, 104)
    words = struct.unpack_from("=24I", info, 8)
    port = one.getsockname()[1]
    return [port - 10000, words[18], words[17], words[4], words[6], words[15], info[1]]


def main() -> None:
    """Do all jobs."""
    LIBC.prctl(29, 1, 0, 0, 0)  # no slack of timers
    for job in json.loads(Path("jobs.json").read_text()):
        try:
            result = tcp(job) if "flows" in job else udp(job)
        except Exception as error:  # the host says it
            result = {"error": f"{type(error).__name__}: {error}"}
        part = Path(f"{job['name']}.part")
        part.write_text(json.dumps(result))
        part.rename(f"{job['name']}.json")
        enter(None)
        for name in ("sender", "router", "receiver"):
            sh(f"ip netns del {name}", False)
        time.sleep(0.5)


main()
