#!/bin/sh
# Builds the page of the lab. `sh scripts/lab.sh wasm`: the simulator for the browser, in
# target/lab/fairq_lab.wasm; `sh scripts/lab.sh page`: the page around it, in page/dist/, of which
# python/fairq/laboratory/bundle/ gets what `fairq lab`, notebooks and a wheel need.
# Exit status 2 and a line on standard error if a tool is missing.
set -eu
cd "$(dirname "$0")/.."
target=wasm32-unknown-unknown
wasm=target/lab/fairq_lab.wasm
bundle=python/fairq/laboratory/bundle

lacks() {
    echo "fairq: $1 is missing. Install it with: $2" >&2
    exit 2
}

# at_least TOOL VERSION MAJOR INSTALL: ends if the version, as v20.11.0, is less than MAJOR
at_least() {
    have=${2#v}
    [ "${have%%.*}" -ge "$3" ] || lacks "$1 $3 or newer (found $have)" "$4"
}

build_wasm() {
    # rustc knows the folder of a target's library also if the target is not there
    if ! [ -d "$(rustc --print target-libdir --target "$target")" ]; then
        command -v rustup >/dev/null 2>&1 || lacks "Rust's target $target" "apt-get install rustup && rustup target add $target"
        rustup target add "$target" || lacks "Rust's target $target" "rustup target add $target"
    fi
    cargo build --package fairq-wasm --profile lab --target "$target"
    mkdir -p target/lab
    # the folder of cargo may be elsewhere; ours is where the page looks for it
    cp "${CARGO_TARGET_DIR:-target}/$target/lab/fairq_wasm.wasm" "$wasm"
}

build_page() {
    node="apt-get install nodejs npm, or the installer of Node.js"
    command -v node >/dev/null 2>&1 || lacks "Node.js 20 or newer (node)" "$node"
    at_least "Node.js" "$(node --version)" 20 "$node"
    command -v npm >/dev/null 2>&1 || lacks "npm" "$node"
    [ -f "$wasm" ] || lacks "$wasm" "sh scripts/lab.sh wasm"
    (
        cd page
        # not `npm ci`: it refuses a lock without an optional package of vite's for Windows that not every
        # registry has; the versions are those of the lock all the same, which stays as it is
        npm install --no-save --no-audit --no-fund --loglevel=error
        npm run --silent build
    )
    # whole or not at all: a page of two builds would not run
    rm -rf "$bundle" target/lab/bundle
    cp -R page/dist target/lab/bundle
    # the page in one file is for people to pass on, not for servers and wheels: it has all of it again
    rm -f target/lab/bundle/lab.html
    mv target/lab/bundle "$bundle"
}

case ${1:-} in
    wasm) build_wasm ;;
    page) build_page ;;
    *)
        echo "usage: sh scripts/lab.sh wasm|page" >&2
        exit 2
        ;;
esac
