#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Transactions: all or nothing, one at a time, gone with their socket."""
import ctypes
import os

from netlink_lab import TCP, backend, clear, rule, services, state, usual
from verdict import ok, run, same
from weirnl import U32, Refused, Weir

ADDED, CHANGED, REMOVED = range(3)


def refusal(weir, cmd, attrs=None):
    """The errno's name and the message, or ("", "")."""
    try:
        weir.do(cmd, attrs)
        return "", ""
    except Refused as refused:
        return refused.name, refused.message


def test_visibility():
    """staged changes are seen when they are committed"""
    weir, reader = clear(), Weir()
    before = weir.generation()
    weir.do("TXN_BEGIN")
    weir.do("SERVICE_ADD", {"SERVICE_NAME": "b"})
    weir.do("SERVICE_ADD", {"SERVICE_NAME": "a"})
    weir.do("BACKEND_ADD", {"SERVICE_NAME": "a", "BACKEND": backend("10.2.0.1")})
    same("nobody sees what is staged", (services(reader), services(weir)), ([], []))
    same("it has no generation", reader.generation(), before)
    answer = weir.one("TXN_COMMIT")
    same("the answer counts services", [answer[k] for k in ("N_ADDED", "N_CHANGED", "N_REMOVED")],
         [2, 0, 0])
    same("one commit is one generation", answer["GENERATION"], before + 1)
    same("everybody sees it, sorted", services(reader), ["a", "b"])
    same("the answer lists the changes", sorted((c["SERVICE_NAME"], c["KIND"], "BACKEND" in c)
                                                for c in answer["CHANGE"]),
         [("a", ADDED, False), ("a", ADDED, True), ("b", ADDED, False)])


def test_exclusion():
    """one transaction at a time"""
    first, second = usual(), Weir()
    first.do("TXN_BEGIN")
    name, message = refusal(first, "TXN_BEGIN")
    ok("a second begin on one socket: EBUSY", name == "EBUSY" and "commit or abort" in message, message)
    name, message = refusal(second, "TXN_BEGIN")
    ok("a begin on another socket: EBUSY", name == "EBUSY" and "another socket" in message, message)
    name, message = refusal(second, "TXN_COMMIT")
    ok("a commit on another socket: ENOENT", name == "ENOENT" and message, message)
    same("an abort on another socket: ENOENT", refusal(second, "TXN_ABORT")[0], "ENOENT")
    first.do("TXN_ABORT")
    second.do("TXN_BEGIN")
    ok("after the abort the other may begin", True)
    second.do("TXN_ABORT")


def test_close():
    """closing a socket drops its transaction"""
    reader = usual()
    before = state(reader)
    for how in ("close", "exit"):
        if how == "close":
            holder = Weir()
            holder.do("TXN_BEGIN", {"REPLACE": True})
            holder.do("SERVICE_ADD", {"SERVICE_NAME": "gone"})
            holder.close()
        else:
            pid = os.fork()
            if not pid:
                holder = Weir()
                holder.do("TXN_BEGIN")
                holder.do("SERVICE_DEL", {"SERVICE_NAME": "web"})
                os.kill(os.getpid(), 9)
            os.waitpid(pid, 0)
        same(f"{how}: nothing of it stays", state(reader), before)
        reader.do("TXN_BEGIN")
        reader.do("TXN_ABORT")
        ok(f"{how}: the next one may begin", True)
    other = Weir()
    reader.do("TXN_BEGIN")
    other.close()
    reader.do("TXN_ABORT")
    ok("closing another socket drops nothing", True)


def test_dry_run():
    """a dry run says what would change, and changes nothing"""
    weir = usual()
    before = state(weir)
    weir.do("TXN_BEGIN")
    weir.do("BACKEND_DEL", {"SERVICE_NAME": "web", "BACKEND": backend("10.2.0.11")})
    weir.do("SERVICE_ADD", {"SERVICE_NAME": "new"})
    answer = weir.one("TXN_COMMIT", {"DRY_RUN": True})
    same("it counts", [answer[k] for k in ("N_ADDED", "N_CHANGED", "N_REMOVED")], [1, 1, 0])
    same("it lists", sorted((c["SERVICE_NAME"], c["KIND"]) for c in answer["CHANGE"]),
         [("new", ADDED), ("web", REMOVED)])
    same("it changes nothing", state(weir), before)
    same("it ends the transaction", refusal(weir, "TXN_COMMIT")[0], "ENOENT")
    weir.do("TXN_BEGIN")
    weir.do("SERVICE_SET", {"SERVICE_NAME": "web", "SERVICE": {"TABLE_SIZE": U32(11)}})
    name, message = refusal(weir, "TXN_COMMIT", {"DRY_RUN": True})
    ok("it refuses what a commit would refuse", name == "EINVAL" and "table-size 11" in message, message)
    weir.do("TXN_BEGIN")
    answer = weir.one("TXN_COMMIT", {"DRY_RUN": True, "HASH_KEY": bytes(16)})
    ok("a key in a dry run is not set", weir.one("INFO_GET")["HASH_KEY"] != bytes(16))


