"""Messages between the tool and its children."""

from __future__ import annotations

import os

import pytest

from portcheck.compiler.child import wire


def test_messages_keep_their_borders() -> None:
    ours, theirs = wire.pair()
    wire.send(ours, {"number": 1})
    wire.send(ours, {"text": "two\nlines"})

    assert wire.receive(theirs) == ({"number": 1}, [])
    assert wire.receive(theirs) == ({"text": "two\nlines"}, [])
    ours.close()
    theirs.close()


def test_descriptors_ride_along() -> None:
    ours, theirs = wire.pair()
    read, write = os.pipe()
    wire.send(ours, {"here": "it is"}, [write])
    os.close(write)

    message, (received,) = wire.receive(theirs)
    os.write(received, b"through")
    assert message == {"here": "it is"}
    assert os.read(read, 100) == b"through"
    for fd in (read, received):
        os.close(fd)
    ours.close()
    theirs.close()


def test_the_end_is_none() -> None:
    ours, theirs = wire.pair()
    ours.close()

    assert wire.receive(theirs) == (None, [])
    with pytest.raises(OSError):
        wire.send(theirs, {"too": "late"})
    theirs.close()


def test_the_longest_message_arrives_and_a_longer_one_is_refused() -> None:
    ours, theirs = wire.pair()
    message = {"text": "x" * (wire.LIMIT - 12)}
    wire.send(ours, message)

    assert wire.receive(theirs) == (message, [])
    with pytest.raises(ValueError, match="bytes"):
        wire.send(ours, {"text": "x" * wire.LIMIT})
    ours.close()
    theirs.close()
