#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Affinity in direct mode: the clients, ports and verdicts of affinity.sh.
#
#   cli ==== lb ==== b1 b2 ... (the VIPs on lo; answers are routed by lb)
#
export WEIR_FORWARD=direct
# shellcheck source=affinity.sh
. "$(dirname "$0")/affinity.sh"
