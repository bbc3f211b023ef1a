"""Messages between the tool and its children: one JSON object a packet, file descriptors riding along.

SOCK_SEQPACKET keeps the borders of messages, so a process that is killed while it writes can never leave half a message
in front of somebody else's. What may grow (lists of files, diagnostics) goes through files, not through here.
"""

from __future__ import annotations

import array
import json
import socket
from collections.abc import Mapping, Sequence
from typing import Any

LIMIT = 160_000  # bytes a message; Linux takes about 208 KiB by default
_MAX_FDS = 4

Message = dict[str, Any]


def pair() -> tuple[socket.socket, socket.socket]:
    """Two connected ends. Neither is inherited by programs that are executed."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def send(sock: socket.socket, message: Mapping[str, Any], fds: Sequence[int] = ()) -> None:
    """Send one message. Raises OSError when the other end is gone, ValueError when it is too long."""
    data = json.dumps(message).encode()
    if len(data) > LIMIT:
        raise ValueError("message of %d bytes" % len(data))
    ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    sock.sendmsg([data], ancillary)


def receive(sock: socket.socket) -> tuple[Message | None, list[int]]:
    """The next message and the descriptors that came with it, or (None, []) at the end."""
    fds = array.array("i")
    try:
        data, ancillary, _, _ = sock.recvmsg(LIMIT + 1, socket.CMSG_LEN(_MAX_FDS * fds.itemsize))
    except ConnectionError:
        return None, []
    for level, kind, payload in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(payload[: len(payload) - len(payload) % fds.itemsize])
    return (json.loads(data) if data else None), list(fds)