def test_guard():
    """generations guard against lost updates"""
    weir, other = usual(), Weir()
    now = weir.generation()
    name, message = refusal(weir, "TXN_BEGIN", {"GENERATION": U32(now - 1)})
    ok("begin with an old generation: ESTALE",
       name == "ESTALE" and f"generation {now - 1}" in message and str(now) in message, message)
    weir.do("TXN_BEGIN", {"GENERATION": U32(now)})
    weir.do("SERVICE_ADD", {"SERVICE_NAME": "mine"})
    other.do("SERVICE_ADD", {"SERVICE_NAME": "theirs"})
    same("another socket's single change goes through meanwhile", services(other), ["theirs", "web"])
    name, message = refusal(weir, "TXN_COMMIT")
    ok("the commit on the old base: ESTALE", name == "ESTALE" and message, message)
    same("and changes nothing", services(weir), ["theirs", "web"])
    weir.do("TXN_BEGIN")
    weir.do("SERVICE_ADD", {"SERVICE_NAME": "mine"})
    weir.do("TXN_COMMIT")
    same("begun again it commits", services(weir), ["mine", "theirs", "web"])


def test_replace():
    """replace starts from nothing"""
    weir = usual()
    weir.do("SERVICE_ADD", {"SERVICE_NAME": "old"})
    weir.do("TXN_BEGIN", {"REPLACE": True})
    same("nothing is there to edit", refusal(weir, "SERVICE_DEL", {"SERVICE_NAME": "old"})[0], "ENOENT")
    weir.do("SERVICE_ADD", {"SERVICE_NAME": "new"})
    weir.do("SERVICE_ADD", {"SERVICE_NAME": "web"})
    answer = weir.one("TXN_COMMIT")
    same("the answer counts", [answer[k] for k in ("N_ADDED", "N_CHANGED", "N_REMOVED")], [1, 1, 1])
    same("only the new ones stay", services(weir), ["new", "web"])
    before = weir.generation()
    weir.do("TXN_BEGIN", {"REPLACE": True})
    weir.do("SERVICE_ADD", {"SERVICE_NAME": "new"})
    weir.do("SERVICE_ADD", {"SERVICE_NAME": "web"})
    answer = weir.one("TXN_COMMIT")
    same("the same again changes nothing", [answer[k] for k in ("N_ADDED", "N_CHANGED", "N_REMOVED")],
         [0, 0, 0])
    same("and makes no generation", (answer["GENERATION"], weir.generation()), (before, before))


def test_whole():
    """a commit that is refused is refused whole"""
    weir = usual()
    before = state(weir)
    weir.do("TXN_BEGIN")
    weir.do("SERVICE_ADD", {"SERVICE_NAME": "other"})
    weir.do("RULE_ADD", {"SERVICE_NAME": "other", "RULE": rule("203.0.113.10", TCP, 443)})
    weir.do("BACKEND_DEL", {"SERVICE_NAME": "web", "BACKEND": backend("10.2.0.11")})
    name, message = refusal(weir, "TXN_COMMIT")
    ok("two services claim one port: EEXIST, and both are named",
       name == "EEXIST" and "service web" in message and "service other" in message, message)
    same("nothing of it is in force", state(weir), before)
    same("the transaction is over", refusal(weir, "TXN_ABORT")[0], "ENOENT")


def test_key():
    """the hash key changes with the same swap"""
    weir = usual()
    key = bytes(range(16))
    weir.do("TXN_BEGIN")
    weir.do("BACKEND_DEL", {"SERVICE_NAME": "web", "BACKEND": backend("10.2.0.11")})
    answer = weir.one("TXN_COMMIT", {"HASH_KEY": key})
    info = weir.one("INFO_GET")
    same("it is set", (info["HASH_KEY"], info["GENERATION"]), (key, answer["GENERATION"]))
    with open("/proc/sys/net/weir/hash_key") as file:
        same("the sysctl shows it", file.read().strip(), key.hex())
    digest = [m["SERVICE"]["DIGEST"] for m in weir.config() if "SERVICE" in m]
    weir.do("TXN_BEGIN")
    weir.do("TXN_COMMIT", {"HASH_KEY": bytes(16)})
    other = [m["SERVICE"]["DIGEST"] for m in weir.config() if "SERVICE" in m]
    ok("another key makes another table", digest != other, f"{digest} {other}")
    weir.do("TXN_BEGIN")
    weir.do("TXN_COMMIT", {"HASH_KEY": key})
    same("the same key makes the same table",
         [m["SERVICE"]["DIGEST"] for m in weir.config() if "SERVICE" in m], digest)


def unshare_net():
    if ctypes.CDLL(None, use_errno=True).unshare(0x40000000):  # CLONE_NEWNET
        raise OSError(ctypes.get_errno(), "unshare")


def test_namespace():
    """a network namespace goes while a transaction is open in it"""
    for _ in range(5):
        pid = os.fork()
        if not pid:
            unshare_net()
            weir = Weir()
            weir.do("TXN_BEGIN")
            weir.do("SERVICE_ADD", {"SERVICE_NAME": "x"})
            weir.do("RULE_ADD", {"SERVICE_NAME": "x", "RULE": rule("203.0.113.10", TCP, 80)})
            os._exit(0)
        same("the child staged something", os.waitpid(pid, 0)[1], 0)
    same("this namespace has none of it", "x" in services(Weir()), False)


run(test_visibility, test_exclusion, test_close, test_dry_run, test_guard, test_replace,
    test_whole, test_key, test_namespace)
