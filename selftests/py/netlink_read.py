#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What is set is read back; what is left out keeps its value or takes its default."""
from netlink_lab import ANY, TCP, UDP, backend, clear, rule, usual
from verdict import ok, run, same
from weirnl import H, U8, U16, U32, Weir, ip, ports

DEFAULTS = {"AFFINITY": 0, "TRACKING": 0, "PERSISTENCE": 0, "IDLE_TIMEOUT": 600,
            "DRAIN_TIMEOUT": 0, "FAILOVER_RATIO": 0, "DROP_IF_UNHEALTHY": 0,
            "DRAIN_ON_FAILOVER": 1, "ZONAL_AFFINITY": 0, "SPILL_RATIO": 0, "LOCALITY": 0,
            "FORWARD": 0, "WHEN_EMPTY": 0, "HAIRPIN": 1, "TABLE_SIZE": 0}


def objects(weir, kind, **attrs):
    return [m[kind] for m in weir.config(attrs) if kind in m]


def options(weir, name="web"):
    got = objects(weir, "SERVICE", SERVICE_NAME=name)[0]
    return {k: got[k] for k in DEFAULTS}


def test_options():
    """options of a service"""
    weir = clear()
    weir.do("SERVICE_ADD", {"SERVICE_NAME": "web"})
    same("the defaults", options(weir), DEFAULTS)
    ok("no health-check", "HEALTH_CHECK" not in objects(weir, "SERVICE")[0])
    weir.do("SERVICE_SET", {"SERVICE_NAME": "web", "SERVICE": {
        "AFFINITY": U8(3), "PERSISTENCE": U8(1), "IDLE_TIMEOUT": U32(61), "WHEN_EMPTY": U8(1),
        "HAIRPIN": U8(0), "TABLE_SIZE": U32(1031), "HEALTH_CHECK": "http port 8080"}})
    changed = {**DEFAULTS, "AFFINITY": 3, "PERSISTENCE": 1, "IDLE_TIMEOUT": 61, "WHEN_EMPTY": 1,
               "HAIRPIN": 0, "TABLE_SIZE": 1031}
    same("all that can be set", options(weir), changed)
    same("the health-check", objects(weir, "SERVICE")[0]["HEALTH_CHECK"], "http port 8080")
    weir.do("SERVICE_SET", {"SERVICE_NAME": "web", "SERVICE": {"IDLE_TIMEOUT": U32(600)}})
    same("what is left out keeps its value", options(weir), {**changed, "IDLE_TIMEOUT": 600})
    weir.do("SERVICE_SET", {"SERVICE_NAME": "web", "SERVICE": {"HEALTH_CHECK": ""}})
    ok("an empty health-check removes it", "HEALTH_CHECK" not in objects(weir, "SERVICE")[0])
    weir.do("SERVICE_SET", {"SERVICE_NAME": "web",
                            "SERVICE": {"TRACKING": U8(1), "IDLE_TIMEOUT": U32(57600)}})
    got = options(weir)
    same("sessions may be idle longer", (got["TRACKING"], got["IDLE_TIMEOUT"]), (1, 57600))
    before = weir.generation()
    weir.do("SERVICE_SET", {"SERVICE_NAME": "web", "SERVICE": {}})
    same("a set of nothing makes no generation", weir.generation(), before)
    explicit = {k: (U8 if k not in ("IDLE_TIMEOUT", "DRAIN_TIMEOUT", "FAILOVER_RATIO",
                                    "SPILL_RATIO", "TABLE_SIZE") else U32)(v)
                for k, v in DEFAULTS.items()}
    weir.do("SERVICE_ADD", {"SERVICE_NAME": "two", "SERVICE": explicit})
    same("defaults that are written out are taken", options(weir, "two"), DEFAULTS)


def test_members():
    """rules, groups and backends"""
    weir = usual()
    same("a rule, its ports ascending", objects(weir, "RULE"),
         [{"VIP": ip("203.0.113.10"), "PLEN": 32, "PROTO": TCP, "PORTS": ports(80, 443)}])
    same("groups, sorted", [g["NAME"] for g in objects(weir, "GROUP")], ["east", "west"])
    got = objects(weir, "BACKEND")
    same("backends, sorted", [(b["ADDR"], b["GROUP"]) for b in got],
         [(ip("10.2.0.11"), "default"), (ip("10.2.0.12"), "east"), (ip("10.2.0.13"), "west")])
    same("their defaults", {(b["PORT"], b["WEIGHT"], b["HEALTH"], b["CHECK"], b["STATE"], b["HEALTHY"],
                             b["ELIGIBLE"]) for b in got}, {(0, 1, 0, 0, 0, 1, 1)})
    service = objects(weir, "SERVICE")[0]
    same("the shares add up", sum(b["SLOTS"] for b in got), service["TABLE_SLOTS"])
    same("how many", [service[k] for k in ("N_BACKENDS", "N_HEALTHY", "N_ELIGIBLE", "ELIGIBLE")],
         [3, 3, 3, H.consts["WEIR_ELIGIBLE_HEALTHY"]])
    ok("no flows are counted unasked", all("N_FLOWS" not in b for b in got))
    flows = [b["N_FLOWS"] for b in objects(weir, "BACKEND", WITH_FLOWS=True)]
    same("asked for, they are", flows, [0, 0, 0])
    counters = {k.removeprefix("WEIR_COUNTER_A_") for k in H.enums["weir_counter_attr"]} - {
        "UNSPEC", "PAD", "__WEIR_COUNTER_A_MAX"}
    same("all counters, and they are 0", [b["COUNTERS"] for b in got], [dict.fromkeys(
        sorted(counters, key=lambda c: H.consts["WEIR_COUNTER_A_" + c]), 0)] * 3)
    same("those of the service too", service["COUNTERS"], got[0]["COUNTERS"])


