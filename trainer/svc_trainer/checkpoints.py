"""Saved weights on disk: each is a folder that is written atomically."""

import fcntl
import json
import os
import shutil
import tarfile
import uuid
from datetime import datetime, timezone

from .llama import ATTENTION, FEED_FORWARD, HEAD
from .refusal import Refusal, conflict, unknown

KINDS = {"weights": "training", "sampler_weights": "sampler"}
SCHEME = "tinker://"
BLOCK_BYTES = 512
RECORD_BYTES = 10_240


class Checkpoints:
    def __init__(self, state):
        self.saved = os.path.join(state, "checkpoints")
        self.partial = os.path.join(state, "partial")
        os.makedirs(self.saved, exist_ok=True)
        self.lock = open(os.path.join(state, "lock"), "w", encoding="utf-8")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            raise Refusal(409, "another trainer works in this state folder: stop it, or give --state another folder") from problem
        # Left by a process that ended while it wrote or removed a checkpoint.
        shutil.rmtree(self.partial, ignore_errors=True)
        os.makedirs(self.partial, exist_ok=True)

    def save(self, model_id, kind, name, write, overwrites=False):
        """`write` fills a temporary folder and syncs its files; then the folder is renamed."""
        beside = os.path.join(self.partial, uuid.uuid4().hex)
        place = os.path.join(self.saved, model_id, kind)
        try:
            os.mkdir(beside)
            write(beside)
            sync_folder(beside)
            make_folders(place, self.saved)
            if overwrites and os.path.exists(os.path.join(place, name)):
                self.remove(model_id, kind, name)
            if os.path.exists(os.path.join(place, name)):
                raise conflict("there is a checkpoint of this name already: choose another, or delete it first")
            os.rename(beside, os.path.join(place, name))
            sync_folder(place)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
        return f"{SCHEME}{model_id}/{kind}/{name}"

    def folder(self, model_id, kind, name):
        folder = os.path.join(self.saved, model_id, kind, name)
        if kind not in KINDS or not os.path.isdir(folder):
            raise unknown("there is no such checkpoint: list those of the training run")
        return folder

    def has_run(self, model_id):
        return os.path.isdir(os.path.join(self.saved, model_id))

    def runs(self):
        return names_in(self.saved)

    def list(self, model_id):
        rows = [row_of(self.saved, model_id, kind, name) for kind in KINDS for name in names_in(os.path.join(self.saved, model_id, kind))]
        return sorted(rows, key=lambda row: (row["time"], row["checkpoint_id"]))

    def remove(self, model_id, kind, name):
        folder = self.folder(model_id, kind, name)
        beside = os.path.join(self.partial, uuid.uuid4().hex)
        os.rename(folder, beside)
        sync_folder(os.path.dirname(folder))
        shutil.rmtree(beside, ignore_errors=True)


def make_folders(folder, above):
    """Syncs each folder into its parent, so that a crash cannot lose the parent of a renamed checkpoint."""
    if os.path.isdir(folder) or folder == above:
        return
    make_folders(os.path.dirname(folder), above)
    os.makedirs(folder, exist_ok=True)
    sync_folder(os.path.dirname(folder))


def sync_folder(folder):
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def row_of(saved, model_id, kind, name):
    folder = os.path.join(saved, model_id, kind, name)
    changed = datetime.fromtimestamp(os.stat(folder).st_mtime, timezone.utc)
    return {
        "checkpoint_id": f"{kind}/{name}",
        "checkpoint_type": KINDS[kind],
        "tinker_path": f"{SCHEME}{model_id}/{kind}/{name}",
        "time": changed.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "size_bytes": sum(os.path.getsize(os.path.join(folder, file)) for file in names_in(folder)),
    }


def names_in(folder):
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


def read_facts(folder, kind):
    """The base model of a checkpoint, its rank, and what it trains."""
    if kind == "weights":
        with open(os.path.join(folder, "state.json"), encoding="utf-8") as file:
            return {"train_unembed": False, **json.load(file)}
    config = read_config(folder)
    targets = config["target_modules"]
    trains = {"train_attn": ATTENTION[0] in targets, "train_mlp": FEED_FORWARD[0] in targets, "train_unembed": HEAD in targets}
    return {"base_model": config["base_model_name_or_path"], "rank": config["r"], **trains}


def read_config(folder):
    with open(os.path.join(folder, "adapter_config.json"), encoding="utf-8") as file:
        return json.load(file)


class Archive:
    """A checkpoint as a deterministic tar of known length."""

    def __init__(self, folder):
        self.files = [(name, os.path.join(folder, name)) for name in names_in(folder)]
        blocks = sum(1 + -(-os.path.getsize(path) // BLOCK_BYTES) for _, path in self.files) + 2
        self.size = -(-blocks * BLOCK_BYTES // RECORD_BYTES) * RECORD_BYTES

    def write(self, stream):
        with tarfile.open(fileobj=stream, mode="w|", format=tarfile.USTAR_FORMAT, bufsize=RECORD_BYTES) as tar:
            for name, path in self.files:
                entry = tarfile.TarInfo(name)
                entry.size, entry.mode = os.path.getsize(path), 0o644
                with open(path, "rb") as file:
                    tar.addfile(entry, file)
