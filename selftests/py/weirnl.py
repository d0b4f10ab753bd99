# SPDX-License-Identifier: GPL-2.0
"""Generic netlink without a library: messages to weir are written byte by byte.

Names and values come from uapi/linux/weir.h, so that a test says WEIR_A_SERVICE_NAME and
means what the header means; types of answers come from the comments there.  Values that
are sent have the type that the caller gives them, so that a wrong one can be sent too:

    weir = Weir()
    weir.do("SERVICE_ADD", {"SERVICE_NAME": "web", "SERVICE": {"IDLE_TIMEOUT": U32(60)}})

A dict is a nest, a str a string with its NUL, bytes are raw, True is a flag.  A key may
be a number.  An error raises Refused, which has the errno and the kernel's message.
"""
import errno
import os
import re
import socket
import struct

HERE = os.path.dirname(os.path.realpath(__file__))
HEADER = os.path.join(HERE, "..", "..", "uapi", "linux", "weir.h")

NETLINK_GENERIC = 16
SOL_NETLINK = 270
NETLINK_ADD_MEMBERSHIP, NETLINK_CAP_ACK, NETLINK_EXT_ACK = 1, 10, 11
NLM_F_REQUEST, NLM_F_MULTI, NLM_F_ACK, NLM_F_DUMP_INTR = 1, 2, 4, 16
NLM_F_CAPPED, NLM_F_ACK_TLVS = 0x100, 0x200
NLM_F_DUMP = 0x300
NLMSG_ERROR, NLMSG_DONE = 2, 3
NLA_F_NESTED = 0x8000
NLA_TYPE_MASK = 0x3FFF
GENL_ID_CTRL = 16
CTRL_CMD_GETFAMILY, CTRL_CMD_GETPOLICY = 3, 10
CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 1, 2
CTRL_ATTR_OPS, CTRL_ATTR_MCAST_GROUPS = 6, 7
CTRL_ATTR_POLICY, CTRL_ATTR_OP_POLICY = 8, 9
NLMSGERR_ATTR_MSG, NLMSGERR_ATTR_OFFS = 1, 2


def U8(n):
    return struct.pack("=B", n)


def U16(n):
    return struct.pack("=H", n)


def U32(n):
    return struct.pack("=I", n)


def U64(n):
    return struct.pack("=Q", n)


def ports(*numbers):
    return b"".join(map(U16, numbers))


def ip(text):
    family = socket.AF_INET6 if ":" in text else socket.AF_INET
    return socket.inet_pton(family, text)


class Header:
    """What the C header defines: enums in order, constants, and its comments."""

    def __init__(self, path=HEADER):
        with open(path) as file:
            text = file.read()
        self.consts, self.enums, self.docs = {}, {}, {}
        for name, value in re.findall(r"^#define (WEIR_\w+)[ \t]+(\d+|\"[^\"]*\")", text, re.M):
            self.consts[name] = value.strip('"') if value[0] == '"' else int(value)
        for comment in re.findall(r"/\*\*(.*?)\*/", text, re.S):
            self.read_comment(comment)
        bare = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        for name, body in re.findall(r"enum (\w+) \{(.*?)\};", bare, re.S):
            self.enums[name] = self.read_enum(body)
        for values in self.enums.values():
            self.consts.update(values)
        for name, of in re.findall(r"^#define (WEIR_\w+)[ \t]+\((\w+) - 1\)", text, re.M):
            self.consts[name] = self.consts[of] - 1

    def read_comment(self, comment):
        name = None
        for line in comment.splitlines():
            line = re.sub(r"^ \*\s?", "", line)
            start = re.match(r"@(\w+): ?(.*)", line)
            if start:
                name = start[1]
                self.docs[name] = start[2]
            elif not line.strip():
                name = None
            elif name:
                self.docs[name] += " " + line.strip()

    @staticmethod
    def read_enum(body):
        values, following = {}, 0
        for entry in body.split(","):
            if entry.strip():
                name, _, value = entry.partition("=")
                following = int(value, 0) if value else following
                values[name.strip()] = following
                following += 1
        return values

    def kind(self, name):
        """The type of an attribute in its comment: "u8", "nest of weir_rule_attr"..."""
        doc = self.docs.get(name, "")
        nest = re.match(r"nest of enum (\w+)", doc)
        if nest:
            return "nest of " + nest[1]
        word = re.match(r"(u8|u16|u32|u64|string|flag)\b", doc)
        if word:
            return word[1]
        return "u64" if name.startswith("WEIR_COUNTER_A_") else "bytes"


H = Header()