def test_backend_set():
    """backends one by one and by group"""
    weir = usual()
    weir.do("BACKEND_SET", {"SERVICE_NAME": "web",
                            "BACKEND": backend("10.2.0.11", PORT=U16(8080), HEALTH=U8(2))})
    weir.do("BACKEND_SET", {"SERVICE_NAME": "web", "BACKEND": {"GROUP": "east", "CHECK": U8(2)}})
    weir.do("BACKEND_SET", {"SERVICE_NAME": "web", "BACKEND": {"GROUP": "west", "PORT": U16(81)}})
    weir.do("BACKEND_SET", {"SERVICE_NAME": "web", "BACKEND": backend("10.2.0.13", GROUP="east")})
    same("what was set", [(b["PORT"], b["HEALTH"], b["CHECK"], b["GROUP"], b["HEALTHY"])
                          for b in objects(weir, "BACKEND")],
         [(8080, 2, 0, "default", 0), (0, 0, 2, "east", 1), (81, 0, 0, "east", 1)])
    weir.do("SERVICE_SET", {"SERVICE_NAME": "web", "SERVICE": {"HEALTH_CHECK": "http"}})
    same("with a health-check its results count",
         [b["HEALTHY"] for b in objects(weir, "BACKEND")], [0, 0, 1])
    weir.do("BACKEND_DEL", {"SERVICE_NAME": "web", "BACKEND": {"GROUP": "east"}, "NOW": True})
    same("a group is emptied and stays",
         ([b["ADDR"] for b in objects(weir, "BACKEND")], [g["NAME"] for g in objects(weir, "GROUP")]),
         ([ip("10.2.0.11")], ["east", "west"]))
    weir.do("BACKEND_ADD", {"SERVICE_NAME": "web", "BACKEND": backend("10.2.0.12", GROUP="east")})
    weir.do("GROUP_DEL", {"SERVICE_NAME": "web", "GROUP": {"NAME": "east"}})
    same("a group goes with its backends",
         ([b["ADDR"] for b in objects(weir, "BACKEND")], [g["NAME"] for g in objects(weir, "GROUP")]),
         ([ip("10.2.0.11")], ["west"]))
    weir.do("BACKEND_DEL", {"SERVICE_NAME": "web", "BACKEND": backend("10.2.0.11")})
    service = objects(weir, "SERVICE")[0]
    same("without backends there is no table",
         ("TABLE_SLOTS" in service, "DIGEST" in service, service["ELIGIBLE"]),
         (False, False, H.consts["WEIR_ELIGIBLE_NO_BACKENDS"]))


def test_rules():
    """rules of both families"""
    weir = usual()
    many = ports(*range(1, 1025))
    weir.do("RULE_ADD", {"SERVICE_NAME": "web", "RULE": {**rule("203.0.113.11", UDP), "PORTS": many}})
    weir.do("RULE_ADD", {"SERVICE_NAME": "web", "RULE": {**rule("203.0.113.12", ANY), "PLEN": U8(32)}})
    weir.do("SERVICE_ADD", {"SERVICE_NAME": "six"})
    weir.do("RULE_ADD", {"SERVICE_NAME": "six", "RULE": rule("2001:db8::10", TCP)})
    got = objects(weir, "RULE", SERVICE_NAME="web")
    same("three of web", [(r["VIP"], r["PROTO"], len(r.get("PORTS", b""))) for r in got],
         [(ip("203.0.113.10"), TCP, 4), (ip("203.0.113.11"), UDP, 2048), (ip("203.0.113.12"), ANY, 0)])
    same("one of six", objects(weir, "RULE", SERVICE_NAME="six"),
         [{"VIP": ip("2001:db8::10"), "PLEN": 128, "PROTO": TCP}])
    small = Weir(buffer=4096)
    same("a buffer of 4096 bytes is enough", len(small.config()), len(weir.config()))
    weir.do("RULE_DEL", {"SERVICE_NAME": "web", "RULE": {**rule("203.0.113.11", UDP), "PORTS": many}})
    same("a rule is removed", len(objects(weir, "RULE", SERVICE_NAME="web")), 2)
    same("a dump of one service", {m["SERVICE_NAME"] for m in weir.config({"SERVICE_NAME": "six"})},
         {"six"})


