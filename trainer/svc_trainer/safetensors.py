"""Reads and writes safetensors files: a length, a JSON header, and the tensors' bytes one after the other."""

import ctypes
import json
import mmap
import os

import torch

from .refusal import invalid

DTYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "U8": torch.uint8,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
HEADER_BYTES_MAX = 100_000_000


def write(path, tensors):
    """In the order of the names, so that equal tensors give equal bytes. Synced to disk before it returns."""
    rows = [(name, tensors[name].detach().cpu().contiguous()) for name in sorted(tensors)]
    # Others that read this refuse a file which does not say whose order of numbers it holds.
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, tensor in rows:
        size = tensor.numel() * tensor.element_size()
        header[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for _, tensor in rows:
            file.write(ctypes.string_at(tensor.data_ptr(), tensor.numel() * tensor.element_size()))
        file.flush()
        os.fsync(file.fileno())


def read(path):
    """Mapped into memory, so that a large file is read once and only where it is looked at."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size < 8:
            raise invalid("a safetensors file is cut off")
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    length = int.from_bytes(mapped[:8], "little")
    if length > min(HEADER_BYTES_MAX, size - 8):
        raise invalid("a safetensors file is cut off, or is none")
    header = json.loads(mapped[8 : 8 + length])
    header.pop("__metadata__", None)
    return {name: tensor_of(mapped, entry, 8 + length, size) for name, entry in header.items()}


def tensor_of(mapped, entry, start, size):
    dtype, shape = DTYPES.get(entry["dtype"]), entry["shape"]
    begin, end = (start + offset for offset in entry["data_offsets"])
    if dtype is None or not start <= begin <= end <= size:
        raise invalid("a safetensors file holds a tensor of a kind that is not known, or is cut off")
    count = 1
    for extent in shape:
        count *= extent
    if count == 0:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(mapped, dtype=dtype, count=count, offset=begin).reshape(shape)
