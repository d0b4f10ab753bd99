# SPDX-License-Identifier: GPL-2.0
"""Configuration in the words of the documentation, straight over netlink."""
import os
import struct

from weirnl import (H, NLM_F_DUMP, NLM_F_REQUEST, U8, U16, U32, Refused, Weir, ip, ports,
                    split)

# What the services of a test forward by; a test for both modes is run once with each.
FORWARD = os.environ.get("WEIR_FORWARD", "nat")

SIZES = {"u8": U8, "u16": U16, "u32": U32}


def attrs(nest, words):
    """{"affinity": "client-ip", "idle-timeout": 60} as attributes of that nest."""
    out = {}
    for word, value in words.items():
        key = word.upper().replace("-", "_")
        if isinstance(value, str):
            const = f"WEIR_{key}_{value.upper().replace('-', '_')}"
            value = H.consts.get(const, value)
        if not isinstance(value, str):
            value = SIZES[H.kind(f"WEIR_{nest}_A_{key}")](value)
        out[key] = value
    return out


def dashed(options):
    """Options in the words of the documentation, which have _ for - in Python."""
    return {k.replace("_", "-"): v for k, v in options.items()}


def prefixes(*texts):
    """Records of a zone: length and address of each prefix, IPv4 as ::ffff:a.b.c.d."""
    out = b""
    for text in texts:
        addr, _, length = text.partition("/")
        raw = ip(addr)
        bits = int(length or len(raw) * 8)
        if len(raw) == 4:
            raw, bits = bytes(10) + b"\xff\xff" + raw, bits + 96
        out += U8(bits) + raw
    return out


def rule(vip, proto="any", *numbers):
    out = {"VIP": ip(vip), "PROTO": U8(H.consts["WEIR_PROTO_" + proto.upper()])}
    return {**out, "PORTS": ports(*numbers)} if numbers else out


