#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What failover, draining and weights do to tracking entries, for every tracking mode, affinity
# and protocol: table roles in tables/tracking.tbl. The rest of the tables is in tracking.sh.
#
#   cli: crafted packets of many clients ==== lb ==== farm: captures what each backend gets
#
# timeout: 400
# shellcheck source=wire.sh
. "$(dirname "$0")/wire.sh"

wire_up
for family in 4 6; do
	crafted tracking_roles $family
done
finish
