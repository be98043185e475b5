"""Addresses of archives that work for a while without the key, since they are handed to programs that do not have it."""

import hashlib
import hmac
import os
import re
import time
from dataclasses import dataclass
from email.utils import formatdate

from .refusal import Refusal, invalid

SECONDS = 900


@dataclass(frozen=True)
class Elsewhere:
    url: str
    expires: str


class Links:
    def __init__(self, key):
        self.secret = key.encode() if key else os.urandom(32)

    def to(self, host, prefix, path):
        if not re.fullmatch(r"[A-Za-z0-9.:\[\]-]{1,255}", host):
            raise invalid("the header host is missing, or no host")
        until = int(time.time()) + SECONDS
        url = f"http://{host}{prefix}{path}?until={until}&signature={self.signature(path, until)}"
        return Elsewhere(url, formatdate(until, usegmt=True))

    def check(self, path, query):
        until, signature = ((query.get(name) or [""])[-1] for name in ("until", "signature"))
        is_time = until.isascii() and until.isdigit() and len(until) < 16
        if not is_time or not hmac.compare_digest(signature.encode(), self.signature(path, int(until)).encode()):
            raise Refusal(401, "this address is not one that the trainer gave: ask for the archive again")
        if int(until) < time.time():
            raise Refusal(401, "this address is no longer valid: ask for the archive again")

    def signature(self, path, until):
        return hmac.new(self.secret, f"{path} {until}".encode(), hashlib.sha256).hexdigest()
