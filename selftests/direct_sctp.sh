#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# SCTP in direct mode: what sctp.sh does, with servers that listen at the VIP.
#
#   cli ==== lb ==== b1 b2 ... (the VIPs on lo; answers are routed by lb)
#
export WEIR_FORWARD=direct
# shellcheck source=sctp.sh
. "$(dirname "$0")/sctp.sh"
