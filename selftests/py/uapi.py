#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""uapi/linux/weir.h, uapi/weir.yaml and the policies in the running module say the same.

Header and spec: every constant, enum, attribute, command and group, in both directions.
Spec and module: what each command takes, as the kernel reports its policies.  The module
checks the range of integers and the length of strings itself, so each bound in the spec
is tried: its value is taken, the next one is refused with a message.
"""
import os
import struct
import sys

import yaml

import weirnl
from verdict import note, ok, run, same
from weirnl import H, U8, U16, U32, U64, Refused, Weir, ip, ports

with open(os.path.join(weirnl.HERE, "..", "..", "uapi", "weir.yaml")) as file:
    SPEC = yaml.safe_load(file)

SETS = {s["name"]: s for s in SPEC["attribute-sets"]}
DEFS = {d["name"]: d for d in SPEC["definitions"] if d["type"] == "enum"}
CONSTS = {d["name"]: d for d in SPEC["definitions"] if d["type"] == "const"}
OPS = SPEC["operations"]["list"]

# The kernel's words for types: enum netlink_attribute_type.
KERNEL_TYPES = {1: "flag", 2: "u8", 3: "u16", 4: "u32", 5: "u64", 10: "binary",
                11: "string", 12: "string", 13: "nest", 14: "indexed-array"}
TYPE, MIN_U, MAX_U, MIN_LEN, MAX_LEN, NESTED, MAXTYPE = 1, 4, 5, 6, 7, 8, 9
FULL = {"u8": 2**8 - 1, "u16": 2**16 - 1, "u32": 2**32 - 1, "u64": 2**64 - 1}
UNS_ADMIN_PERM, CAP_DO, CAP_DUMP, ADMIN_PERM = 0x10, 0x02, 0x04, 0x01


def upper(text):
    return text.upper().replace("-", "_")


def attributes(name):
    """Attributes of a set by name, a subset's with what it inherits."""
    own = SETS[name]
    if "subset-of" not in own:
        return {a["name"]: a for a in own["attributes"]}
    whole = attributes(own["subset-of"])
    return {a["name"]: {**whole[a["name"]], **a} for a in own["attributes"]}


def whole_set(name):
    return SETS[SETS[name].get("subset-of", name)]


def value_of(set_name, attribute):
    return H.consts[upper(whole_set(set_name)["name-prefix"] + attribute)]


# Header and spec ---------------------------------------------------------------------------

def as_enum(prefix, names, first):
    values = {upper(prefix + n): first + i for i, n in enumerate(names)}
    values["__" + upper(prefix + "max")] = first + len(names)
    return values


def from_spec():
    """The header's enums as the spec tells them."""
    out = {}
    for d in DEFS.values():
        names = [e if isinstance(e, str) else e["name"] for e in d["entries"]]
        out[d["enum-name"]] = as_enum(d["name-prefix"], names, 0)
    for s in SETS.values():
        if "subset-of" not in s:
            names = ["unspec"] + [a["name"] for a in s["attributes"]]
            out[s["enum-name"]] = as_enum(s["name-prefix"], names, 0)
    ops = ["unspec"] + [o["name"] for o in OPS]
    out[SPEC["operations"]["enum-name"]] = as_enum(SPEC["operations"]["name-prefix"], ops, 0)
    return {name.replace("-", "_"): values for name, values in out.items()}


def test_enums():
    """enums of header and spec"""
    spec = from_spec()
    same("header and spec have the same enums", sorted(spec), sorted(H.enums))
    for name in sorted(set(spec) & set(H.enums)):
        same(f"enum {name}", H.enums[name], spec[name])


def test_constants():
    """constants of header and spec"""
    want = {"WEIR_" + upper(n): d["value"] for n, d in CONSTS.items()}
    want[upper(SPEC["c-family-name"])] = SPEC["name"]
    want[upper(SPEC["c-version-name"])] = SPEC["version"]
    for group in SPEC["mcast-groups"]["list"]:
        want[upper(group["c-define-name"])] = group["name"]
    in_enums = {n for values in H.enums.values() for n in values}
    maxima = {n.removeprefix("__") for n in in_enums if n.startswith("__")}
    got = {n: v for n, v in H.consts.items() if n not in in_enums | maxima}
    same("constants", got, want)


