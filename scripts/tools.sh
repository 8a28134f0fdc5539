#!/usr/bin/env bash
# Makes sure that a cargo tool is there, and prints nothing when it is.
#
#   scripts/tools.sh cargo-nextest
#   scripts/tools.sh cargo-deny
#
# A tool found on PATH is taken as it is. A missing one is built from crates.io at the version
# pinned below, into target/tools/bin, so that nothing outside the checkout changes.
set -euo pipefail
cd "$(dirname "$0")/.."

tool=${1:?usage: scripts/tools.sh <tool>}
case $tool in
    cargo-nextest) version=0.9.143 ;;
    cargo-deny) version=0.20.2 ;;
    *)
        echo "error: scripts/tools.sh knows no version of $tool" >&2
        exit 2
        ;;
esac

PATH="$PWD/target/tools/bin:$PATH"
if command -v "$tool" >/dev/null; then
    exit 0
fi

echo "building $tool $version into target/tools, once" >&2
# The tools' own release profiles ask for fat LTO, which takes longer to build than it saves here.
CARGO_PROFILE_RELEASE_LTO=off \
CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
CARGO_PROFILE_RELEASE_OPT_LEVEL=1 \
CARGO_TARGET_DIR=target/tools/build \
    cargo install "$tool" --version "$version" --locked --root target/tools
rm -rf target/tools/build
