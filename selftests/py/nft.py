# SPDX-License-Identifier: GPL-2.0
"""Counters of nftables rules, of the namespace that the process is in: nft itself takes half
a second to say them in an emulated guest."""
import struct

from conntrack import Conntrack
from weirnl import NLM_F_DUMP, NLM_F_REQUEST, attr, split

GETRULE = 0xa07
NFPROTO_INET = 1
RULE_TABLE, RULE_CHAIN, RULE_EXPRESSIONS = 1, 2, 4
EXPR_NAME, EXPR_DATA = 1, 2
COUNTER_PACKETS = 2


class Nft(Conntrack):
    def packets(self, table, chain):
        """The sum of what the rules of a chain of that inet table have counted."""
        names = attr(RULE_TABLE, table.encode() + b"\0") + attr(RULE_CHAIN, chain.encode() + b"\0")
        head = bytes([NFPROTO_INET, 0, 0, 0])
        rules = self.answers(self.send(GETRULE, head + names, NLM_F_REQUEST | NLM_F_DUMP))
        return sum(number for rule in rules for number in self.counters(rule.body[4:]))

    @staticmethod
    def counters(body):
        for _, one in split(dict(split(body)).get(RULE_EXPRESSIONS, b"")):
            expr = dict(split(one))
            if expr[EXPR_NAME] == b"counter\0":
                yield struct.unpack("!Q", dict(split(expr[EXPR_DATA]))[COUNTER_PACKETS])[0]
