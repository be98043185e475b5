"""Stands in for SGLang's own kernels, which the package registry has for graphics cards alone. Its server imports some of them on a processor
too, and calls only the first below; the rest belongs to features that the loop does not use, and says so when it is called."""

import torch


def unpinned(make):
    return lambda *args, pin_memory=False, **more: make(*args, **more)


# Its code for adapters asks for memory that a graphics card can read, which PyTorch cannot give without one.
for name in ("tensor", "zeros", "empty", "full"):
    setattr(torch, name, unpinned(getattr(torch, name)))
torch.Tensor.pin_memory = lambda tensor, *_args: tensor


def assign_req_to_token_pool_cpu(req_pool_indices, req_to_token, start_offset, end_offset, out_cache_loc, _row_length):
    """Writes which places of the cache hold the new tokens of each request."""
    at = 0
    for row, start, end in zip(req_pool_indices.tolist(), start_offset.tolist(), end_offset.tolist()):
        req_to_token[row, start:end] = out_cache_loc[at : at + end - start].to(req_to_token.dtype)
        at += end - start


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)

    def missing(*_args, **_kwargs):
        raise NotImplementedError(f"the stand-in for SGLang's kernels has no {name}")

    return missing
