#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Thousands of flows end within one second, by a flush and by the removal of their service. What
# their backends still say reaches no client; what they say of their own does.
#
#   cli: 100 clients, 50 ports ==== lb ==== farm: two backends that answer each datagram late
#
# shellcheck source=wire.sh
. "$(dirname "$0")/wire.sh"

wire_up
for family in 4 6; do
	crafted late_many $family
done
finish