def test_kinds():
    """types in the header's comments"""
    for s in SETS.values():
        if "subset-of" in s:
            continue
        enum = s["enum-name"].replace("-", "_")
        undocumented = [n for n in H.enums[enum] if not n.startswith("__") and n not in H.docs]
        same(f"{enum}: each attribute has a comment", undocumented, [])
        wrong = []
        for a in s["attributes"]:
            kind = H.kind(upper(s["name-prefix"] + a["name"]))
            want = {"binary": "bytes", "pad": "bytes"}.get(a["type"], a["type"])
            if a["type"] == "nest":
                want = "nest of " + whole_set(a["nested-attributes"])["enum-name"].replace("-", "_")
            if kind != want and not (kind == "u64" and a["type"] == "pad"):
                wrong.append((a["name"], kind, want))
        same(f"{enum}: the comments name the spec's types", wrong, [])


def test_docs():
    """the spec documents everything"""
    bare = [o["name"] for o in OPS if not o.get("doc")]
    for s in SETS.values():
        bare += [s["name"]] if not s.get("doc") else []
        if "subset-of" not in s:
            bare += [f"{s['name']}/{a['name']}" for a in s["attributes"]
                     if a["type"] != "pad" and not a.get("doc")]
    for d in SPEC["definitions"]:
        bare += [d["name"]] if not d.get("doc") else []
        bare += [f"{d['name']}/{e}" for e in d.get("entries", [])
                 if isinstance(e, str) or not e.get("doc")]
    same("everything in the spec has a doc", bare, [])
    commands = [n for n in H.enums["weir_cmd"] if not n.startswith("__") and n not in H.docs]
    same("each command has a comment in the header", commands, [])


# Spec and module ---------------------------------------------------------------------------

class Policies:
    """CTRL_CMD_GETPOLICY: the table of each command, and all tables."""

    def __init__(self, weir):
        self.ops, self.tables = {}, {}
        # Some kernels (6.12) report commands that are only a dump as number 0, in order.
        unnamed = [op for op, flags in weir.ops.items() if not flags & CAP_DO]
        for body in weirnl.control(weir, weirnl.CTRL_CMD_GETPOLICY,
                                   [(weirnl.CTRL_ATTR_FAMILY_ID, U16(weir.family))],
                                   weirnl.NLM_F_REQUEST | weirnl.NLM_F_DUMP):
            for type_, payload in weirnl.split(body):
                if type_ == weirnl.CTRL_ATTR_OP_POLICY:
                    for op, kinds in weirnl.split(payload):
                        self.ops[op or unnamed.pop(0)] = {
                            k: struct.unpack("=I", v)[0] for k, v in weirnl.split(kinds)}
                elif type_ == weirnl.CTRL_ATTR_POLICY:
                    self.add(payload)

    def add(self, payload):
        for index, entries in weirnl.split(payload):
            for number, fields in weirnl.split(entries):
                self.tables.setdefault(index, {})[number] = {
                    k: int.from_bytes(v, sys.byteorder) for k, v in weirnl.split(fields)}


def lengths(attribute):
    checks = attribute.get("checks", {})
    exact = checks.get("exact-len")
    return (exact or checks.get("min-len", 0)), (exact or checks.get("max-len"))


def compare_attribute(got, attribute):
    """What is wrong with the policy of one attribute, or nothing."""
    type_ = KERNEL_TYPES.get(got[TYPE], got[TYPE])
    if type_ != attribute["type"]:
        return f"type {type_}"
    if type_ in FULL and (got.get(MIN_U, 0), got.get(MAX_U)) != (0, FULL[type_]):
        return f"range {got.get(MIN_U)}..{got.get(MAX_U)} refuses without a sentence"
    if type_ == "binary":
        low, high = lengths(attribute)
        if got.get(MIN_LEN, 0) != low:
            return f"min-len {got.get(MIN_LEN)}"
        # Arrays are longer than their policy allows only by a refusal with a sentence.
        longer = "sub-type" in attribute or high is None
        if MAX_LEN in got and not (got[MAX_LEN] == high or longer and got[MAX_LEN] > (high or 0)):
            return f"max-len {got[MAX_LEN]}"
    return ""


