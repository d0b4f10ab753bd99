#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What no tool would send: each is refused or ignored, and nothing is changed.

netlink_malformed.py [SEED]
"""
import errno
import random
import struct
import sys

from netlink_lab import TCP, backend, rule, state, usual, with_direct
from verdict import note, ok, run, same
from weirnl import (H, NLA_F_NESTED, NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, U8, U16, U32, Refused, Weir,
                    attr, encode, ip)

A = H.consts
NAME = encode({"SERVICE_NAME": "web"})
NESTED = NLA_F_NESTED
NET_BYTEORDER = 0x4000


def nest(kind, payload, flags=NESTED):
    return attr(A["WEIR_A_" + kind] | flags, payload)


def of(kind, name, payload, flags=NESTED):
    return NAME + nest(kind, attr(A[f"WEIR_{kind}_A_{name}"], payload), flags)


# (what, command, attributes as bytes, errno)
CASES = [
    ("no attribute at all", "BACKEND_ADD", b"", "EINVAL"),
    ("an unknown attribute", "SERVICE_DEL", NAME + attr(99, b""), "EINVAL"),
    ("the attribute after the last", "SERVICE_DEL", NAME + attr(A["WEIR_A_MAX"] + 1, b""), "EINVAL"),
    ("attribute 0", "SERVICE_DEL", NAME + attr(0, b"1234"), "EINVAL"),
    ("the padding attribute", "SERVICE_DEL", NAME + attr(A["WEIR_A_PAD"], b""), "EINVAL"),
    ("the greatest attribute", "SERVICE_DEL", NAME + attr(0x3fff, b""), "EINVAL"),
    ("an attribute of answers", "SERVICE_DEL", NAME + attr(A["WEIR_A_N_ADDED"], U32(1)), "EINVAL"),
    ("an attribute of another command", "SERVICE_DEL", of("SERVICE", "HAIRPIN", U8(1)), "EINVAL"),
    ("a flag of another command", "SERVICE_ADD", NAME + attr(A["WEIR_A_REPLACE"], b""), "EINVAL"),
    ("an attribute where none is taken", "INFO_GET", NAME, "EINVAL"),
    ("an attribute where none is taken", "TXN_ABORT", NAME, "EINVAL"),
    ("two objects", "RULE_ADD", NAME + nest("RULE", b"") + nest("BACKEND", b""), "EINVAL"),
    ("a read-only value", "SERVICE_SET", of("SERVICE", "DIGEST", bytes(8)), "EINVAL"),
    ("a read-only value", "BACKEND_SET", of("BACKEND", "SLOTS", U32(1)), "EINVAL"),
    ("a value with a key", "GROUP_DEL", of("GROUP", "FAILOVER", U8(1)), "EINVAL"),
    ("a value with a key", "BACKEND_DEL", of("BACKEND", "HEALTH", U8(1)), "EINVAL"),
    ("an unknown attribute in a nest", "SERVICE_SET", NAME + nest("SERVICE", attr(200, b"")), "EINVAL"),
    ("attribute 0 in a nest", "SERVICE_SET", NAME + nest("SERVICE", attr(0, b"")), "EINVAL"),
    ("a nest without its flag", "SERVICE_SET", of("SERVICE", "HAIRPIN", U8(1), 0), "EINVAL"),
    ("the flag on what is no nest", "SERVICE_DEL",
     attr(A["WEIR_A_SERVICE_NAME"] | NESTED, b"web\0"), "EINVAL"),
    ("the flag on a number in a nest", "SERVICE_SET",
     NAME + nest("SERVICE", attr(A["WEIR_SERVICE_A_HAIRPIN"] | NESTED, U8(1))), "EINVAL"),
    ("an empty nest", "BACKEND_ADD", NAME + nest("BACKEND", b""), "EINVAL"),
    ("a nest of one byte", "BACKEND_ADD", NAME + nest("BACKEND", b"x"), "ERANGE"),
    ("a nest of three bytes", "RULE_ADD", NAME + nest("RULE", b"xyz"), "ERANGE"),
    ("leftover bytes in a nest", "SERVICE_SET",
     NAME + nest("SERVICE", attr(A["WEIR_SERVICE_A_HAIRPIN"], U8(1)) + b"xx"), "EINVAL"),
    ("leftover bytes in a message", "SERVICE_DEL", NAME + b"\0\0\0", "EINVAL"),
    ("an attribute longer than its message", "SERVICE_DEL",
     struct.pack("=HH", 400, A["WEIR_A_SERVICE_NAME"]) + b"web\0", "EINVAL"),
    ("an attribute shorter than its header", "SERVICE_DEL",
     struct.pack("=HH", 3, A["WEIR_A_SERVICE_NAME"]) + b"web\0", "EINVAL"),
    ("an attribute longer than its nest", "SERVICE_SET",
     NAME + nest("SERVICE", struct.pack("=HHI", 100, A["WEIR_SERVICE_A_HAIRPIN"], 1)), "EINVAL"),
    ("a string without a NUL", "SERVICE_DEL", attr(A["WEIR_A_SERVICE_NAME"], b"web"), "EINVAL"),
    ("a string of no bytes", "SERVICE_DEL", attr(A["WEIR_A_SERVICE_NAME"], b""), "EINVAL"),
    ("a string of no bytes in a nest", "SERVICE_SET", of("SERVICE", "HEALTH_CHECK", b""), "EINVAL"),
    ("a string without a NUL in a nest", "GROUP_ADD", of("GROUP", "NAME", b"x" * 40), "EINVAL"),
    ("a u8 of no bytes", "SERVICE_SET", of("SERVICE", "HAIRPIN", b""), "EINVAL"),
    ("a u8 of four bytes", "SERVICE_SET", of("SERVICE", "HAIRPIN", U32(1)), "EINVAL"),
    ("a u32 of one byte", "SERVICE_SET", of("SERVICE", "IDLE_TIMEOUT", U8(60)), "EINVAL"),
    ("a u32 of eight bytes", "SERVICE_SET", of("SERVICE", "IDLE_TIMEOUT", bytes(8)), "EINVAL"),
    ("a u16 of one byte", "BACKEND_SET", of("BACKEND", "PORT", U8(80)), "EINVAL"),
    ("an address of three bytes", "BACKEND_ADD", of("BACKEND", "ADDR", bytes(3)), "ERANGE"),
    ("an address of seventeen bytes", "BACKEND_ADD", of("BACKEND", "ADDR", bytes(17)), "ERANGE"),
    ("no ports in an array", "RULE_ADD",
     NAME + encode({"RULE": {**rule("203.0.113.1", TCP), "PORTS": b""}}), "ERANGE"),
    ("one byte of ports", "RULE_ADD",
     NAME + encode({"RULE": {**rule("203.0.113.1", TCP), "PORTS": b"x"}}), "ERANGE"),
    ("a flag with a value", "TXN_BEGIN", attr(A["WEIR_A_REPLACE"], U8(1)), "ERANGE"),
    ("a key of 15 bytes", "TXN_COMMIT", attr(A["WEIR_A_HASH_KEY"], bytes(15)), "ERANGE"),
    ("a value of a backend with a pin", "PIN", of("BACKEND", "PORT", U16(80)), "EINVAL"),
    ("a u16 of four bytes", "PIN", NAME + nest("PIN", attr(A["WEIR_PIN_A_SPORT"], U32(1))), "EINVAL"),
    ("a nest in a nest", "SERVICE_SET", NAME + nest("SERVICE", nest("SERVICE", b"")), "EINVAL"),
    ("an attribute of 65535 bytes", "SERVICE_SET",
     NAME + nest("SERVICE", attr(A["WEIR_SERVICE_A_HEALTH_CHECK"], b"h" * 65000)[:65523]), "EINVAL"),
]


def outcome(weir, send):
    """How send() was answered: the error's name and whether it had a message."""
    try:
        weir.answers(send())
        return "taken", True
    except Refused as refused:
        return refused.name, bool(refused.message)