def prefix_of(enum):
    """weir_rule_attr -> WEIR_RULE_A_"""
    return enum.upper().replace("WEIR_ATTR", "WEIR_A_").replace("_ATTR", "_A_")


def attr(type_, payload):
    data = struct.pack("=HH", len(payload) + 4, type_) + payload
    return data + b"\0" * (-len(data) % 4)


def encode(value, prefix="WEIR_A_"):
    """Attributes of a dict, or of a list of pairs where one is to come twice."""
    out = b""
    for key, item in value.items() if isinstance(value, dict) else value:
        type_ = key if isinstance(key, int) else H.consts[prefix + key]
        if isinstance(item, (dict, list)):
            nested = prefix
            if not isinstance(key, int):
                nested = prefix_of(H.kind(prefix + key).removeprefix("nest of "))
            out += attr(type_ | NLA_F_NESTED, encode(item, nested))
        elif item is True:
            out += attr(type_, b"")
        elif isinstance(item, str):
            out += attr(type_, item.encode() + b"\0")
        else:
            out += attr(type_, item)
    return out


def split(data):
    """Pairs of type, without its flags, and payload."""
    while len(data) >= 4:
        length, type_ = struct.unpack_from("=HH", data)
        assert 4 <= length <= len(data), f"attribute of {length} bytes in {len(data)}"
        yield type_ & NLA_TYPE_MASK, data[4:length]
        data = data[(length + 3) & ~3:]


def decode(data, enum="weir_attr"):
    """Attributes as a dict with the header's names; CHANGE is always a list."""
    names = {v: k for k, v in H.enums[enum].items() if not k.startswith("__")}
    prefix, out = prefix_of(enum), {}
    for type_, payload in split(data):
        name = names[type_]
        if name == prefix + "PAD":  # before each u64, on machines that want it aligned
            continue
        kind = H.kind(name)
        if kind.startswith("nest of "):
            value = decode(payload, kind.removeprefix("nest of "))
        elif kind == "string":
            assert payload[-1:] == b"\0", f"{name} has no NUL"
            value = payload[:-1].decode()
        elif kind == "flag":
            value = True
        elif kind == "bytes":
            value = payload
        else:
            size = int(kind[1:]) // 8
            assert len(payload) == size, f"{name} has {len(payload)} bytes"
            value = int.from_bytes(payload, "little" if struct.pack("=H", 1)[0] else "big")
        key = name.removeprefix(prefix)
        if name == "WEIR_A_CHANGE":
            out.setdefault(key, []).append(value)
        else:
            assert key not in out, f"{name} came twice"
            out[key] = value
    return out


class Refused(Exception):
    """An error from the kernel: errno, its message and the offset of what is wrong."""

    def __init__(self, number, message="", offset=None):
        self.errno, self.message, self.offset = number, message, offset
        # Linux has one number for two names, and Python prefers the other.
        self.name = "EOPNOTSUPP" if number == errno.EOPNOTSUPP else errno.errorcode[number]
        super().__init__(f"{self.name}: {message or '(no message)'}")


class Message:
    """One netlink message that came."""

    def __init__(self, type_, flags, seq, body):
        self.type, self.flags, self.seq, self.body = type_, flags, seq, body

    def error(self):
        """None, 0 for an acknowledgement, or Refused: of NLMSG_ERROR and NLMSG_DONE."""
        if self.type not in (NLMSG_ERROR, NLMSG_DONE):
            return None
        number = struct.unpack_from("=i", self.body)[0]
        if number >= 0:
            return 0
        at = 4
        if self.type == NLMSG_ERROR:
            at += 16
            if not self.flags & NLM_F_CAPPED:
                at += struct.unpack_from("=I", self.body, 4)[0] - 16
        tlvs = dict(split(self.body[at:])) if self.flags & NLM_F_ACK_TLVS else {}
        message = tlvs.get(NLMSGERR_ATTR_MSG, b"").rstrip(b"\0").decode(errors="replace")
        offset = tlvs.get(NLMSGERR_ATTR_OFFS)
        return Refused(-number, message.rstrip(),
                       struct.unpack("=I", offset)[0] if offset else None)


