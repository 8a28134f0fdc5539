#!/bin/sh
# An executable: its job comes in the environment, the last line that it prints is its result.
#
#   riverrun jobs add checksum -d '"river"' --wait

echo "summing up ${RIVERRUN_INPUT}"
sum=$(printf '%s' "$RIVERRUN_INPUT" | cksum | cut -d ' ' -f 1)
echo "{\"cksum\": $sum, \"attempt\": $RIVERRUN_ATTEMPT}"
