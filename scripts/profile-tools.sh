#!/bin/sh
# Says how a wheel is built: with --pgo if rustc's tools for profiles are there or can be had, else
# with nothing, and why.
set -u
tools=$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/^host: //p')/bin
if [ ! -x "$tools/llvm-profdata" ] && ! rustup component add llvm-tools >/dev/null 2>&1; then
    echo "fairq: built without a profile, a fifth slower. For one: rustup component add llvm-tools, then make wheel" >&2
    exit 0
fi
echo --pgo
