#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Draining in direct mode: what drain.sh does, but for what backends send.
#
#   cli ==== lb ==== b1 b2 ... (the VIPs on lo; answers are routed by lb)
#
# timeout: 400
export WEIR_FORWARD=direct
# shellcheck source=drain.sh
. "$(dirname "$0")/drain.sh"
