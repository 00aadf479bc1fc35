"""Linux as a plain process (user mode Linux) in virtual time: built from source, booted to do jobs.

Virtual time (`time-travel=inf-cpu`) stands still while the kernel computes and skips idle time, so
that the load of the machine does not enter and a discipline that draws nothing does the same in
every boot. The tick is 1 ms: with Debian's 10 ms PIE's period of 15 ms would be 20.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from programs import Fault

HERE = Path(__file__).resolve().parent
VERSION = "6.1.176-1"
SERIES = VERSION.rsplit(".", 1)[0]
PACKAGES = {f"linux-source-{SERIES}": VERSION, "flex": None, "bison": None, "m4": None}
TOOLS = ["apt-get", "dpkg-deb", "gcc", "make", "bc", "perl", "xz", "tar", "ip", "tc"]
EPOCH_NS = 1_700_000_000 * 10**9
BOOT_S = 1800
"""A boot with all its jobs takes at most so long."""

CHANGES: Mapping[str, Sequence[tuple[str, str]]] = {
    "arch/um/Kconfig": [("default 100\n", "default 1000\n")],
    "arch/x86/um/os-Linux/registers.c": [
        ("#include <stdlib.h>\n", "#include <stdlib.h>\n#include <string.h>\n"),
        (
            "int have_xstate_support;\n",
            "int have_xstate_support;\n\n"
            "/* The host's extended state may be longer than FP_SIZE, and is set whole or not at all. */\n"
            "static char host_state[65536];\n"
            "static size_t host_length;\n",
        ),
        (
            "\t\tiov.iov_base = fp_regs;\n"
            "\t\tiov.iov_len = FP_SIZE * sizeof(unsigned long);\n"
            "\t\tif (ptrace(PTRACE_SETREGSET,",
            "\t\tsize_t known = FP_SIZE * sizeof(unsigned long);\n\n"
            "\t\tmemcpy(host_state, fp_regs, known < host_length ? known : host_length);\n"
            "\t\tiov.iov_base = host_state;\n"
            "\t\tiov.iov_len = host_length;\n"
            "\t\tif (ptrace(PTRACE_SETREGSET,",
        ),
        ("\tvoid * fp_regs;\n\tstruct iovec iov;\n", "\tstruct iovec iov;\n"),
        (
            "\tfp_regs = malloc(FP_SIZE * sizeof(unsigned long));\n"
            "\tif(fp_regs == NULL)\n"
            "\t\treturn;\n\n"
            "\tiov.iov_base = fp_regs;\n"
            "\tiov.iov_len = FP_SIZE * sizeof(unsigned long);\n",
            "\tiov.iov_base = host_state;\n\tiov.iov_len = sizeof(host_state);\n",
        ),
        (
            "\t\thave_xstate_support = 1;\n\n\tfree(fp_regs);\n",
            "\t{\n"
            "\t\thave_xstate_support = 1;\n"
            "\t\thost_length = iov.iov_len;\n"
            "\t\tmemset(host_state, 0, sizeof(host_state));\n"
            "\t}\n",
        ),
    ],
}
"""What is changed in the source: a tick of 1 ms; the kernel boots where the host's CPU has AMX.

With AMX the host keeps 11 kB of extended state for a process, 6.1 keeps 2696 B, and
PTRACE_SETREGSET refuses a part. So a process's state is set within a buffer of the host's length;
what lies beyond is zero.
"""


def built(folder: Path) -> Path:
    """The kernel in `folder`, built there if it is not: 5 minutes of one CPU, 2 GB of disk, nothing installed."""
    kernel = folder / "linux"
    if kernel.exists():
        return kernel
    for tool in TOOLS:
        if shutil.which(tool) is None:
            raise Fault(f"there is no {tool}: apt-get install build-essential bc perl xz-utils iproute2")
    packages, tools = folder / "packages", folder / "tools"
    packages.mkdir(parents=True, exist_ok=True)
    wanted = [f"{name}={version}" if version else name for name, version in PACKAGES.items()]
    _run(["apt-get", "download", *wanted], packages)
    for name in PACKAGES:
        (package,) = packages.glob(f"{name}_*.deb")
        _run(["dpkg-deb", "-x", str(package), str(tools)], packages)
    source = folder / f"linux-source-{SERIES}"
    shutil.rmtree(source, ignore_errors=True)
    _run(["tar", "-xJf", str(tools / "usr" / "src" / f"{source.name}.tar.xz")], folder)
    for path, edits in CHANGES.items():
        _change(source / path, edits)
    environment = {
        "PATH": f"{tools}/usr/bin:{os.environ['PATH']}", "M4": f"{tools}/usr/bin/m4",
        "BISON_PKGDATADIR": f"{tools}/usr/share/bison",
    }  # fmt: skip
    make = ["make", "ARCH=um"]
    _run([*make, "allnoconfig"], source, environment)
    _run(["scripts/kconfig/merge_config.sh", "-m", ".config", str(HERE / "kernel.config")], source, environment)
    _run([*make, "olddefconfig"], source, environment)
    print(f"building Linux {VERSION} in {source}", file=sys.stderr)
    _run([*make, f"-j{os.cpu_count()}", "linux"], source, environment)
    _run(["strip", "-o", str(kernel), "linux"], source)
    return kernel


def _change(path: Path, edits: Sequence[tuple[str, str]]) -> None:
    """Edit a file of the source; an edit whose place is not found is a fault."""
    text = path.read_text()
    for old, new in edits:
        if old not in text:
            raise Fault(f"{path}: {old.strip().splitlines()[0]!r} is not where it was in Linux {VERSION}")
        text = text.replace(old, new, 1)
    path.write_text(text)


def _run(command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> None:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        said = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        raise Fault(f"{' '.join(command[:3])}: {said[-1] if said else 'failed'}")


def jobs(kernel: Path, folder: Path, given: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Boots the kernel, has guest.py do the jobs in `folder`, and gives what it left for each by name."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "jobs.json").write_text(json.dumps(list(given)))
    command = [
        str(kernel), "time-travel=inf-cpu", f"time-travel-start={EPOCH_NS}", "mem=768M", "root=/dev/root",
        "rootfstype=hostfs", "rootflags=/", "rw", f"init={HERE / 'guest.sh'}", f"job={folder.resolve()}",
        f"python={Path(sys.executable).resolve()}", "con=null", "con0=null,fd:1", "ssl=null", "quiet",
        f"uml_dir={folder.resolve()}/uml",
    ]  # fmt: skip
    # On one CPU: kernel and programs take turns, and waking another CPU costs more than the work.
    one = {min(os.sched_getaffinity(0))}
    with (folder / "console").open("wb") as console:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=console, stderr=subprocess.STDOUT, start_new_session=True,
            preexec_fn=lambda: os.sched_setaffinity(0, one),
        )  # fmt: skip
        try:
            process.wait(BOOT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            raise Fault(f"the kernel was not done after {BOOT_S} s; its console is {console.name}") from None
        finally:
            shutil.rmtree(folder / "uml", ignore_errors=True)
    found = {}
    for job in given:
        path = folder / f"{job['name']}.json"
        if not path.exists():
            raise Fault(f"{job['name']}: the kernel left nothing; its log is {folder / 'log'}")
        found[job["name"]] = json.loads(path.read_text())
        if "error" in found[job["name"]]:
            raise Fault(f"{job['name']}: {found[job['name']]['error']}")
    return found
