#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Affinity says which fields choose the backend, and ports are in none but the 5-tuple kinds
# (semantics 1.3). One service, per-connection tracking, 100 client addresses.
#
#   cli, 100 addresses ==== lb ==== b1 .. b5
#        TCP 80, 443, UDP 53 to VIP and to VIP2, all to one pool
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

FIRST='(tcp and syn or udp)'	# the first packet of a flow
CLIENTS=100

service() {		# AFFINITY
	conf <<- END
		hash-key 00112233445566778899aabbccddeeff
		service $WEB {
		    affinity $1
		    rule $VIP tcp 80,443
		    rule $VIP udp 53
		    rule $VIP2 tcp 80,443
		    rule $VIP2 udp 53
		    backend $B1
		    backend $B2
		    backend $B3
		    backend $B4
		    backend $B5
		}
	END
}

burst() {		# VIP: four flows of each client to each of the three ports
	local port
	for port in 80 443; do
		lab raw cli tcp "$MANY+$CLIENTS" "$1" n=400 sport=2000 "dport=$port" > /dev/null
	done
	lab raw cli udp "$MANY+$CLIENTS" "$1" n=400 sport=2000 dport=53 data=quiet > /dev/null
	is "every first packet to $1 arrived" "$(lab await 1200 "$FIRST")" 1200
}

client_ip() {
	service client-ip
	lab mark > /dev/null
	burst "$VIP"
	is "client-ip: one backend per client, for TCP and UDP and all ports" \
		"$(lab owners "$FIRST" src)" "keys=$CLIENTS split=0"
	is "client-ip: every backend has clients" "$(lab distinct "$FIRST" ns)" 5
	is "client-ip: real connections and datagrams go there too, and are answered" \
		"$(answered tcp 80) $(answered tcp 443) $(answered udp 53)" "200 200 200"
	is "client-ip: still one backend per client" \
		"$(lab owners "$FIRST" src)" "keys=$CLIENTS split=0"
	lab learn one "$FIRST" src > /dev/null
	lab mark > /dev/null
	burst "$VIP2"
	is "client-ip: the same at another VIP" \
		"$(lab owners "$FIRST" src)" "keys=$CLIENTS split=0"
	lab learn two "$FIRST" src > /dev/null
	between "client-ip: the VIP counts: some clients have another backend there" \
		"$(val moved "$(lab compare one two)")" 1 "$CLIENTS"
}

answered() {		# KIND PORT: exchanges that a backend answered, of 200
	answers "$(lab call "$1" cli "$VIP" "$2" n=200 "src=$MANY+$CLIENTS" sport=3000)"
}

client_ip_proto() {
	service client-ip-proto
	lab mark > /dev/null
	burst "$VIP"
	is "client-ip-proto: one backend per client for TCP, 80 and 443 alike" \
		"$(lab owners 'tcp and syn' src)" "keys=$CLIENTS split=0"
	is "client-ip-proto: one per client for UDP" \
		"$(lab owners udp src)" "keys=$CLIENTS split=0"
	between "client-ip-proto: the protocol counts: some clients have two" \
		"$(val split "$(lab owners "$FIRST" src)")" 1 "$CLIENTS"
}

client_ip_no_destination() {
	service client-ip-no-destination
	lab mark > /dev/null
	burst "$VIP"
	burst_two
	is "client-ip-no-destination: one backend per client across both VIPs" \
		"$(lab owners "$FIRST" src)" "keys=$CLIENTS split=0"
	is "client-ip-no-destination: every backend has clients" \
		"$(lab distinct "$FIRST" ns)" 5
}

burst_two() {
	lab raw cli tcp "$MANY+$CLIENTS" "$VIP2" n=200 sport=4000 dport=80 > /dev/null
	lab raw cli udp "$MANY+$CLIENTS" "$VIP2" n=200 sport=4000 dport=53 data=quiet > /dev/null
	is "every first packet to the second VIP arrived" "$(lab await 1600 "$FIRST")" 1600
}

# The key is a constant and the tuples are always the same, so the outcome is, too.
# 4 sigma of 2000 flows over 5 backends: sqrt(2000 * 0.2 * 0.8) * 4 = 71.6.
spread() {		# KIND KEYWORD...
	local kind=$1 name count
	shift
	lab mark > /dev/null
	lab raw cli "$kind" "$MANY+$CLIENTS" "$VIP" n=2000 sport=5000 "$@" > /dev/null
	is "$kind: every first packet arrived" "$(lab await 2000 "$FIRST")" 2000
	count=$(lab tally "$FIRST")
	for name in "${BACKENDS[@]}"; do
		between "$kind: $name has its share within 4 sigma: $count" \
			"$(val "$name" "$count")" 329 471
	done
}

five_tuple() {
	local affinity
	for affinity in none client-ip-port-proto; do
		service "$affinity"
		note "affinity $affinity"
		[ "$affinity" != none ] || spread tcp dport=80
		spread udp dport=53 data=quiet
		between "$affinity: ports count: clients have several backends" \
			"$(val split "$(lab owners "$FIRST" src)")" 90 "$CLIENTS"
		lab learn "$affinity" "$FIRST" '(src, sport)' > /dev/null
		weir flush > /dev/null
	done
	is "client-ip-port-proto chooses as none does" \
		"$(lab compare none client-ip-port-proto)" \
		"both=2000 only=0 same=2000 moved=0 left=0 stuck=0"
}

lab_up 5 tcp:80 tcp:443 udp:53
for_families client_ip
for_families client_ip_proto
for_families client_ip_no_destination
for_families five_tuple
finish
