#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A UDP stream that nobody answers while backends come and go, in direct mode: what
# oneway.sh does.
#
#   cli ==== lb ==== b1 b2 ... (the VIPs on lo; answers are routed by lb)
#
export WEIR_FORWARD=direct
# shellcheck source=oneway.sh
. "$(dirname "$0")/oneway.sh"