def test_cases():
    """malformed attributes"""
    weir = usual()
    before = state(weir)
    for what, cmd, body, error in CASES:
        same(f"{what} ({cmd}): {error}, with a message",
             outcome(weir, lambda: weir.put(cmd, body)), (error, True))
    same("nothing has changed", state(weir), before)


def test_headers():
    """malformed headers"""
    weir = usual()
    before = state(weir)
    for cmd in (0, A["WEIR_CMD_EVENT"], A["WEIR_CMD_MAX"] + 1, 255):
        same(f"command {cmd}: EOPNOTSUPP", outcome(weir, lambda: weir.put(cmd, NAME))[0], "EOPNOTSUPP")
    dump = NLM_F_REQUEST | NLM_F_ACK | NLM_F_DUMP
    same("a dump of what is no dump: EOPNOTSUPP",
         outcome(weir, lambda: weir.put("SERVICE_DEL", NAME, flags=dump))[0], "EOPNOTSUPP")
    same("no dump of what is one: EOPNOTSUPP", outcome(weir, lambda: weir.put("CONFIG_GET"))[0],
         "EOPNOTSUPP")
    for flag in (0x100, 0x200, 0x400, 0x800, 0x8000):
        flags = NLM_F_REQUEST | NLM_F_ACK | flag
        same(f"flag {flag:#x}: EINVAL, with a message",
             outcome(weir, lambda: weir.put("SERVICE_DEL", NAME, flags=flags)), ("EINVAL", True))
    same("a reserved field that is not 0: EINVAL, with a message",
         outcome(weir, lambda: weir.put("SERVICE_DEL", NAME, reserved=1)), ("EINVAL", True))
    for size in range(4):
        same(f"{size} bytes instead of a header: EINVAL",
             outcome(weir, lambda: weir.send(weir.family, bytes(size)))[0], "EINVAL")
    for length in (0, 15, 16, 19, 1000, 2**32 - 1):
        body = struct.pack("=BBH", A["WEIR_CMD_SERVICE_DEL"], 1, 0) + NAME
        weir.send(weir.family, body, length=length)
    for data in (b"", b"x" * 15):
        try:
            weir.sock.send(data)
        except OSError as error:  # newer kernels say so at once
            same(f"{len(data)} bytes are no message", error.errno, errno.ENODATA)
    same("nothing has changed", state(Weir()), before)


