#!/usr/bin/env bash
# Makes sure that the tests have other versions of Node than the machine's, and prints nothing when
# they are there: target/nodes/<version>/node_modules/node/bin/node.
#
#   scripts/nodes.sh
set -euo pipefail

# The oldest that is supported, and one that loads TypeScript with hooks of its own.
for version in 18.19.1 26.10.0; do
    folder="$(dirname "$0")/../target/nodes/$version"
    if [ ! -x "$folder/node_modules/node/bin/node" ]; then
        echo "installing Node $version, once" >&2
        mkdir -p "$folder"
        npm install --prefix "$folder" --no-save --no-audit --no-fund --silent "node@$version"
    fi
done
