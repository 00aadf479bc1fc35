#!/bin/sh
# What the compiler sees fairq do before it builds it for good: the benchmarks, every example and a paper, all of them short.
set -eu
out=$(mktemp -d)
trap 'rm -r "$out"' EXIT
fairq bench --quick >"$out/bench"
fairq bench disciplines --quick >"$out/disciplines"
for scenario in scenarios/*.toml; do
    fairq run "$scenario" >"$out/run"
done
fairq reproduce legout2002 --quick --out "$out/legout2002" >"$out/reproduced"
