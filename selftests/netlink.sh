#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The netlink family from the outside, byte by byte: what is set is read back, refusals say
# why, transactions are all or nothing, dumps are resumed and flagged, events are complete,
# capabilities are asked for, malformed messages do nothing, and after a change of one of many
# services packets match what the rules say.
#
#   lb    one namespace, no link but one with both ends there
#
# timeout: 600

# shellcheck source=nl.sh
. "$(dirname "$0")/nl.sh"

nl_up
for topic in read refusals txn dump events report pin caps malformed; do
	judge in_ns lb "$PYTHON" "$HERE/py/netlink_$topic.py"
done
judge in_ns lb "$PYTHON" "$HERE/py/netlink_index.py" "${WEIR_SEED:-$RANDOM}"
# debug kernels can let allocations fail
[ ! -e /proc/self/fail-nth ] || judge in_ns lb "$PYTHON" "$HERE/py/netlink_nomem.py"
finish
