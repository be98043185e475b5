"""The messages of newer clients in protocol buffers: a pass as it is sent, a pass and samples as they are answered."""

import json
import sys
from array import array

from .protobuf import BYTES, FIXED64, VARINT, broken, bytes_field, double_field, fields_of, integers, last, number_field, text, values
from .refusal import invalid

PROTOBUF = "application/x-protobuf"
FLOAT32, INT64, INT32 = 1, 2, 3
CODES = {FLOAT32: "f", INT64: "q", INT32: "i"}
STOPPED = {"stop": 0, "length": 1}


def pass_in(data):
    """The call, and its body as JSON would have it."""
    fields = fields_of(data)
    call = "forward" if last(fields, 6, VARINT, 0) else "forward_backward"
    given = {
        "data": [datum_in(part) for part in values(fields, 3, BYTES)],
        "loss_fn": text(fields, 4),
        "loss_fn_config": settings_in(fields),
    }
    return call, {"model_id": text(fields, 1), "seq_id": last(fields, 2, VARINT, 0), f"{call}_input": given}


def settings_in(fields):
    """The newer field has texts too, and repeats the numbers of the older one."""
    entries = [fields_of(part) for part in values(fields, 7, BYTES)]
    if entries:
        return {text(entry, 1): setting_in(fields_of(last(entry, 2, BYTES, b""))) for entry in entries}
    entries = [fields_of(part) for part in values(fields, 5, BYTES)]
    return {text(entry, 1): last(entry, 2, FIXED64, 0.0) for entry in entries}


def setting_in(fields):
    return text(fields, 2) if 2 in fields else last(fields, 1, FIXED64, 0.0)


def datum_in(data):
    fields = fields_of(data)
    chunks = [chunk_in(fields_of(part)) for part in values(fields, 1, BYTES)]
    entries = [fields_of(part) for part in values(fields, 2, BYTES)]
    inputs = {text(entry, 1): tensor_in(fields_of(last(entry, 2, BYTES, b""))) for entry in entries}
    return {"model_input": {"chunks": chunks}, "loss_fn_inputs": inputs}


def chunk_in(fields):
    if 1 not in fields:
        raise invalid("model_input must hold chunks of encoded_text: this trainer reads text alone")
    return {"type": "encoded_text", "tokens": numbers_in(last(fields_of(last(fields, 1, BYTES, b"")), 1, BYTES, b""), INT32)}


def tensor_in(fields):
    if 2 in fields:
        raise invalid("loss_fn_inputs must be dense: this trainer takes no sparse tensors")
    tensor = {"data": numbers_in(last(fields, 1, BYTES, b""), last(fields, 3, VARINT, 0))}
    shape = integers(fields, 4)
    return {**tensor, "shape": shape} if shape else tensor


def numbers_in(data, kind):
    if kind not in CODES:
        raise broken()
    numbers = array(CODES[kind])
    if len(data) % numbers.itemsize != 0:
        raise broken()
    numbers.frombytes(data)
    return in_order(numbers).tolist()


def in_order(numbers):
    """The wire is little-endian."""
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def answer_out(answer):
    """An answer in JSON as a message; None for one that has none."""
    answer = json.loads(answer)
    if "loss_fn_outputs" in answer:
        return passed_out(answer)
    return samples_out(answer) if "sequences" in answer else None


def passed_out(answer):
    rows = [output["logprobs"]["data"] for output in answer["loss_fn_outputs"]]
    ends = [0]
    for row in rows:
        ends.append(ends[-1] + 4 * len(row))
    numbers = [number for row in rows for number in row]
    tensor = bytes_field(1, bytes_of("f", numbers)) + bytes_field(2, bytes_of("q", ends)) + number_field(3, FLOAT32)
    entry = bytes_field(1, "logprobs") + bytes_field(2, tensor)
    record = bytes_field(2, entry) + number_field(3, len(rows))
    metrics = [bytes_field(3, bytes_field(1, name) + double_field(2, value)) for name, value in answer["metrics"].items()]
    return bytes_field(1, answer["loss_fn_output_type"]) + bytes_field(2, record) + b"".join(metrics)


def samples_out(answer):
    sequences = [
        number_field(1, STOPPED[sequence["stop_reason"]])
        + bytes_field(2, bytes_of("i", sequence["tokens"]))
        + bytes_field(3, bytes_of("f", sequence["logprobs"]))
        for sequence in answer["sequences"]
    ]
    message = b"".join(bytes_field(1, sequence) for sequence in sequences)
    scores = answer["prompt_logprobs"]
    if scores is None:
        return message
    return message + bytes_field(2, bytes_of("f", [float("nan") if score is None else score for score in scores]))


def bytes_of(code, numbers):
    return in_order(array(code, numbers)).tobytes()
