#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The contract: uapi/linux/weir.h, uapi/weir.yaml and the policies that the module has
# say the same, and the bounds in the spec are those that the module keeps.
#
#   lb    one namespace, no link: netlink only

# shellcheck source=nl.sh
. "$(dirname "$0")/nl.sh"

nl_up
judge in_ns lb "$PYTHON" "$HERE/py/uapi.py"
finish
