#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
#
# The health service of gRPC on port 9030, with TLS on 9031; a name of a service
# says how it answers. Bytes are made by hand: this needs no generated code.
# Arguments: certificate, key, a file that is made when both listen.
import sys
import threading
import time
from concurrent import futures

import grpc

ANSWERS = {
    b"": b"\x08\x01",
    b"up": b"\x08\x01",
    b"down": b"\x08\x02",
    b"default": b"",
    b"unknown-field": b"\x12\x03abc\x08\x01",
    b"odd": b"\x08\x63",
    b"garbage": b"\xff\xff\xff",
    b"huge": b"\x12\xff\x7f" + b"x" * 16383 + b"\x08\x01",
}


def check(request, context):
    name = request[2:]
    if len(request) > 129:
        name = b"up" if request[3:] == b"n" * 200 else b"?"
    if name == b"slow":
        time.sleep(3)
    if name == b"status":
        context.abort(grpc.StatusCode.PERMISSION_DENIED, "no")
    if name not in ANSWERS:
        context.abort(grpc.StatusCode.NOT_FOUND, "unknown service")
    return ANSWERS[name]


server = grpc.server(futures.ThreadPoolExecutor(max_workers=16))
server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(
    "grpc.health.v1.Health",
    {"Check": grpc.unary_unary_rpc_method_handler(check)}),))
with open(sys.argv[1], "rb") as f:
    certificate = f.read()
with open(sys.argv[2], "rb") as f:
    key = f.read()
server.add_insecure_port("[::]:9030")
server.add_secure_port("[::]:9031", grpc.ssl_server_credentials([(key, certificate)]))
server.start()
open(sys.argv[3], "w").close()
threading.Event().wait()
