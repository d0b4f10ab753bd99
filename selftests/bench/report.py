#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Make a table, results.json and a chart of what the guests printed.

    report.py FACTS RAW RESULTS CHART

RAW has the lines "row", "rate" and "fact" of insn, smp and scale; FACTS is a line about
the machine. Exit status 1 if a bar is missed.
"""
import json
import sys
from xml.sax.saxutils import escape


def words(line):
    out = {}
    for word in line.split()[1:]:
        name, _, value = word.partition("=")
        try:
            out[name] = int(value)
        except ValueError:
            try:
                out[name] = float(value)
            except ValueError:
                out[name] = value
    return out


def read(path):
    rows, rates, facts = [], [], {}
    with open(path, encoding="utf-8") as raw:
        for line in raw:
            if line.startswith("row "):
                rows.append(words(line))
            elif line.startswith("rate "):
                rates.append(words(line))
            elif line.startswith("fact "):
                _, name, value, unit = line.split()
                facts[name] = (float(value), unit)
    return rows, rates, facts


def traffic(row):
    """What two rows have in common whose difference says something."""
    flows = row["flows"] if row["packet"] == "established" else 0
    return row["family"], row["proto"], row["packet"], row["bytes"], flows


def with_net(raw):
    floor = {traffic(r): r["cost"] for r in raw if r["case"] == "floor"}
    rows = []
    for r in raw:
        if traffic(r) not in floor:
            sys.exit(f"report: nothing was measured that {r} could be compared with")
        rows.append({
            "case": r["case"], "family": r["family"], "proto": r["proto"],
            "packet": r["packet"], "bytes": r["bytes"], "flows": r["flows"],
            "services": r["services"], "insn_total": round(r["cost"]),
            "insn_net": round(r["cost"] - floor[traffic(r)]),
        })
    return rows


class Bars:
    def __init__(self, rows, facts):
        self.rows, self.facts, self.list = rows, facts, []

    def net(self, case, like, **other):
        """The net cost of a case with the traffic of another's row, or None."""
        want = traffic(dict(like, **other))
        for r in self.rows:
            if r["case"] == case and traffic(r) == want:
                return r["insn_net"]
        return None

    def add(self, name, limit, value, unit):
        self.list.append({"name": name, "limit": limit, "value": round(value, 3),
                          "unit": unit, "ok": value <= limit})

    def ratio(self, name, case, peer, packet, limit):
        """The worst one over families, protocols, sizes and numbers of flows."""
        worst = None
        for r in self.rows:
            if r["case"] != case or r["packet"] != packet:
                continue
            other = self.net(peer, r)
            if not other:
                continue
            value = r["insn_net"] / other
            if worst is None or value > worst[0]:
                worst = value, r
        if worst:
            r = worst[1]
            where = f"IPv{r['family']} {r['proto']}, {r['bytes']} B"
            if packet == "established":
                where += f", {r['flows']} flow" + "s" * (r["flows"] > 1)
            self.add(f"{name} (worst: {where})", limit, worst[0], "x")

    def beyond(self, name, case, base, limit, each=1):
        """How many instructions more than another case, at worst."""
        over = []
        for r in self.rows:
            other = self.net(base, r) if r["case"] == case else None
            if other is not None:
                over.append((r["insn_net"] - other) / each)
        if over:
            self.add(name, limit, max(over), "instructions")

    def explain(self, case, peer, packet, why):
        """The last bar was missed, and a peer that does as much says why."""
        if not self.list or self.list[-1]["ok"]:
            return
        pairs = [(r["insn_net"], self.net(peer, r)) for r in self.rows
                 if r["case"] == case and r["packet"] == packet]
        pairs = [mine / other for mine, other in pairs if other]
        if pairs:
            self.list[-1]["why"] = f"{why}: {max(pairs):.2f} of {peer} at worst"

    def fact(self, name, key, limit, scale=1.0, unit=None):
        if key in self.facts:
            value, of = self.facts[key]
            self.add(name, limit, value / scale, unit or of)


