#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# "Too big" from the client's side in direct mode: what toobig.sh does, but that notices stay as
# they are.
#
#   cli ==== lb ==== b1 b2 ... (the VIPs on lo; answers are routed by lb)
#
export WEIR_FORWARD=direct
# shellcheck source=toobig.sh
. "$(dirname "$0")/toobig.sh"
