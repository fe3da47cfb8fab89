#!/usr/bin/env python3
"""Runs a command where the only network is loopback:  offline.py COMMAND [ARGUMENT…]

The command gets a network namespace of its own, so that nothing it starts reaches another machine. Its exit status is
the command's, or 125 where such a namespace cannot be made.
"""

import fcntl
import os
import socket
import struct
import sys

INSIDE = "SUPERPOWER_OFFLINE_INSIDE"
GET_FLAGS, SET_FLAGS, UP = 0x8913, 0x8914, 0x1


def fail(why):
    print(f"offline: {why}", file=sys.stderr)
    sys.exit(125)


def raise_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(control, GET_FLAGS, request))[1]
        fcntl.ioctl(control, SET_FLAGS, struct.pack("16sH14x", b"lo", flags | UP))


def main():
    if len(sys.argv) < 2:
        fail("which command?")
    if not os.environ.get(INSIDE):
        os.environ[INSIDE] = "1"
        try:
            os.execvp("unshare", ["unshare", "-rn", sys.executable, *sys.argv])
        except OSError as error:
            fail(f"unshare(1): {error}")
    others = [name for _, name in socket.if_nameindex() if name != "lo"]
    # Some kernels put idle tunnel devices into every namespace; without an address they lead nowhere.
    devices = [name for name in others if not name.startswith(("tunl", "sit", "ip6", "gre", "erspan", "ip_vti"))]
    if devices:
        fail(f"this namespace has {', '.join(devices)}")
    try:
        raise_loopback()
    except OSError as error:
        fail(f"loopback: {error}")
    del os.environ[INSIDE]
    try:
        os.execvp(sys.argv[1], sys.argv[1:])
    except OSError as error:
        fail(f"{sys.argv[1]}: {error}")


if __name__ == "__main__":
    main()
