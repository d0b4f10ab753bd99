#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Connection tracking in direct mode: which segments force a new connection, what removes an
# entry, what failover, draining and weights do to it, and how long an idle one lives: the tables
# of tracking.sh and lifetime.sh, where packets keep their addresses and a backend is told by the
# hardware address that a packet was sent to. Only incoming packets are activity (decision 16).
#
#   cli: crafted packets of many clients ==== lb ==== farm: captures what each backend gets
#
# timeout: 600
export WEIR_FORWARD=direct
# shellcheck source=wire.sh
. "$(dirname "$0")/wire.sh"

wire_up
for family in 4 6; do
	crafted tracking_syn $family
	crafted tracking_life $family
	crafted tracking_roles $family
done
crafted tracking_idle
finish