def bars_of(rows, facts):
    bars = Bars(rows, facts)
    slow = "weir-nat-slow" if any(r["case"] == "weir-nat-slow" for r in rows) else "weir-nat"
    bars.ratio("nat, established / IPVS NAT", "weir-nat", "ipvs-nat", "established", 0.45)
    bars.ratio("nat, first / nftables DNAT", "weir-nat", "nft-dnat", "first", 1.0)
    bars.explain("weir-nat", "nft-dnat-timeout", "first",
                 "each entry gets an extension, for its backend and its own idle timeout, "
                 "which is allocated with it")
    bars.ratio("nat, first, 10 000 services / 1", "weir-nat-10000", "weir-nat", "first", 1.05)
    bars.ratio("nat, slow path, established / nftables DNAT", slow, "nft-dnat", "established", 1.08)
    bars.ratio("direct, established / IPVS DR", "weir-direct", "ipvs-dr", "established", 0.4)
    bars.ratio("direct, first / IPVS DR", "weir-direct", "ipvs-dr", "first", 0.6)
    for n in 1, 10000:
        bars.beyond(f"direct, not ours, {n} rules, over an empty hook", f"weir-other-{n}",
                    "empty-hook", 60)
    bars.beyond("direct, not ours, one length of prefix, over an empty hook", "weir-prefix-1",
                "empty-hook", 100)
    bars.beyond("direct, not ours, each more length of prefix", "weir-prefix-8",
                "weir-prefix-1", 40, each=7)
    bars.fact("memory of a service, 10 backends", "memory-per-service", 32, 1024, "KiB")
    if facts.get("services", (0,))[0] == 10000:
        bars.fact("memory of 10 000 services", "memory-of-services", 400)
    bars.fact("memory of a session's entry", "memory-per-session", 64)
    bars.fact("Maglev table, 65537 slots, 1000 backends", "maglev-fill", 20)
    for key in facts:
        if key.startswith("change-in-force-"):
            n = key[len("change-in-force-"):]
            what = f"backend removed, {facts['services'][0]:.0f} services, {n} entries"
            bars.fact(f"{what}: in force", key, 20)
            bars.fact(f"{what}: command returns", f"change-returned-{n}", 100)
            bars.fact(f"{what}: lost", f"change-lost-{n}", 0)
    return bars.list


def print_rows(rows):
    print("Instructions per packet: net (total less receive and drop), total")
    print()
    print(f"{'case':18} {'family':6} {'proto':5} {'packet':11} {'bytes':>5} {'flows':>6} "
          f"{'services':>8} {'net':>7} {'total':>7}")
    for r in rows:
        print(f"{r['case']:18} IPv{r['family']:<3} {r['proto']:5} {r['packet']:11} "
              f"{r['bytes']:5} {r['flows']:6} {r['services']:8} {r['insn_net']:7} "
              f"{r['insn_total']:7}")


def ratios(rates):
    """Packets, or new flows, per second, and beside each case of the same run."""
    out = []
    for r in rates:
        one = [x for x in rates if x["case"] == r["case"] and x["packet"] == r["packet"]
               and x["threads"] == 1]
        forward = [x for x in rates if x["case"] == "forward" and x["packet"] == r["packet"]
                   and x["threads"] == r["threads"]]
        out.append({
            "case": r["case"], "packet": r["packet"], "queues": r["threads"],
            "per_second": round(1e9 / r["cost"]),
            "to_forward": round(forward[0]["cost"] / r["cost"], 2) if forward else None,
            "to_one_queue": round(one[0]["cost"] / r["cost"], 2) if one else None,
        })
    return out


