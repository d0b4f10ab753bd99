#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Which rule a packet meets: the most specific one wins (prefix, then port, then protocol), a
# rule may list ports, a service may have many rules, rules come and go one by one.
#
#   cli ==== lb ==== b1 (any), b2 (tcp all), b3 (tcp 80)
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

asks() {		# NAME WANT KIND PORT [VIP]
	is "$1" "$(lab call "$3" cli "${5:-$VIP}" "$4" n=4 timeout=5)" "$2=4"
}

specific() {
	conf <<- END
		service wide$F {
		    rule $VIP any all
		    backend $B1
		}
		service middle$F {
		    rule $VIP tcp all
		    backend $B2
		}
		service narrow$F {
		    rule $VIP tcp 80
		    backend $B3
		}
	END
	asks "tcp 80 beats tcp all and any" b3 tcp 80
	asks "tcp all beats any" b2 tcp 443
	asks "any takes the rest" b1 udp 53
	lab mark > /dev/null
	lab raw cli echo "$CLI" "$VIP" > /dev/null
	is "pings too" "$(lab await 1 "type in (8, 128)" b1)" 1

	weir rule del "narrow$F" "$VIP" tcp 80
	asks "without the narrow rule, tcp all has port 80" b2 tcp 80
	weir service del "middle$F"
	asks "without the middle service, any has it" b1 tcp 80
	weir rule add "narrow$F" "$VIP" tcp 80
	asks "the narrow rule back, new connections follow it" b3 tcp 80
	refused "one rule cannot lead to two services" "*$VIP*" \
		weir rule add "wide$F" "$VIP" tcp 80
}

lists() {
	conf <<- END
		service list$F {
		    rule $VIP tcp 80,443
		    rule $VIP udp 53
		    rule $VIP2 tcp all
		    backend $B1
		}
		service rest$F {
		    rule $VIP tcp 8080
		    backend $B2
		}
	END
	drops_mark
	asks "the first port of a list" b1 tcp 80
	asks "the last port of a list" b1 tcp 443
	asks "another rule of the same service" b1 udp 53
	asks "a second VIP, all ports" b1 tcp 8080 "$VIP2"
	asks "another service on the same VIP" b2 tcp 8080
	drops_are "nothing was dropped" none
	lab raw cli tcp "$CLI" "$VIP" dport=444 > /dev/null
	drops_are "a port beside the list has no rule" no-rule=1
	weir rule del "list$F" "$VIP" tcp 80,443
	lab raw cli tcp "$CLI" "$VIP" dport=443 > /dev/null
	drops_are "the list is one rule and goes as one" no-rule=2
	asks "other rules of the service stay" b1 udp 53
}

rules() {
	specific
	lists
}

lab_up 3 tcp:80 tcp:443 tcp:8080 udp:53
for_families rules
finish
