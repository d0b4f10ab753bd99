#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Failover in direct mode: what failover.sh does.
#
#   cli ==== lb ==== b1 b2 ... (the VIPs on lo; answers are routed by lb)
#
# timeout: 600
export WEIR_FORWARD=direct
# shellcheck source=failover.sh
. "$(dirname "$0")/failover.sh"
