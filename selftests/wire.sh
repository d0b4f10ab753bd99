# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For the tests that craft every packet: three namespaces in which no stack answers, because
# neither cli nor farm has an address. Every client is behind cli, every backend behind farm,
# and one process (py/wire.py) sends and captures at both ends.
#
#   cli                        lb                          farm
#   (no address)       eth0    10.1.0.1      10.2.0.1  eth1   (no address)
#   10.1.16.0/20 ============= fd00:1::1     fd00:2::1 ====== 10.2.0.11 .. 42
#   fd00:1:1::/64              weir lives here                fd00:2::11 .. 42
#
# The VIPs are 10.9.9.N and fd00:9::N. All neighbours are permanent.

# shellcheck source=nl.sh
. "$(dirname "${BASH_SOURCE[0]}")/nl.sh"

mac() {			# NAME: hardware address of its eth0
	local link
	link=$(ip -n "${PLACE[$1]}" -o link show dev eth0)
	link=${link#*link/ether }
	echo "${link%% *}"
}

# In direct mode a backend is told by its hardware address: the last byte is that of its address.
neighbours() {		# NAME DEV ADDR...: all of them are behind eth0 of NAME
	local mac dev=$2 addr last
	mac=$(mac "$1")
	shift 2
	for addr; do
		last=${addr##*[.:]}
		[ "${WEIR_FORWARD:-nat}$dev" != directeth1 ] || printf -v mac 02:00:00:00:00:%02x "$last"
		echo "neigh replace $addr lladdr $mac dev $dev nud permanent"
	done | ips lb
}

wire_up() {
	local i
	nl_up
	setup_ns cli farm
	ip -batch - <<- END || bail "cannot add veth pairs"
		link add eth0 netns $cli type veth peer name eth0 netns $lb
		link add eth1 netns $lb type veth peer name eth0 netns $farm
	END
	for i in cli farm; do
		in_ns "$i" sysctl -qw net.ipv6.conf.default.disable_ipv6=1 \
			net.ipv6.conf.all.disable_ipv6=1
		ips "$i" <<< "link set eth0 up"
	done
	ips lb <<- END
		link set lo up
		link set eth0 up
		link set eth1 up
		addr add 10.1.0.1/24 dev eth0
		addr add fd00:1::1/64 dev eth0 nodad
		addr add 10.2.0.1/24 dev eth1
		addr add fd00:2::1/64 dev eth1 nodad
		route add 10.1.16.0/20 via 10.1.0.10
		route add fd00:1:1::/64 via fd00:1::10
	END
	neighbours cli eth0 10.1.0.10 fd00:1::10
	# shellcheck disable=SC2046 # a list of addresses
	neighbours farm eth1 $(seq -f 10.2.0.%g 11 43) $(seq -f fd00:2::%g 11 43)
	# checksums are judged: none is left to a device that is not there
	for i in eth0 eth1; do
		in_ns lb ethtool -K $i tx off > /dev/null || bail "ethtool fails"
	done
	in_ns lb sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
}

crafted() {		# PROGRAM [ARG...]: runs py/PROGRAM.py in this lab; its lines become tests
	local program=$1
	shift
	judge "$PYTHON" "$HERE/py/$program.py" "$cli" "$lb" "$farm" "$@"
}
