# SPDX-License-Identifier: GPL-2.0
"""What the kernel shows, under the names of uapi/linux/weir.h.

Values of enums become words: a ROLE is "failover", a STATE "draining".
"""
import os
import re

from packet import unpacked
from weirnl import H, U8, U16, ip, prefix_of


def word(enum, value):
    """2 of enum weir_role -> "failover": what the names of an enum do not share."""
    names = {number: name for name, number in H.enums[enum].items() if not name.startswith("__")}
    shared = os.path.commonprefix(list(names.values())).rpartition("_")[0] + "_"
    return names.get(value, str(value)).removeprefix(shared).lower().replace("_", "-")


def worded(nest, fields):
    """The fields of a nest such as weir_service_attr, enums as words."""
    out = {}
    for key, value in fields.items():
        enum = re.search(r"\benum (weir_\w+)", H.docs.get(prefix_of(nest) + key, ""))
        out[key] = word(enum[1], value) if enum and isinstance(value, int) else value
    return out


def view(weir, name):
    """(the service, its backends by address, what clients of each zone get by zone)"""
    service, backends, zones = {}, {}, {}
    for message in weir.config({"SERVICE_NAME": name, "WITH_FLOWS": True}):
        if "SERVICE" in message:
            service = worded("weir_service_attr", message["SERVICE"])
        elif "BACKEND" in message:
            one = worded("weir_backend_attr", message["BACKEND"])
            backends[unpacked(one.pop("ADDR"))] = one
        elif "ZONAL" in message:
            one = worded("weir_zonal_attr", message["ZONAL"])
            zones[one.pop("ZONE")] = one
    return service, backends, zones


def lookup(weir, one, proto):
    """What the module says of a packet of wire.py, before it is sent."""
    words = {"SRC": ip(one.src), "DST": ip(one.dst), "PROTO": U8(proto),
             "SPORT": U16(one.sport), "DPORT": U16(one.dport)}
    if one.kind == "tcp" and "S" in one.flags:
        words["SYN"] = True
    return worded("weir_verdict_attr", weir.one("LOOKUP", {"PACKET": words})["VERDICT"])
