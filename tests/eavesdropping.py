"""What goes over the wire to Redis, and what stays there: bells and the queues of tasks."""

import base64
import binascii
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import redis

_END = "the eavesdropper goes home"
_BASE64 = re.compile(r"[A-Za-z0-9+/]{16,}={0,2}")


@contextmanager
def eavesdropping(url: str) -> Iterator[list[str]]:
    """Collect every command of every client, with the bodies of task messages as their sender
    wrote them; the list is whole once the block has ended."""
    heard: list[str] = []
    with redis.Redis.from_url(url) as client, client.monitor() as monitor:

        def listen() -> None:
            for each in monitor.listen():
                command = str(each["command"])
                if _END in command:
                    return
                heard.append(command + read_through(command))

        thread = threading.Thread(target=listen)
        thread.start()
        try:
            yield heard
        finally:
            client.set(_END, 1, ex=1)
            thread.join(60)
    assert not thread.is_alive()


def kept_in(url: str) -> Iterator[str]:
    """Return every key with all that it holds."""
    with redis.Redis.from_url(url, decode_responses=True, encoding_errors="replace") as client:
        for key in client.scan_iter():
            held = repr(_value(client, key))
            yield f"{key}: {held}{read_through(held)}"


def _value(client: redis.Redis, key: str) -> Any:
    match client.type(key):
        case "string":
            return client.get(key)
        case "list":
            return client.lrange(key, 0, -1)
        case "hash":
            return client.hgetall(key)
        case "set":
            return client.smembers(key)
        case "zset":
            return client.zrange(key, 0, -1, withscores=True)
        case kind:
            raise AssertionError(f"{key} is a {kind}")


def read_through(text: str) -> str:
    """Return what stands in a text as base64, in plain letters."""
    found = []
    for part in _BASE64.findall(text):
        try:
            found.append(base64.b64decode(part + "=" * (-len(part) % 4)).decode("latin-1"))
        except binascii.Error:
            continue
    return "".join(found)
