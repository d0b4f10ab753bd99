#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What flows do when their backend turns unhealthy, in direct mode: what persistence.sh does.
#
#   cli ==== lb ==== b1 b2 ... (the VIPs on lo; answers are routed by lb)
#
export WEIR_FORWARD=direct
# shellcheck source=persistence.sh
. "$(dirname "$0")/persistence.sh"
