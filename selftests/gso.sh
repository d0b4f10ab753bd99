#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Direct mode and packets that the wire will carry as several: TCP segments of 9000 bytes, sent
# together in one of 64 kB. Where the way to backends is narrower, one whose segments fit passes,
# one whose segments do not is answered with ICMP, as the kernel does where it forwards.
#
#   cli ==== mtu 9000 ==== lb ==== mtu 9000, then 1500 ==== b1 b2 b3 (the VIPs on lo)
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

RAW_OK=True LEAK_OK='icmp or icmp6'
IN='tcp and src == CLI and dst == VIP'
PTB='(icmp and type == 3 and code == 4 or icmp6 and type == 2)'
SIZE=200000

jumbo_up() {
	local name
	ips cli <<< "link set eth0 mtu 9000"
	ips lb <<- END
		link set eth0 mtu 9000
		link set eth1 mtu 9000
	END
	{
		for name in lb "${BACKENDS[@]}"; do
			echo "link set $name mtu 9000"
		done
		echo "link set br0 mtu 9000"
	} | ips sw
	for name in "${BACKENDS[@]}"; do
		# what backends send is never larger than what the narrow link takes
		ips "$name" <<- END
			link set eth0 mtu 9000
			route replace default via 10.2.0.1 mtu 1500 advmss 8940
			route replace default via fd00:2::1 mtu 1500 advmss 8940
		END
	done
}

direct() {
	web "forward direct"
	weir flush > /dev/null
	lab mark > /dev/null
	drops_mark
}

# The client compares the answer, which repeats what it sent.
uploads() {		# NAME
	local words
	lab mark > /dev/null
	drops_mark
	words=$(lab call tcp cli "$VIP" 80 n=6 size="$SIZE" timeout=60)
	is "$1: 6 uploads of $SIZE bytes are complete ($words)" "$(answers "$words")" 6
	settle
	BIG=$(lab count "$IN and size > 9000") NOTICES=$(lab count "$PTB" cli)
	note "$(lab count "$IN") packets at backends, $BIG of them of more than 9000 bytes"
}

wide() {
	direct
	uploads "9000 bytes all the way"
	between "segments came together, in large packets" "$BIG" 1 9999
	between "the largest of them" "$(lab values "$IN" size | tr -d '[]' | awk -F', ' '{ print $NF }')" 17000 65575
	is "nobody is told that they are too big" "$NOTICES" 0
	drops_are "nothing is dropped" none
}

narrow() {
	ips lb <<< "link set eth1 mtu 1500"
	direct
	uploads "1500 bytes to the backends"
	between "the client is told of the MTU" "$NOTICES" 1 999
	is "which is 1500" "$(lab count "$PTB and rest & 0xffff == 1500 and src == LBC" cli)" "$NOTICES"
	drops_are "each notice is for a packet, dropped and counted" "too-big=$NOTICES"
	between "packets whose segments fit pass, larger than the MTU" "$(lab count "$IN and size > 1500")" 1 9999
	uploads "once the client knows"
	is "there are no more notices" "$NOTICES" 0
	drops_are "and nothing is dropped" none
	between "while packets are larger than the MTU" "$(lab count "$IN and size > 1500")" 1 9999
}

# One datagram that nobody has cut yet, as long as the client has forgotten what it was told.
datagram() {
	in_ns cli ip "-$F" route flush cache
	lab mark > /dev/null
	drops_mark
	lab raw cli udp "$CLI" "$VIP" sport=4000 dport=53 pad=4000 data=quiet > /dev/null
	if [ "$F" = 4 ]; then
		is "without DF it is cut" "$(lab await 3 "udp and frag and dst == VIP") $(lab tally \
			"udp and frag and dst == VIP" | tr -dc = | wc -c)" "3 1"
		is "all of it arrives" "$(lab size "udp and frag and dst == VIP")" $((4000 + 5 + 8 + 3 * 20))
		drops_are "nothing is dropped" none
	else
		is "no router cuts IPv6: the client is told" "$(lab await 1 "$PTB and rest == 1500" cli)" 1
		drops_are "dropped and counted" "too-big=1"
	fi
}

again() {
	ips lb <<< "link set eth1 mtu 9000"
	in_ns cli ip "-$F" route flush cache
}

gso() {
	wide
	narrow
	datagram
	again
}

lab_up 3 tcp:80
vips_up
jumbo_up
for_families gso
finish
