#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The reference's tables of selection and tracking keys in direct mode: the same rows, packets and
# verdicts as tracking.sh, where packets keep their addresses and a backend is told by the hardware
# address that a packet was sent to.
#
#   cli: crafted packets of many clients ==== lb ==== farm: captures what each backend gets
#
# timeout: 400
export WEIR_FORWARD=direct
# shellcheck source=wire.sh
. "$(dirname "$0")/wire.sh"

wire_up
for family in 4 6; do
	crafted tracking_keys $family
done
finish
