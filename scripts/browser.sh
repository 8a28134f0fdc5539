#!/usr/bin/env bash
# Makes sure that there is a browser for the tests of pages, and prints nothing when there is.
#
#   scripts/browser.sh
#
# One that RIVERRUN_TEST_BROWSER names, or that is found on PATH, is taken as it is. A missing one is
# installed where that can be done without asking: as root on a system with apt-get.
set -euo pipefail

for browser in "${RIVERRUN_TEST_BROWSER:-}" chromium chromium-browser google-chrome; do
    if [ -n "$browser" ] && command -v "$browser" >/dev/null; then
        exit 0
    fi
done

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "error: there is no chromium" >&2
    echo "  try: install it, or set RIVERRUN_TEST_BROWSER to a browser of its kind" >&2
    exit 1
fi

echo "installing chromium, once" >&2
log=$(mktemp)
export DEBIAN_FRONTEND=noninteractive
if ! { apt-get update && apt-get install -y --no-install-recommends chromium; } >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
rm -f "$log"