class Admin(Weir):
    """A socket in the namespace that the process is in when it is made."""

    def begin(self, replace=False):
        self.do("TXN_BEGIN", {"REPLACE": True} if replace else {})

    def commit(self):
        self.do("TXN_COMMIT")

    def add_service(self, name, rules=(), backends=(), **options):
        """options in the words of the documentation, with _ for -."""
        if FORWARD != "nat":
            options.setdefault("forward", FORWARD)
        words = attrs("SERVICE", dashed(options))
        self.do("SERVICE_ADD", {"SERVICE_NAME": name, "SERVICE": words})
        for one in rules:
            self.do("RULE_ADD", {"SERVICE_NAME": name, "RULE": one})
        for addr in backends:
            self.add_backend(name, addr)

    def set_service(self, name, **options):
        words = attrs("SERVICE", dashed(options))
        self.do("SERVICE_SET", {"SERVICE_NAME": name, "SERVICE": words})

    def del_service(self, name):
        self.do("SERVICE_DEL", {"SERVICE_NAME": name})

    def member(self, cmd, name, addr, options):
        words = {"ADDR": ip(addr), **attrs("BACKEND", dashed(options))}
        self.do("BACKEND_" + cmd, {"SERVICE_NAME": name, "BACKEND": words})

    def add_backend(self, name, addr, **options):
        self.member("ADD", name, addr, options)

    def set_backend(self, name, addr, **options):
        self.member("SET", name, addr, options)

    def del_backend(self, name, addr, now=False):
        """Drains by the service's drain-timeout, but not now."""
        which = {"SERVICE_NAME": name, "BACKEND": {"ADDR": ip(addr)}}
        self.do("BACKEND_DEL", {**which, "NOW": True} if now else which)

    def health(self, name, addr, word, group="default"):
        """addr may be None: all of the group."""
        which = {"ADDR": ip(addr)} if addr else {"GROUP": group}
        self.do("BACKEND_SET", {"SERVICE_NAME": name,
                                "BACKEND": {**which, **attrs("BACKEND", {"health": word})}})

    def report(self, name, addr, check=None, weight=None, state=None, health=None):
        """What a health checker says: up or down, a weight, valid, missing, invalid, ...; or
        the operator's word."""
        words = {"ADDR": ip(addr)}
        if health:
            words["HEALTH"] = U8(H.consts["WEIR_HEALTH_" + health.upper()])
        if check:
            words["CHECK"] = U8(H.consts["WEIR_HEALTH_" + check.upper()])
        if weight is not None:
            words["REPORTED"] = U32(weight)
        if state:
            words["WEIGHT_STATE"] = U8(H.consts["WEIR_WEIGHT_STATE_" + state.upper()])
        self.do("BACKEND_SET", {"SERVICE_NAME": name, "BACKEND": words})

    def group(self, cmd, name, group, options):
        words = {"NAME": group, **attrs("GROUP", dashed(options))}
        self.do("GROUP_" + cmd, {"SERVICE_NAME": name, "GROUP": words})

    def add_group(self, name, group, **options):
        self.group("ADD", name, group, options)

    def set_group(self, name, group, **options):
        self.group("SET", name, group, options)

    def add_zone(self, name, *texts):
        self.do("ZONE_ADD", {"ZONE": {"NAME": name, "PREFIXES": prefixes(*texts)}})

    def del_zone(self, name, *texts):
        """Just these prefixes of it; all of it if there are none."""
        which = {"PREFIXES": prefixes(*texts)} if texts else {}
        self.do("ZONE_DEL", {"ZONE": {"NAME": name, **which}})

    def add_rule(self, name, one):
        self.do("RULE_ADD", {"SERVICE_NAME": name, "RULE": one})

    def del_rule(self, name, one):
        self.do("RULE_DEL", {"SERVICE_NAME": name, "RULE": one})

    def which(self, name, addr):
        out = {"SERVICE_NAME": name} if name else {}
        return {**out, "BACKEND": {"ADDR": ip(addr)}} if addr else out

    def flush(self, name=None, addr=None):
        """How many flows and sessions there were."""
        got = self.one("FLOW_FLUSH", self.which(name, addr))
        return got["N_FLOWS"], got["N_SESSIONS"]

    def flows(self, name=None, addr=None):
        return [m["FLOW"] for m in self.dump("FLOW_GET", self.which(name, addr)) if "FLOW" in m]

    def sessions(self, name=None, addr=None):
        return [m["SESSION"] for m in self.dump("FLOW_GET", self.which(name, addr))
                if "SESSION" in m]

    def reasons(self, kernel=False):
        """Packets that weir did not forward: {word: number}, without those that are 0; or
        those that the kernel's conntrack did not."""
        name, packets, flag = (H.consts["WEIR_REASON_A_" + w] for w in
                               ("NAME", "PACKETS", "KERNEL"))
        out = {}
        # Asked for very often: not by way of decode().
        for m in self.answers(self.put("COUNTER_GET", flags=NLM_F_REQUEST | NLM_F_DUMP)):
            for type_, nest in split(m.body[4:]):
                fields = dict(split(nest)) if type_ == H.consts["WEIR_A_REASON"] else {}
                count = struct.unpack("=Q", fields.get(packets, bytes(8)))[0]
                if count and (flag in fields) == kernel:
                    out[fields[name].rstrip(b"\0").decode()] = count
        return out

    def lookup(self, src, dst, proto, sport, dport, syn=False):
        """What would become of a packet: the verdict."""
        words = {"SRC": ip(src), "DST": ip(dst), "PROTO": U8(proto), "SPORT": U16(sport),
                 "DPORT": U16(dport)}
        return self.one("LOOKUP", {"PACKET": {**words, "SYN": True} if syn else words})["VERDICT"]

    def says(self, cmd, message):
        """What the kernel says to a change that it refuses, or None."""
        try:
            self.do(cmd, message)
        except Refused as error:
            return error.message
        return None


def since(before, now):
    """Reasons that counted meanwhile."""
    return {k: v - before.get(k, 0) for k, v in now.items() if v != before.get(k, 0)}
