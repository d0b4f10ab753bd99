#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The model of the reference beside the module, as in model.sh, in direct mode: all entries are
# the module's own, of up to five fields, and each fragment of a datagram has its verdict.
#
#   cli: packets of a few clients ==== lb ==== farm: captures what each backend gets
#
# WEIR_SEED=N replays the run that printed it, WEIR_STEPS=N makes it longer or shorter.
#
# timeout: 400
export WEIR_FORWARD=direct
# shellcheck source=wire.sh
. "$(dirname "$0")/wire.sh"

wire_up
crafted model_run "${WEIR_SEED:-${EPOCHREALTIME#*.}}" \
	"${WEIR_STEPS:-10000}"
finish
