#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A source port that is used again at once, in direct mode: what reuse.sh does.
#
#   cli ==== lb ==== b1 b2 ... (the VIPs on lo; answers are routed by lb)
#
export WEIR_FORWARD=direct
# shellcheck source=reuse.sh
. "$(dirname "$0")/reuse.sh"
