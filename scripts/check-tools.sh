#!/bin/sh
# Names each tool that is missing, with the line that installs it; exit status 2 if any is.
set -u
python=${PYTHON:-python3}
missing=0

lacks() {
    echo "fairq: $1 is missing. Install it with: $2" >&2
    missing=1
}

# at_least HAVE MAJOR MINOR: whether the version HAVE (as 1.88.0) is at least MAJOR.MINOR
at_least() {
    major=${1%%.*}
    rest=${1#*.}
    minor=${rest%%.*}
    [ "$major" -gt "$2" ] || { [ "$major" -eq "$2" ] && [ "$minor" -ge "$3" ]; }
}

rust="apt-get install rustup && rustup default stable (other systems: the installer of rustup)"
if ! command -v cargo >/dev/null 2>&1 || ! have=$(rustc --version 2>/dev/null); then
    lacks "Rust 1.88 or newer (cargo, rustc)" "$rust"
else
    have=$(echo "$have" | cut -d ' ' -f 2)
    at_least "$have" 1 88 || lacks "Rust 1.88 or newer (found $have)" "rustup update stable"
fi

command -v cc >/dev/null 2>&1 || lacks "a C linker (cc)" "apt-get install gcc libc6-dev"

if ! have=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null); then
    lacks "Python 3.11 or newer ($python)" "apt-get install python3 python3-venv"
elif ! at_least "$have" 3 11; then
    lacks "Python 3.11 or newer ($python is $have)" "apt-get install python3 python3-venv, or make PYTHON=python3.12"
elif ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    lacks "Python's venv" "apt-get install python3-venv"
fi

[ "$missing" -eq 0 ] || exit 2
