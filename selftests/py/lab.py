#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The hands and eyes of a test: clients, raw senders and captures in every namespace.

lab.py NAME=NETNS...

One process for all namespaces, since starting an interpreter takes over a second in an
emulated guest; a socket stays in the namespace where it was made.  Reads one command per
line (words quoted as by the shell, then key=value options) and answers each with one line;
an answer that begins with "!" is an error.  The commands are the methods called cmd_* below.

Captures are packet sockets that queue in the kernel from the moment they are made and are
read when a command asks, so that nothing is missed and capturing costs the test no CPU time.
"""
import ctypes
import errno
import fcntl
import json
import os
import re
import shlex
import socket
import struct
import subprocess
import sys
import time

import packet
from client import PATIENCE, Call, Pool, run_calls
from server import enter

ETH_P_ALL, ETH_P_IP, ETH_P_IPV6 = 3, 0x0800, 0x86dd
SO_RCVBUFFORCE, SO_TIMESTAMPNS, SO_ATTACH_FILTER, SO_DETACH_FILTER = 33, 35, 26, 27
SOL_PACKET, PACKET_STATISTICS, PACKET_IGNORE_OUTGOING = 263, 6, 23
BUILTINS = {"len": len, "any": any, "all": all, "int": int, "str": str, "set": set, "sum": sum,
            "sorted": sorted, "max": max, "min": min, "bytes": bytes, "tuple": tuple,
            "isinstance": isinstance, "list": list, "dict": dict, "float": float, "abs": abs}


def leak_filter():
    """Classic BPF over the network header: lets pass what comes from a backend's address or
    goes to a VIP's, 10.2.0.0/16 and fd00:2::/32, 10.9.0.0/16 and fd00:9::/32."""
    load_byte, load_half, mask, equal, ret = 0x30, 0x28, 0x54, 0x15, 0x06
    code = [(load_byte, 0, 0, 0), (mask, 0, 0, 0xf0), (equal, 0, 4, 0x40),
            (load_half, 0, 0, 12), (equal, 8, 0, 0x0a02),
            (load_half, 0, 0, 16), (equal, 6, 7, 0x0a09),
            (load_half, 0, 0, 8), (equal, 0, 5, 0xfd00),
            (load_half, 0, 0, 10), (equal, 2, 0, 2),
            (load_half, 0, 0, 26), (equal, 0, 1, 9),
            (ret, 0, 0, 0xffff), (ret, 0, 0, 0)]
    return b"".join(struct.pack("=HBBI", *one) for one in code)