def test_repeated():
    """attributes that come twice, and several requests in one datagram"""
    weir = usual()
    weir.do("SERVICE_ADD", [("SERVICE_NAME", "first"), ("SERVICE_NAME", "last")])
    same("of two names the last counts", {m["SERVICE_NAME"] for m in weir.config()}, {"web", "last"})
    weir.do("SERVICE_SET", [("SERVICE_NAME", "web"), ("SERVICE", {"IDLE_TIMEOUT": U32(60)}),
                            ("SERVICE", {"HAIRPIN": U8(0)})])
    got = weir.config({"SERVICE_NAME": "web"})[0]["SERVICE"]
    same("of two nests the last counts", (got["IDLE_TIMEOUT"], got["HAIRPIN"]), (600, 0))
    out, count = b"", 100
    for i in range(count):
        body = struct.pack("=BBH", A["WEIR_CMD_SERVICE_DEL"], 1, 0) + NAME
        out += struct.pack("=IHHII", 16 + len(body), weir.family, NLM_F_REQUEST | NLM_F_ACK, 1000 + i, 0)
        out += body
    weir.sock.send(out)
    got = [weir.receive().error() for _ in range(count)]
    same("of 100 equal requests the first is carried out", (got[0], {e.name for e in got[1:]}),
         (0, {"ENOENT"}))
    same("and each message of the others is whole", {e.message for e in got[1:]},
         {"service web: there is none; weir service add web makes it"})