def compare(policies, index, set_name, names, path, wrong):
    """One table with the attributes of a set that may come."""
    table = policies.tables.get(index, {})
    known = attributes(set_name)
    want = {value_of(set_name, n): n for n in names}
    for number in sorted(set(table) | set(want)):
        if number not in table or number not in want:
            wrong.append(f"{path}: {want.get(number, number)} is only in "
                         f"{'the module' if number in table else 'the spec'}")
            continue
        attribute, where = known[want[number]], f"{path}/{want[number]}"
        problem = compare_attribute(table[number], attribute)
        if problem:
            wrong.append(f"{where}: {problem}")
        elif attribute["type"] == "nest":
            nested = attribute["nested-attributes"]
            enum = H.enums[whole_set(nested)["enum-name"].replace("-", "_")]
            if table[number].get(MAXTYPE) != max(enum.values()) - 1:
                wrong.append(f"{where}: max type {table[number].get(MAXTYPE)}")
            inner = [n for n, a in attributes(nested).items() if a["type"] != "pad"]
            compare(policies, table[number].get(NESTED), nested, inner, where, wrong)


def test_policies():
    """policies of the module"""
    weir = Weir()
    policies = Policies(weir)
    note(f"{len(policies.ops)} commands, {len(policies.tables)} tables")
    for number, op in enumerate(OPS, 1):
        if "event" in op:
            same(f"{op['name']}: is no command", number in weir.ops, False)
            continue
        kind = "do" if "do" in op else "dump"
        indices = policies.ops.get(number, {})
        wrong = []
        if sorted(indices) != [1 if kind == "do" else 2]:
            wrong.append(f"policies for {sorted(indices)}, not for {kind}")
        for index in indices.values():
            compare(policies, index, op["attribute-set"],
                    op[kind]["request"]["attributes"], op["name"], wrong)
        same(f"{op['name']}: the policy is what the spec says", wrong, [])
        flags = weir.ops.get(number, 0)
        same(f"{op['name']}: {kind}, and who may",
             (bool(flags & CAP_DO), bool(flags & CAP_DUMP), bool(flags & UNS_ADMIN_PERM),
              bool(flags & ADMIN_PERM)),
             (kind == "do", kind == "dump", "uns-admin-perm" in op.get("flags", []), False))
    same("no other command", sorted(weir.ops), [n for n, o in enumerate(OPS, 1) if "do" in o or "dump" in o])
    same("groups", sorted(weir.groups), [g["name"] for g in SPEC["mcast-groups"]["list"]])


# Bounds ------------------------------------------------------------------------------------

# A good request of each kind, by the set of the nest that has the bound.
GOOD = {
    "service": ("SERVICE_SET", "SERVICE", {}),
    "rule": ("RULE_ADD", "RULE", {"VIP": ip("2001:db8::9"), "PROTO": U8(1)}),
    "group": ("GROUP_ADD", "GROUP", {"NAME": "west"}),
    "backend": ("BACKEND_ADD", "BACKEND", {"ADDR": ip("10.2.0.99")}),
    "zone": ("ZONE_ADD", "ZONE", {"NAME": "a", "PREFIXES": bytes(17)}),
    "packet": ("LOOKUP", "PACKET", {"SRC": ip("10.1.0.1"), "DST": ip("203.0.113.9"),
                                    "PROTO": U8(6)}),
    "pin": ("PIN", "PIN", {"VIP": ip("203.0.113.9"), "SPORT": U16(1000), "DPORT": U16(80),
                           "LIFE": U32(1)}),
    "backend-report": ("REPORT", "BACKEND", {"ADDR": ip("10.2.0.99"), "PROBE_PASSED": U8(1)}),
}
INTS = {"u8": U8, "u16": U16, "u32": U32, "u64": U64}


