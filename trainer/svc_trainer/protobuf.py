"""The wire format of protocol buffers, as far as the messages of `messages` need it."""

import struct

from .refusal import invalid

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
VARINT_BITS_MAX = 70


def fields_of(data):
    """By number, every value in its order: whole numbers, doubles, and bytes that are texts or messages."""
    fields, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == VARINT:
            value, at = varint(data, at)
        elif kind == FIXED64:
            (value,), at = struct.unpack("<d", part(data, at, 8)), at + 8
        elif kind == BYTES:
            length, at = varint(data, at)
            value, at = part(data, at, length), at + length
        elif kind == FIXED32:
            (value,), at = struct.unpack("<f", part(data, at, 4)), at + 4
        else:
            raise broken()
        fields.setdefault(tag >> 3, []).append((kind, value))
    return fields


def varint(data, at):
    value = 0
    for shift in range(0, VARINT_BITS_MAX, 7):
        if at >= len(data):
            raise broken()
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (1 << 64) - 1, at
    raise broken()


def part(data, at, length):
    if at + length > len(data):
        raise broken()
    return bytes(data[at : at + length])


def values(fields, number, kind):
    found = fields.get(number, [])
    if any(given != kind for given, _ in found):
        raise broken()
    return [value for _, value in found]


def last(fields, number, kind, default):
    return (values(fields, number, kind) or [default])[-1]


def text(fields, number):
    try:
        return last(fields, number, BYTES, b"").decode()
    except UnicodeDecodeError as problem:
        raise broken() from problem


def integers(fields, number):
    """Repeated whole numbers with a sign, packed or not."""
    found = []
    for kind, value in fields.get(number, []):
        if kind == VARINT:
            found.append(value)
        elif kind == BYTES:
            at = 0
            while at < len(value):
                one, at = varint(value, at)
                found.append(one)
        else:
            raise broken()
    return [value - (1 << 64) if value >= 1 << 63 else value for value in found]


def broken():
    return invalid("the body is no message of protocol buffers that this trainer knows: send JSON, or use a newer trainer")


def number_field(number, value):
    return encoded(number << 3 | VARINT) + encoded(value)


def double_field(number, value):
    return encoded(number << 3 | FIXED64) + struct.pack("<d", value)


def bytes_field(number, value):
    data = value.encode() if isinstance(value, str) else value
    return encoded(number << 3 | BYTES) + encoded(len(data)) + data


def encoded(value):
    parts = bytearray()
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)