class Socket:
    """A generic netlink socket; what is sent need not make sense."""

    def __init__(self, buffer=65536):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
        self.sock.bind((0, 0))
        self.sock.setsockopt(SOL_NETLINK, NETLINK_EXT_ACK, 1)
        self.sock.setsockopt(SOL_NETLINK, NETLINK_CAP_ACK, 1)
        self.sock.settimeout(60)
        self.seq, self.buffer, self.waiting = 1, buffer, []

    def close(self):
        self.sock.close()

    def send(self, type_, body, flags=NLM_F_REQUEST | NLM_F_ACK, length=None):
        """Returns the sequence number; length may lie about the size."""
        self.seq += 1
        size = 16 + len(body) if length is None else length
        self.sock.send(struct.pack("=IHHII", size, type_, flags, self.seq, 0) + body)
        return self.seq

    def receive(self):
        """The next message; several may have come in one datagram."""
        while not self.waiting:
            data = self.sock.recv(self.buffer)
            while len(data) >= 16:
                length, type_, flags, seq, _ = struct.unpack_from("=IHHII", data)
                assert 16 <= length <= len(data), f"message of {length} bytes in {len(data)}"
                self.waiting.append(Message(type_, flags, seq, data[16:length]))
                data = data[(length + 3) & ~3:]
        return self.waiting.pop(0)

    def answers(self, seq):
        """Messages until the acknowledgement or the end of the dump; raises Refused."""
        out, interrupted = [], False
        while True:
            message = self.receive()
            if message.seq != seq:
                continue
            interrupted = interrupted or bool(message.flags & NLM_F_DUMP_INTR)
            error = message.error()
            if error is None:
                out.append(message)
            elif error:
                raise error
            else:
                self.interrupted = interrupted
                return out


class Weir(Socket):
    """A socket that speaks weir."""

    def __init__(self, buffer=65536):
        super().__init__(buffer)
        self.family, self.groups, self.ops = find_family(self, H.consts["WEIR_GENL_NAME"])

    def put(self, cmd, attrs=None, flags=NLM_F_REQUEST | NLM_F_ACK, version=1, reserved=0):
        """Sends a command; attrs may be bytes."""
        code = cmd if isinstance(cmd, int) else H.consts["WEIR_CMD_" + cmd]
        body = attrs if isinstance(attrs, bytes) else encode(attrs or {})
        return self.send(self.family, struct.pack("=BBH", code, version, reserved) + body, flags)

    def do(self, cmd, attrs=None, **more):
        """The answers to a command, decoded."""
        return [decode(m.body[4:]) for m in self.answers(self.put(cmd, attrs, **more))]

    def one(self, cmd, attrs=None):
        got = self.do(cmd, attrs)
        assert len(got) == 1, f"{cmd}: {len(got)} answers"
        return got[0]

    def dump(self, cmd, attrs=None):
        return self.do(cmd, attrs, flags=NLM_F_REQUEST | NLM_F_DUMP)

    def listen(self):
        group = self.groups[H.consts["WEIR_MCGRP_EVENTS"]]
        self.sock.setsockopt(SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, group)

    def event(self, timeout=60):
        """The next notification, or None."""
        self.sock.settimeout(timeout)
        try:
            message = self.receive()
        except (TimeoutError, BlockingIOError):
            return None
        finally:
            self.sock.settimeout(60)
        assert message.body[0] == H.consts["WEIR_CMD_EVENT"], message.body[:4]
        return decode(message.body[4:])

    def generation(self):
        return self.one("INFO_GET")["GENERATION"]

    def config(self, attrs=None):
        """A consistent dump, repeated as often as it is interrupted."""
        while True:
            got = self.dump("CONFIG_GET", attrs)
            if not self.interrupted:
                return got


def control(sock, cmd, attrs, flags):
    body = struct.pack("=BBH", cmd, 2, 0) + b"".join(attr(*a) for a in attrs)
    return [m.body[4:] for m in sock.answers(sock.send(GENL_ID_CTRL, body, flags))]


def find_family(sock, name):
    """Number of the family, its groups by name, and the flags of its commands."""
    body = control(sock, CTRL_CMD_GETFAMILY, [(CTRL_ATTR_FAMILY_NAME, name.encode() + b"\0")],
                   NLM_F_REQUEST | NLM_F_ACK)[0]
    family, groups, ops = None, {}, {}
    for type_, payload in split(body):
        if type_ == CTRL_ATTR_FAMILY_ID:
            family = struct.unpack("=H", payload)[0]
        elif type_ == CTRL_ATTR_MCAST_GROUPS:
            for _, group in split(payload):
                fields = dict(split(group))
                groups[fields[1].rstrip(b"\0").decode()] = struct.unpack("=I", fields[2])[0]
        elif type_ == CTRL_ATTR_OPS:
            for _, op in split(payload):
                fields = dict(split(op))
                ops[struct.unpack("=I", fields[1])[0]] = struct.unpack("=I", fields[2])[0]
    return family, groups, ops