def bounds(attribute):
    """Values at the bounds, and values behind them."""
    checks = attribute.get("checks", {})
    make, good, bad = INTS.get(attribute["type"]), [], []
    low, high = checks.get("min"), checks.get("max")
    if "enum" in attribute:
        low, high = 0, len(DEFS[attribute["enum"]]["entries"]) - 1
    if make:
        good += [make(n) for n in (low, high) if n is not None]
        bad += [make(high + 1)] if high is not None else []
        bad += [make(low - 1)] if low else []
    elif attribute["type"] == "string" and "max-len" in checks:
        good.append("x" * checks["max-len"])
        bad.append("x" * (checks["max-len"] + 1))
    elif attribute["type"] == "binary":
        low, high = lengths(attribute)
        unit = 2 if attribute.get("sub-type") == "u16" else 1
        bad += [bytes(low - unit)] if low else []
        if unit == 2:
            good.append(ports(*range(1, high // 2 + 1)))
            bad.append(ports(*range(1, high // 2 + 2)))
        elif high:
            bad.append(bytes([10] * (high + unit)))
    return good, bad


def attempt(weir, cmd, attrs):
    """None, or how it was refused; nothing stays."""
    weir.do("TXN_BEGIN")
    try:
        weir.do(cmd, attrs)
        return None
    except Refused as refused:
        return refused
    finally:
        weir.do("TXN_ABORT")


def try_bounds(weir, nest, name, attribute):
    cmd, outer, base = GOOD[nest]
    good, bad = bounds(attribute)
    wrong = []
    for value, fits in [(v, True) for v in good] + [(v, False) for v in bad]:
        attrs = {outer: {**base, upper(name): value}}
        if nest not in ("zone", "packet"):
            attrs["SERVICE_NAME"] = "web"
        if nest == "pin":
            attrs["BACKEND"] = {"ADDR": ip("10.2.0.99")}
        if nest == "backend-report":
            attrs = {"REPORT": attrs}
        refused = attempt(weir, cmd, attrs)
        shown = value if len(value) < 20 else f"{len(value)} bytes"
        # A value in range may still not be supported, or be the wrong one here.
        if fits and refused and refused.name == "ERANGE":
            wrong.append(f"{shown} is in range: {refused}")
        if not fits and not refused:
            wrong.append(f"{shown} is out of range and was taken")
        if not fits and refused and not refused.message:
            wrong.append(f"{shown}: {refused.name} without a message")
        if not fits and refused and refused.offset is None:
            wrong.append(f"{shown}: the message does not point at the attribute")
    if good or bad:
        same(f"{nest}/{name}: {len(good)} bounds hold, {len(bad)} values behind them are refused",
             wrong, [])


def test_bounds():
    """bounds of values"""
    weir = Weir()
    weir.do("TXN_BEGIN", {"REPLACE": True})
    weir.do("SERVICE_ADD", {"SERVICE_NAME": "web"})
    weir.do("TXN_COMMIT")
    requests = {"service": "service-options", "backend": "backend-values"}
    for nest in GOOD:
        for name, attribute in attributes(requests.get(nest, nest)).items():
            try_bounds(weir, nest, name, attribute)
    for length in (31, 32):
        refused = attempt(weir, "SERVICE_ADD", {"SERVICE_NAME": "x" * length})
        same(f"service-name: {length} bytes", refused is None, length == 31)
    for length in (15, 16, 17):
        weir.do("TXN_BEGIN")
        try:
            weir.do("TXN_COMMIT", {"DRY_RUN": True, "HASH_KEY": bytes(length)})
            taken = True
        except Refused as refused:
            taken = not ok(f"hash-key: {length} bytes are refused with a message", refused.message)
            weir.do("TXN_ABORT")
        same(f"hash-key: {length} bytes", taken, length == 16)


run(test_enums, test_constants, test_kinds, test_docs, test_policies, test_bounds)