def test_info():
    """what everybody gets to know"""
    weir = usual()
    info = weir.one("INFO_GET")
    same("fields", sorted(info), ["GENERATION", "HASH_KEY", "MAX_FLOWS", "MAX_SESSIONS", "N_ENTRIES",
                                  "N_HELD", "N_SERVICES", "N_SESSIONS", "VERSION"])
    same("nothing is in use", [info[k] for k in ("N_SESSIONS", "N_ENTRIES")], [0, 0])
    ok("limits are not 0", info["MAX_FLOWS"] and info["MAX_SESSIONS"], info)
    ok("the version has digits", info["VERSION"][:1].isdigit(), info["VERSION"])
    same("one service", info["N_SERVICES"], 1)
    same("every message has the generation",
         {m["GENERATION"] for m in weir.config() + weir.dump("COUNTER_GET")}, {info["GENERATION"]})


def test_counters():
    """every reason has a name and a line of text"""
    reasons = [m["REASON"] for m in Weir().dump("COUNTER_GET")]
    names = [r["NAME"] for r in reasons]
    same("no name comes twice", sorted(set(names)), sorted(names))
    for want in ("no-eligible-backend", "no-rule", "invalid", "tuple-clash"):
        ok(f"{want} is one of them", want in names, names)
    ok("each has a text", all(r["TEXT"] and "\n" not in r["TEXT"] for r in reasons), reasons)
    kernel = [r["NAME"] for r in reasons if "KERNEL" in r]
    ok("the kernel's own come last, and say so",
       len(kernel) >= 3 and names[-len(kernel):] == kernel and
       all(n.startswith("conntrack-") for n in kernel), names)


def test_lookup():
    """a lookup tells each step"""
    weir = usual()

    def look(dst, proto=6, **more):
        packet = {"SRC": ip("10.1.0.1"), "DST": ip(dst), "PROTO": U8(proto), **more}
        return weir.one("LOOKUP", {"PACKET": packet})["VERDICT"]

    outcome = {v: k.removeprefix("WEIR_OUTCOME_") for k, v in H.enums["weir_outcome"].items()}
    got = look("203.0.113.10", SPORT=U16(1234), DPORT=U16(80), SYN=True)
    same("a match is selected", (outcome[got["OUTCOME"]], got["SERVICE_NAME"], got["KEY_FIELDS"],
                                 got["N_ELIGIBLE"]), ("SELECTED", "web", 5, 3))
    ok("with hash, slot and backend",
       0 <= got["SLOT"] < got["TABLE_SLOTS"] and got["HASH"] and got["BACKEND"]["HEALTHY"] == 1 and
       got["RULE"]["VIP"] == ip("203.0.113.10"), got)
    same("the same packet, the same answer",
         look("203.0.113.10", SPORT=U16(1234), DPORT=U16(80), SYN=True), got)
    same("another port of the VIP", outcome[look("203.0.113.10", DPORT=U16(81))["OUTCOME"]], "NO_RULE")
    same("no VIP", outcome[look("198.51.100.1", DPORT=U16(80))["OUTCOME"]], "NOT_OURS")
    weir.do("BACKEND_DEL", {"SERVICE_NAME": "web", "BACKEND": {"GROUP": "default"}})
    weir.do("BACKEND_DEL", {"SERVICE_NAME": "web", "BACKEND": {"GROUP": "east"}})
    weir.do("BACKEND_DEL", {"SERVICE_NAME": "web", "BACKEND": {"GROUP": "west"}})
    got = look("203.0.113.10", DPORT=U16(80))
    same("nobody to choose from", (outcome[got["OUTCOME"]], "BACKEND" in got, "SLOT" in got),
         ("EMPTY", False, False))


def test_flows():
    """flows, of which there are none"""
    weir = usual()
    for attrs in ({}, {"SERVICE_NAME": "web"}, {"BACKEND": backend("10.2.0.11")},
                  {"SERVICE_NAME": "web", "BACKEND": backend("10.2.0.11")}):
        same(f"none to list with {sorted(attrs)}", weir.dump("FLOW_GET", attrs), [])
        got = weir.one("FLOW_FLUSH", attrs)
        same(f"none to flush with {sorted(attrs)}", (got["N_FLOWS"], got["N_SESSIONS"]), (0, 0))


run(test_options, test_members, test_backend_set, test_rules, test_info, test_counters, test_lookup,
    test_flows)