def print_rates(rates):
    print()
    print("On two emulated CPUs, IPv4, UDP, 64 bytes: per second, beside forwarding, beside "
          "one queue")
    print()
    print(f"{'case':18} {'packet':11} {'queues':>6} {'/s':>8} {'/forward':>9} {'/1 queue':>9}")
    for r in rates:
        forward = "-" if r["to_forward"] is None else f"{r['to_forward']:.2f}"
        print(f"{r['case']:18} {r['packet']:11} {r['queues']:6} {r['per_second']:8} "
              f"{forward:>9} {r['to_one_queue']:9.2f}")


def print_facts(facts):
    print()
    print("Configuration, time in ms or us of 1 000 instructions each us")
    print()
    for name, (value, unit) in facts.items():
        print(f"{name:28} {value:12g} {unit}")


def print_bars(bars):
    print()
    for bar in bars:
        print(f"{'met' if bar['ok'] else 'MISSED':6} {bar['value']:10g} of "
              f"{bar['limit']:6g} {bar['unit']:12} {bar['name']}")
        if "why" in bar:
            print(f"{'':7}{bar['why']}")
    print()
    missed = sum(not bar["ok"] for bar in bars)
    print(f"{len(bars) - missed} bars met, {missed} missed")


SERIES = ("established", "#2f6db3"), ("first", "#d98c3f")


def chart(rows, about, path):
    """Net cost of each case, IPv4, UDP, the smallest packets, most flows."""
    shown = {}
    for r in rows:
        if (r["family"], r["proto"], r["bytes"]) == (4, "udp", 64) and r["case"] != "floor":
            costs = shown.setdefault(r["case"], {})
            if r["packet"] == "first" or r["flows"] >= costs.get("flows", 0):
                costs[r["packet"]] = r["insn_net"]
                if r["packet"] == "established":
                    costs["flows"] = r["flows"]
    if not shown:
        return
    most = max(costs.get(name, 0) for costs in shown.values() for name, _ in SERIES)
    left, wide, high = 150, 560, 34
    height = 70 + high * len(shown)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + wide + 80}" '
           f'height="{height}" font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="white"/>',
           '<text x="10" y="20" font-size="14">Instructions per packet, less receive and '
           'drop: IPv4, UDP, 64 bytes</text>']
    for i, (name, color) in enumerate(SERIES):
        out.append(f'<rect x="{left + 110 * i}" y="30" width="12" height="12" fill="{color}"/>'
                   f'<text x="{left + 18 + 110 * i}" y="40">{name}</text>')
    for i, (case, costs) in enumerate(shown.items()):
        top = 52 + high * i
        out.append(f'<text x="{left - 8}" y="{top + 18}" text-anchor="end">{escape(case)}</text>')
        for j, (name, color) in enumerate(SERIES):
            if name not in costs:
                continue
            width = max(costs[name], 0) / most * wide
            out.append(f'<rect x="{left}" y="{top + 13 * j}" width="{width:.1f}" height="12" '
                       f'fill="{color}"/><text x="{left + width + 4:.1f}" '
                       f'y="{top + 10 + 13 * j}" font-size="10">{costs[name]}</text>')
    out.append(f'<text x="10" y="{height - 4}" font-size="10" fill="#666">{escape(about)}</text>')
    out.append("</svg>")
    with open(path, "w", encoding="utf-8") as svg:
        svg.write("\n".join(out) + "\n")


def main():
    about, raw, results, picture = sys.argv[1:]
    raw_rows, raw_rates, facts = read(raw)
    rows, rates = with_net(raw_rows), ratios(raw_rates)
    bars = bars_of(rows, facts)
    print(about)
    print_rows(rows)
    if rates:
        print_rates(rates)
    if facts:
        print_facts(facts)
    print_bars(bars)
    with open(results, "w", encoding="utf-8") as out:
        json.dump({"about": about, "rows": rows, "bars": bars, "rates": rates,
                   "facts": [{"name": k, "value": v, "unit": u} for k, (v, u) in facts.items()]},
                  out, indent=1)
        out.write("\n")
    chart(rows, about, picture)
    sys.exit(0 if all(bar["ok"] for bar in bars) else 1)


main()