GOOD = [
    ("SERVICE_ADD", {"SERVICE_NAME": "f", "SERVICE": {"IDLE_TIMEOUT": U32(60), "HEALTH_CHECK": "http"}}),
    ("SERVICE_SET", {"SERVICE_NAME": "web", "SERVICE": {"TABLE_SIZE": U32(1031), "HAIRPIN": U8(1)}}),
    ("RULE_ADD", {"SERVICE_NAME": "web", "RULE": rule("203.0.113.77", TCP, 1, 2, 3)}),
    ("RULE_DEL", {"SERVICE_NAME": "web", "RULE": rule("203.0.113.10", TCP, 80, 443)}),
    ("GROUP_ADD", {"SERVICE_NAME": "web", "GROUP": {"NAME": "f", "ZONE": "", "FAILOVER": U8(0)}}),
    ("GROUP_SET", {"SERVICE_NAME": "web", "GROUP": {"NAME": "east", "FAILOVER": U8(0)}}),
    ("GROUP_DEL", {"SERVICE_NAME": "web", "GROUP": {"NAME": "east"}}),
    ("BACKEND_ADD", {"SERVICE_NAME": "web", "BACKEND": backend("10.2.0.77", GROUP="east", PORT=U16(8))}),
    ("BACKEND_SET", {"SERVICE_NAME": "web", "BACKEND": backend("10.2.0.11", HEALTH=U8(1), CHECK=U8(2))}),
    ("BACKEND_SET", {"SERVICE_NAME": "web", "BACKEND": {"GROUP": "west", "WEIGHT": U32(1)}}),
    ("BACKEND_DEL", {"SERVICE_NAME": "web", "BACKEND": {"GROUP": "west"}, "NOW": True}),
    ("ZONE_ADD", {"ZONE": {"NAME": "a", "PREFIXES": bytes(34)}}),
    ("TXN_BEGIN", {"REPLACE": True, "GENERATION": U32(1)}), ("TXN_COMMIT", {"HASH_KEY": bytes(16)}),
    ("TXN_ABORT", {}), ("INFO_GET", {}), ("FLOW_FLUSH", {"SERVICE_NAME": "web"}),
    ("LOOKUP", {"PACKET": {"SRC": ip("10.1.0.1"), "DST": ip("203.0.113.10"), "PROTO": U8(6),
                           "SPORT": U16(1), "DPORT": U16(80), "SYN": True}}),
    ("CONFIG_GET", {"SERVICE_NAME": "web", "WITH_FLOWS": True}),
    ("FLOW_GET", {"BACKEND": backend("10.2.0.11")}), ("COUNTER_GET", {}),
    ("REPORT", {"REPORT": {"SERVICE_NAME": "web", "BACKEND": backend(
        "10.2.0.11", CHECK=U8(2), REPORTED=U32(3), PROBE_PASSED=U8(0), PROBE_RUN=U32(2),
        PROBE_TEXT="HTTP 503")}}),
    ("PIN", {"SERVICE_NAME": "direct", "BACKEND": backend("10.2.0.11"), "PIN": {
        "VIP": ip("203.0.113.20"), "SPORT": U16(1000), "DPORT": U16(80), "LIFE": U32(1)}}),
]


DUMPS = {A["WEIR_CMD_" + cmd] for cmd in ("CONFIG_GET", "FLOW_GET", "COUNTER_GET")}


def mutate(chance, body):
    """A message with a few things wrong."""
    body = bytearray(body)
    for _ in range(chance.randint(1, 4)):
        kind, at = chance.randrange(5), chance.randrange(len(body)) if body else 0
        if kind == 0 and body:
            body[at] ^= 1 << chance.randrange(8)
        elif kind == 1 and body:
            body[at] = chance.choice((0, 1, 4, 0x7f, 0x80, 0xff))
        elif kind == 2:
            del body[at:at + chance.randint(1, 9)]
        elif kind == 3:
            body[at:at] = chance.randbytes(chance.randint(1, 9))
        elif len(body) >= 4:
            at -= at % 4
            body[at:at + 2] = U16(chance.choice((0, 3, 4, 5, 8, len(body), 0x7fff, 0xffff)))
    return bytes(body)


def test_random():
    """mutated messages"""
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else random.randrange(2**32)
    note(f"seed {seed}: py/netlink_malformed.py {seed} does it again")
    chance, weir = random.Random(seed), with_direct()
    counts = {}
    for i in range(4000):
        if i % 400 == 0:
            weir.close()
            weir = with_direct()
        cmd, attrs = chance.choice(GOOD)
        code = A["WEIR_CMD_" + cmd] if chance.random() < .95 else chance.randrange(30)
        flags = NLM_F_REQUEST | (NLM_F_DUMP if code in DUMPS else NLM_F_ACK)
        name, message = outcome(weir, lambda: weir.put(code, mutate(chance, encode(attrs)), flags=flags))
        if not message and name not in ("EOPNOTSUPP", "ENOMEM"):
            ok(f"message {i} of seed {seed}: {name} comes with a message", False)
        counts[name] = counts.get(name, 0) + 1
    note(counts)
    ok("4000 of them, of which most are refused", counts.get("EINVAL", 0) > 1000, counts)
    weir.close()
    weir = usual()
    same("afterwards all is well", len(weir.config()), 7)


run(test_cases, test_headers, test_repeated, test_random)
