#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A model of the reference (py/model_rules.py) runs beside the module: random packets of all
# protocols, health changes, backends, rules and services that come and go, flows that expire.
# Whatever the module does with a packet, the model has to agree.
#
#   cli: packets of a few clients ==== lb ==== farm: captures what each backend gets
#
# WEIR_SEED=N replays the run that printed it, WEIR_STEPS=N makes it longer or shorter.
#
# timeout: 400
# shellcheck source=wire.sh
. "$(dirname "$0")/wire.sh"

wire_up
crafted model_run "${WEIR_SEED:-${EPOCHREALTIME#*.}}" \
	"${WEIR_STEPS:-10000}"
finish