class Capture:
    """Every IP packet that arrives at one interface."""

    def __init__(self, name, netns, dev):
        enter(netns)
        self.name, self.packets, self.base, self.lost = name, [], 0, 0
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
        self.sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
        self.sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.sock.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        self.sock.setblocking(False)
        self.sock.bind((dev, ETH_P_ALL))

    def only_leaks(self, on):
        if not on:
            self.sock.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)
            return
        code = leak_filter()
        memory = ctypes.create_string_buffer(code, len(code))
        self.sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER,
                             struct.pack("HL", len(code) // 8, ctypes.addressof(memory)))

    def drain(self):
        while True:
            try:
                raw, notes, _, addr = self.sock.recvmsg(65600, 64)
            except BlockingIOError:
                break
            except OSError:
                continue        # the interface went down; what is queued is still there
            if addr[1] in (ETH_P_IP, ETH_P_IPV6):
                self.packets.append((raw, notes))
        stats = self.sock.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8)
        self.lost += struct.unpack("II", stats)[1]

    def since_mark(self):
        """Packets since the mark, parsed on first use."""
        self.drain()
        for at in range(self.base, len(self.packets)):
            self.parse(at)
        return self.packets[self.base:]

    def parse(self, at):
        item = self.packets[at]
        if isinstance(item, tuple):
            parsed = packet.Packet(item[0])
            parsed["ns"] = self.name
            parsed.when = struct.unpack("qq", item[1][0][2]) if item[1] else (0, 0)
            self.packets[at] = parsed
        return self.packets[at]

    def write(self, path):
        """All packets so far, as a pcap file of raw IP."""
        self.drain()
        with open(path, "wb") as out:
            out.write(struct.pack("=IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 101))
            for at in range(len(self.packets)):
                one = self.parse(at)
                out.write(struct.pack("=IIII", one.when[0], one.when[1] // 1000,
                                      len(one.raw), len(one.raw)) + one.raw)


def tally(results):
    """Counts words: "b1=3 b2=4 reset=1"."""
    counts = {}
    for word in results:
        counts[word] = counts.get(word, 0) + 1
    return " ".join(f"{word}={counts[word]}" for word in sorted(counts)) or "none=0"


def address_range(text):
    """BASE or BASE+COUNT: COUNT addresses from BASE on."""
    base, _, count = text.partition("+")
    raw = packet.packed(base)
    first = int.from_bytes(raw, "big")
    return [packet.unpacked((first + i).to_bytes(len(raw), "big"))
            for i in range(int(count or 1))]


class Agent:
    def __init__(self, places):
        self.places = dict(places)
        self.names, self.captures, self.pools, self.maps = {}, {}, {}, {}
        self.raws, self.admins, self.rulesets = {}, {}, {}

    # Expressions -------------------------------------------------------------

    def compiled(self, text):
        return compile(text, text, "eval")

    def value(self, code, fields):
        return eval(code, {"__builtins__": BUILTINS, **self.names}, fields)

    def matching(self, text, names):
        """(capture, packet) of the packets since the mark for which text is true.

        Without names: at the backends, whose names are b and a digit.
        """
        code = self.compiled(text)
        for name in names or sorted(n for n in self.captures if re.fullmatch(r"b\d", n)):
            for one in self.captures[name].since_mark():
                if self.value(code, one):
                    yield name, one

    def cmd_let(self, *_words, **names):
        """let NAME=VALUE...: names that expressions may use."""
        self.names.update(names)
        return "ok"

    def cmd_place(self, name, netns):
        """place NAME NETNS: one more namespace."""
        self.places[name] = netns
        return "ok"

    # Captures ----------------------------------------------------------------

    def cmd_capture(self, *places):
        """capture NAME:DEV...: starts to capture what arrives there."""
        for place in places:
            name, dev = place.split(":")
            self.captures[name] = Capture(name, self.places[name], dev)
        return "ok"

    def cmd_leaks(self, what):
        """leaks only|too: capture nothing else, since a flood would be too much; or all again."""
        for one in self.captures.values():
            one.drain()
            one.only_leaks(what == "only")
        return "ok"

    def cmd_mark(self):
        """mark: the following commands see only packets that arrive from now on."""
        for one in self.captures.values():
            one.drain()
            one.base = len(one.packets)
        return "ok"

    def cmd_rewind(self):
        """rewind: they see all packets again."""
        for one in self.captures.values():
            one.base = 0
        return "ok"

    def cmd_count(self, text, *names):
        """count EXPR [NAME...]: packets that match."""
        return str(sum(1 for _ in self.matching(text, names)))

    def cmd_size(self, text, *names):
        """size EXPR [NAME...]: bytes from the network header on of packets that match."""
        return str(sum(one["size"] for _, one in self.matching(text, names)))

    def cmd_tally(self, text, *names):
        """tally EXPR [NAME...]: packets that match, per capture."""
        return tally(name for name, _ in self.matching(text, names))

    def cmd_await(self, number, text, *names, timeout="20"):
        """await NUMBER EXPR [NAME...]: waits for so many packets; answers how many came."""
        deadline = time.monotonic() + float(timeout) * PATIENCE
        while True:
            seen = sum(1 for _ in self.matching(text, names))
            if seen >= int(number) or time.monotonic() > deadline:
                return str(seen)
            time.sleep(0.05)

    def cmd_last(self, text, name, *fields):
        """last EXPR NAME FIELD...: values of the last packet that matches."""
        found = [one for _, one in self.matching(text, [name])]
        return " ".join(str(self.value(self.compiled(f), found[-1])) for f in fields) \
            if found else "none"

    def cmd_distinct(self, text, key, *names):
        """distinct EXPR KEY [NAME...]: how many values KEY takes."""
        code = self.compiled(key)
        return str(len({self.value(code, one) for _, one in self.matching(text, names)}))

    def cmd_values(self, text, key, *names):
        """values EXPR KEY [NAME...]: the values that KEY takes, as a list for an expression."""
        code = self.compiled(key)
        return str(sorted({self.value(code, one) for _, one in self.matching(text, names)}))

    def owners(self, text, key, names):
        code, found = self.compiled(key), {}
        for name, one in self.matching(text, names):
            found.setdefault(self.value(code, one), set()).add(name)
        return found

    def cmd_owners(self, text, key, *names):
        """owners EXPR KEY [NAME...]: is each value of KEY seen by one capture only?"""
        found = self.owners(text, key, names)
        return f"keys={len(found)} split={sum(1 for o in found.values() if len(o) > 1)}"

    def cmd_learn(self, as_name, text, key, *names):
        """learn MAP EXPR KEY [NAME...]: remembers which capture saw which value of KEY."""
        self.maps[as_name] = {k: "+".join(sorted(o))
                              for k, o in self.owners(text, key, names).items()}
        return f"keys={len(self.maps[as_name])} " + tally(self.maps[as_name].values())

    def cmd_compare(self, one, two, gone=""):
        """compare MAP MAP [gone=NAME]: keys alike and moved, apart from those of NAME."""
        a, b = self.maps[one], self.maps[two]
        both = [k for k in a if k in b]
        kept = [k for k in both if a[k] != gone]
        return (f"both={len(both)} only={len(set(a) ^ set(b))} "
                f"same={sum(1 for k in kept if a[k] == b[k])} "
                f"moved={sum(1 for k in kept if a[k] != b[k])} "
                f"left={sum(1 for k in both if a[k] == gone and b[k] != gone)} "
                f"stuck={sum(1 for k in both if a[k] == gone and b[k] == gone)}")

    def cmd_lost(self):
        """lost: packets that captures had no room for; anything but 0 spoils the test."""
        for one in self.captures.values():
            one.drain()
        return str(sum(one.lost for one in self.captures.values()))

    def cmd_pcap(self, directory):
        """pcap DIRECTORY: writes NAME.pcap for every capture."""
        for name, one in self.captures.items():
            one.write(f"{directory}/{name}.pcap")
        return "ok"

    def cmd_leave(self, name):
        """leave NAME: closes every socket in that namespace, so that it can go."""
        for table in (self.captures, self.raws):
            for key in [k for k in table if k == name or k[0] == name]:
                gone = table.pop(key)
                (gone.sock if isinstance(gone, Capture) else gone).close()
        for pool in self.pools.values():
            pool.leave(name)
        for table in (self.admins, self.rulesets):
            if name in table:
                table.pop(name).close()
        return "ok"

    # Clients -----------------------------------------------------------------

    def calls(self, kind, name, dst, port, n="1", src="", sport="0"):
        """n calls; their sources cycle through the addresses of src."""
        sources = address_range(src) if src else [""]
        first = int(sport)
        for i in range(int(n)):
            yield Call(kind, self.places[name], name, dst, int(port), sources[i % len(sources)],
                       first + i // len(sources) if first else 0)

    def cmd_call(self, kind, name, dst, port, timeout="10", window="64", ms="", size="0", ask="0",
                 **more):
        """call KIND NAME DST PORT [n=] [src=] [sport=] [timeout=] [window=] [size=] [ask=] [ms=1]

        Makes n exchanges of KIND (tcp, udp, sctp), each from a socket of its own, with requests
        of size bytes (UDP) and answers of ask bytes, and tallies who answered; ms adds the
        slowest.
        """
        calls = list(self.calls(kind, name, dst, port, **more))
        run_calls(calls, float(timeout), int(window), int(size), int(ask))
        for one in calls:
            one.close()
        slowest = max(one.took for one in calls)
        return tally(one.result for one in calls) + \
            (f" max_ms={int(slowest * 1000)}" if ms else "")

    def cmd_open(self, pool, kind, name, dst, port, timeout="10", window="64", hello="1", **more):
        """open POOL KIND NAME DST PORT [as call]: the same, but the sockets stay open.

        hello=0: nothing is sent yet (UDP).
        """
        calls = list(self.calls(kind, name, dst, port, **more))
        self.pools.setdefault(pool, Pool()).add(calls)
        if hello == "0":
            for one in calls:
                one.start()
            return "ok"
        run_calls(calls, float(timeout), int(window))
        return tally(one.result for one in calls)

    def cmd_req(self, pool, only="", timeout="10", size="0", ask="0", window="64"):
        """req POOL [only=NAME] [size=] [ask=]: one more exchange on each; only those of NAME."""
        calls = self.pools[pool].of(only)
        run_calls(calls, float(timeout), int(window), int(size), int(ask))
        return tally(one.result for one in calls)

    def cmd_send(self, pool, text, only=""):
        """send POOL TEXT [only=NAME]: sends it on each and waits for nothing."""
        return tally(one.say(text.encode()) for one in self.pools[pool].of(only))

    def cmd_state(self, pool, only="", within="0"):
        """state POOL [only=NAME] [within=SECONDS]: open, reset, closed...; waits for a change."""
        deadline = time.monotonic() + float(within) * PATIENCE
        while True:
            words = [one.probe() for one in self.pools[pool].of(only)]
            if "open" not in words or time.monotonic() >= deadline:
                return tally(words)
            time.sleep(0.05)

    def cmd_ends(self, pool, only=""):
        """ends POOL [only=NAME]: local address and port of each."""
        return " ".join(f"{a} {p}" for a, p in (c.local() for c in self.pools[pool].of(only)))

    def cmd_close(self, pool, only="", how="fin"):
        """close POOL [only=NAME] [how=rst]: closes them."""
        return str(self.pools[pool].close(only, how == "rst"))

    def cmd_cycle(self, name, dst, port, sport, n="1", timeout="10"):
        """cycle NAME DST PORT SPORT [n=]: TCP connections from one port, each as soon as the one
        before is closed from this side; tallies who answered and adds the slowest."""
        results, slowest = [], 0.0
        for _ in range(int(n)):
            one = Call("tcp", self.places[name], name, dst, int(port), "", int(sport))
            run_calls([one], float(timeout), 1)
            slowest = max(slowest, one.took)
            results.append(one.result if one.finish_politely(float(timeout)) else "unfinished")
        return f"{tally(results)} max_ms={int(slowest * 1000)}"

    def cmd_reach(self, name, *hosts, timeout="20"):
        """reach NAME HOST...: waits until each host refuses a datagram to its port 9."""
        deadline, left = time.monotonic() + float(timeout) * PATIENCE, list(hosts)
        while left and time.monotonic() < deadline:
            calls = [Call("udp", self.places[name], name, host, 9) for host in left]
            run_calls(calls, 0.5, len(calls))
            for one in calls:
                one.close()
            left = [one.dst for one in calls if one.result != "refused"]
        return " ".join(["no answer from"] + left) if left else "ok"

    # Raw packets -------------------------------------------------------------

    def emit(self, name, raw):
        """Sends one complete IP packet out of namespace NAME by its routes."""
        six = raw[0] >> 4 == 6
        if (name, six) not in self.raws:
            enter(self.places[name])
            family = socket.AF_INET6 if six else socket.AF_INET
            sock = socket.socket(family, socket.SOCK_RAW, socket.IPPROTO_RAW)
            sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 20)
            self.raws[name, six] = sock
        dst = packet.unpacked(packet.addresses(raw)[1])
        self.raws[name, six].sendto(raw, (dst, 0))

    def build(self, kind, src, dst, sport="1024", dport="80", flags="S", seq="1", ack="0",
              data="", bad="", ttl="64", ident="1", mtu="1300", pad="0", about=b"", cut="",
              **inner):
        """One packet; keys with a leading i describe the packet that an ICMP error is about."""
        sport, dport, bad = int(sport), int(dport), bool(bad)
        data = data.encode() + b"x" * int(pad)
        proto = packet.NAMES.get(kind, 0)
        if kind == "tcp":
            body = packet.tcp(src, dst, sport, dport, flags, int(seq), int(ack), data, bad)
        elif kind == "udp":
            body = packet.udp(src, dst, sport, dport, data, bad)
        elif kind in ("echo", "reply"):
            proto = packet.ICMP6 if packet.is6(src) else packet.ICMP
            body = packet.echo(src, dst, int(ident), int(seq), data, kind == "reply")
        elif kind == "toobig":
            proto = packet.ICMP6 if packet.is6(src) else packet.ICMP
            about = self.build(**{k[1:]: v for k, v in inner.items() if k[0] == "i"})
            keep = (40 if packet.is6(src) else 20) + int(cut or 1000)
            body = packet.too_big(src, dst, int(mtu), about[:keep])
        elif kind == "init":
            proto, body = packet.SCTP, packet.sctp_init(sport, dport, int(ident))
        elif kind == "ah":      # transport mode: UDP behind it
            body = struct.pack("!BBHII12x", packet.UDP, 4, 0, 0x1234, 1) + \
                packet.udp(src, dst, sport, dport, data)
        else:       # gre, esp: opaque to everybody on the way
            body = {"gre": b"\0\0\x88\xb5", "esp": b"\0\0\x12\x34\0\0\0\1"}[kind] + data
        return packet.ip(src, dst, proto, body, int(ttl))

    def cmd_raw(self, name, kind, src, dst, n="1", times="1", **fields):
        """raw NAME KIND SRC DST [n=] [times=] [field=value...]: sends n packets, each so many
        times; SRC may be A+COUNT, sport goes up by one each time the addresses are through."""
        sources, sport = address_range(src), int(fields.pop("sport", "1024"))
        for i in range(int(n)):
            one = self.build(kind, sources[i % len(sources)], dst,
                             sport=str(sport + i // len(sources)), **fields)
            for _ in range(int(times)):
                self.emit(name, one)
        return str(n)

    def cmd_stub(self, name, src, dst, proto, data=""):
        """stub NAME SRC DST PROTO [data=HEX]: a packet with just that behind the IP header."""
        make = packet.ip6 if ":" in dst else packet.ip4
        self.emit(name, make(src, dst, int(proto), bytes.fromhex(data)))
        return "ok"

    def cmd_routing(self, name, src, dst, dport, via, left="1"):
        """routing NAME SRC DST DPORT VIA [left=N]: UDP behind a type 0 routing header."""
        body = packet.udp(src, dst, 1024, int(dport), b"quiet")
        head = struct.pack("!BBBBI16s", packet.UDP, 2, 0, int(left), 0, packet.packed(via))
        self.emit(name, packet.ip6(src, dst, packet.ROUTING, head + body))
        return "ok"

    def cmd_atomic(self, name, src, dst, n="1", sport="1024", dport="80"):
        """atomic NAME SRC DST [n=] [sport=] [dport=]: UDP, each datagram an atomic fragment."""
        for i in range(int(n)):
            body = packet.udp(src, dst, int(sport) + i, int(dport), b"quiet")
            head = struct.pack("!BxHI", packet.UDP, 0, i)
            self.emit(name, packet.ip6(src, dst, packet.FRAGMENT, head + body))
        return str(n)

    def cmd_options(self, name, src, dst, sport, dport, data="quiet"):
        """options NAME SRC DST SPORT DPORT: UDP behind a destination options header."""
        body = packet.udp(src, dst, int(sport), int(dport), data.encode())
        head = struct.pack("!BBBB4x", packet.UDP, 0, 1, 4)
        self.emit(name, packet.ip6(src, dst, packet.DSTOPTS, head + body))
        return "ok"

    def cmd_frag(self, pool, size="4000", cut="1000", order="forward", gap="0", drop="",
                 only="", timeout="10"):
        """frag POOL [size=] [cut=] [order=forward|reverse|mixed] [gap=SECONDS] [drop=INDEX]

        Sends one fragmented datagram for each UDP call of POOL, from its address and port;
        tallies the answers.  mixed interleaves the fragments of all of them.
        """
        calls, trains = self.pools[pool].of(only), []
        for i, one in enumerate(calls):
            src, sport = one.local()
            data = one.expect(int(size))
            whole = packet.ip(src, one.dst, packet.UDP,
                              packet.udp(src, one.dst, sport, one.port, data))
            parts = packet.fragments(whole, int(cut), 7000 + i)
            if drop:
                del parts[int(drop)]
            trains.append((one, parts[::-1] if order == "reverse" else parts))
        turns = max(len(parts) for _, parts in trains)
        if order == "mixed":
            plan = [(c, p[k]) for k in range(turns) for c, p in trains if k < len(p)]
        else:
            plan = [(c, part) for c, parts in trains for part in parts]
        for one, part in plan:
            self.emit(one.name, part)
            if float(gap):
                time.sleep(float(gap))
        run_calls(calls, float(timeout), len(calls), already=True)
        return tally(one.result for one in calls)

    # The module, over netlink ------------------------------------------------

    def admin(self, name):
        """A socket that speaks weir in that namespace, with the module that is loaded now."""
        loaded = os.stat("/sys/module/weir").st_ino
        if name not in self.admins or self.admins[name].loaded != loaded:
            from admin import Admin     # not every test needs it, and it takes its time to load
            enter(self.places[name])
            self.admins[name] = Admin()
            self.admins[name].loaded = loaded
        return self.admins[name]

    def cmd_shown(self, name, service, text):
        """shown NAME SERVICE EXPR: evaluates EXPR over what the kernel shows of a service: S,
        its backends by address: B, what clients of each zone get by zone: Z (see view.py)."""
        from view import view
        for key, value in zip("SBZ", view(self.admin(name), service)):
            self.names[key] = value
        value = self.value(self.compiled(text), {})
        return value if isinstance(value, str) else json.dumps(value)

    def cmd_report(self, name, service, addr, weight="", **words):
        """report NAME SERVICE ADDR [check=up|down] [weight=N] [state=valid|missing|...]: what a
        health checker would say; health=auto|up|down: what the operator would."""
        self.admin(name).report(service, addr, weight=int(weight) if weight else None, **words)
        return "ok"

    def cmd_drops(self, name, kernel=""):
        """drops NAME [kernel=1]: what was not forwarded, by reason: "invalid=3 no-rule=1"."""
        return " ".join(f"{word}={number}" for word, number in
                        sorted(self.admin(name).reasons(bool(kernel)).items()))

    def cmd_lookups(self, name, src, dst, port, sport, n="1"):
        """lookups NAME SRC DST PORT SPORT [n=]: where SYNs from n ports on would go, tallied."""
        admin, known = self.admin(name), {}
        for i in range(1, 7):
            known[packet.packed(self.names[f"B{i}"])] = f"b{i}"
        said = (admin.lookup(src, dst, packet.TCP, int(sport) + i, int(port), syn=True)
                for i in range(int(n)))
        return tally(known.get(one.get("BACKEND", {}).get("ADDR"), "none") for one in said)

    # Others ------------------------------------------------------------------

    def cmd_packets(self, name, table, chain):
        """packets NAME TABLE CHAIN: what the rules of a chain of an inet table have counted."""
        if name not in self.rulesets:
            from nft import Nft     # as admin
            enter(self.places[name])
            self.rulesets[name] = Nft()
        return str(self.rulesets[name].packets(table, chain))

    def cmd_sysctl(self, name, path):
        """sysctl NAME PATH: what a file below /proc/sys says."""
        enter(self.places[name])
        with open(f"/proc/sys/{path}") as file:
            return file.read().strip()

    def cmd_stack(self, name, group, counter):
        """stack NAME GROUP COUNTER: what the network stack counts, as TcpExt TCPSynRetrans."""
        enter(self.places[name])
        with open("/proc/thread-self/net/netstat") as file:
            lines = [line.split() for line in file if line.startswith(group + ":")]
        return lines[1][lines[0].index(counter)]

    def cmd_json(self, text, *command):
        """json EXPR COMMAND...: runs it and evaluates EXPR over its JSON output J."""
        done = subprocess.run(command, capture_output=True, check=False, text=True)
        if done.returncode:
            return f"! {shlex.join(command)}: exit {done.returncode}: {done.stderr.strip()}"
        self.names["J"] = json.loads(done.stdout or "null")
        value = self.value(self.compiled(text), {})
        return value if isinstance(value, str) else json.dumps(value)

    def cmd_wire_sums(self, name, dev):
        """wire_sums NAME DEV: makes the stack write checksums itself, so captures can judge."""
        enter(self.places[name])
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            # ethtool commands ETHTOOL_STXCSUM, STSO and SGSO, off
            for command in (0x17, 0x1f, 0x24):
                value = ctypes.create_string_buffer(struct.pack("II", command, 0))
                request = struct.pack("16sQ16x", dev.encode(), ctypes.addressof(value))
                try:
                    fcntl.ioctl(sock, 0x8946, request)
                except OSError as err:
                    if err.errno != errno.EOPNOTSUPP:
                        raise
        return "ok"

    def answer(self, line):
        words, options = [], {}
        for word in shlex.split(line):
            match = re.match(r"([A-Za-z_]\w*)=(?!=)", word)
            if match and words and words[0] != "json":
                options[match[1]] = word[match.end():]
            else:
                words.append(word)
        return getattr(self, "cmd_" + words[0])(*words[1:], **options)


def main():
    agent = Agent(word.split("=") for word in sys.argv[1:])
    for line in sys.stdin:
        try:
            reply = agent.answer(line)
        except Exception as err:      # whatever it is, the test must hear of it
            where = err.__traceback__
            while where.tb_next:
                where = where.tb_next
            reply = f"! {line.strip()}: {type(err).__name__}: {err} " \
                    f"({os.path.basename(where.tb_frame.f_code.co_filename)}:{where.tb_lineno})"
        print(" ".join(reply.split("\n")), flush=True)


if __name__ == "__main__":
    main()
