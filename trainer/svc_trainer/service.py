"""The calls: each checks its request, then answers at once or queues work."""

import functools
import threading
import time
import uuid

from . import parse
from .checkpoints import Archive, read_facts
from .model import Model
from .refusal import invalid, unknown
from .samplers import Samplers

SESSION_SECONDS_MAX = 3600
# Of the calls that this trainer answers.
VERSION = "2"


class Service:
    def __init__(self, bases, checkpoints, futures):
        self.bases = bases
        self.checkpoints = checkpoints
        self.futures = futures
        self.lock = threading.Lock()
        # The last time of each session.
        self.sessions = {}
        self.models = {}
        # The session of every model, including unloaded ones, whose requests are removed with it.
        self.made_in = {}
        self.samplers = Samplers(self)

    # ── sessions and models ────────────────────────────────────────────────────────────────────

    def get_server_capabilities(self):
        models = [{"model_name": name, "max_context_length": base.context, "trainable": True, "sampleable": True} for name, base in self.bases.items()]
        return {"supported_models": models, "server": "svc", "server_version": VERSION}

    def client_config(self, _body):
        """One worker takes the calls in their order, and bodies are not compressed."""
        return {"pjwt_auth_enabled": False, "parallel_fwdbwd_chunks": False, "proto_compress_fwdbwd": False}

    def client_dynamic_config(self, _body):
        return {"refresh_interval_sec": 300, "sample_cancel_enabled": False}

    def telemetry(self, _body):
        """Accepted, since clients insist, and thrown away."""
        return {"status": "accepted"}

    def create_session(self, _body):
        session_id = uuid.uuid4().hex
        self.drop_silent_sessions()
        with self.lock:
            self.sessions[session_id] = time.monotonic()
        return {"session_id": session_id}

    def session_heartbeat(self, body):
        self.touch(parse.field(body, "session_id", str))
        return {}

    def touch(self, session_id):
        with self.lock:
            if session_id not in self.sessions:
                raise unknown("there is no such session: it was silent for too long, or the trainer was started again; create another")
            self.sessions[session_id] = time.monotonic()

    def drop_silent_sessions(self):
        """Unloads the models of dead sessions, to free memory."""
        with self.lock:
            silent = {session for session, heard in self.sessions.items() if time.monotonic() - heard > SESSION_SECONDS_MAX}
        self.drop_sessions(silent)

    def get_session(self, session_id):
        self.touch(session_id)
        runs = [name for name, session in self.made_in.items() if session == session_id]
        return {"training_run_ids": runs, "sampler_ids": self.samplers.of_session(session_id), "user_metadata": None}

    def list_sessions(self):
        return {"sessions": list(self.sessions)}

    def finish_session(self, session_id):
        self.touch(session_id)
        self.drop_sessions({session_id})
        return {}

    def drop_sessions(self, silent):
        with self.lock:
            theirs = {name for name, session in self.made_in.items() if session in silent}
            self.made_in = {name: session for name, session in self.made_in.items() if name not in theirs}
            self.sessions = {session: heard for session, heard in self.sessions.items() if session not in silent}
            self.models = {name: model for name, model in self.models.items() if name not in theirs}
            self.samplers.forget(silent)
        self.futures.forget(lambda key: key[0] in silent or key[0] in theirs)

    def create_model(self, body):
        session_id = parse.field(body, "session_id", str)
        self.touch(session_id)

        def accept():
            base = self.base_of(parse.field(body, "base_model", str))
            settings = parse.lora_settings(parse.field(body, "lora_config", dict))
            parse.check_optimizer(parse.field(body, "optimizer_config", dict, {}))
            model = Model(uuid.uuid4().hex, session_id, base, settings)
            with self.lock:
                self.models[model.id] = model
                self.made_in[model.id] = session_id
            return model.create, {"model_id": model.id}

        return self.futures.once((session_id, parse.field(body, "model_seq_id", int)), body, accept)

    def base_of(self, name):
        if name not in self.bases:
            raise unknown(f"base_model is not one of this trainer's: {', '.join(self.bases)}")
        return self.bases[name]

    def get_info(self, body):
        model = self.model_of(body)
        data = {"model_name": model.base.name, "arch": model.base.arch}
        return {"model_id": model.id, "model_name": model.base.name, "is_lora": True, "lora_rank": model.settings.rank, "model_data": data}

    def model_of(self, body):
        with self.lock:
            model = self.models.get(parse.field(body, "model_id", str))
            if model is None:
                raise unknown("there is no such model: it was unloaded, or the trainer started again; create one and load a saved state")
            self.sessions[model.session_id] = time.monotonic()
            return model

    def unload_model(self, body):
        """Needs no sequence number, since it is idempotent."""
        return self.on_model(body, "unload", lambda model: functools.partial(self.unload, model))

    def unload(self, model):
        with self.lock:
            self.models.pop(model.id, None)
        return {"model_id": model.id, "type": "unload_model"}

    def on_model(self, body, number, work_of):
        """Work on a model, run once per sequence number."""

        def accept():
            model = self.model_of(body)
            return work_of(model), {"model_id": model.id}

        return self.futures.once((parse.field(body, "model_id", str), number), body, accept)

    # ── training ───────────────────────────────────────────────────────────────────────────────

    def forward(self, body):
        return self.pass_over(body, "forward_input", False)

    def forward_backward(self, body):
        return self.pass_over(body, "forward_backward_input", True)

    def pass_over(self, body, name, wants_gradient):
        def work_of(model):
            return functools.partial(model.forward, parse.work_of(parse.field(body, name, dict), model.base), wants_gradient)

        return self.on_model(body, sequence_of(body), work_of)

    def optim_step(self, body):
        def work_of(model):
            return functools.partial(model.step, parse.adam_params(body))

        return self.on_model(body, sequence_of(body), work_of)

    # ── saved weights ──────────────────────────────────────────────────────────────────────────

    def save_weights(self, body):
        return self.save(body, "weights", lambda model: model.write_state)

    def save_weights_for_sampler(self, body):
        if parse.field(body, "kind", str, "snapshot") != "snapshot":
            raise invalid("kind must be snapshot: a sampling client of this trainer keeps the weights that it was made with")
        if body.get("path") is None and body.get("sampling_session_seq_id") is not None:
            return self.keep_for_sampler(body)
        return self.save(body, "sampler_weights", lambda model: model.write_adapter)

    def keep_for_sampler(self, body):
        """In memory, for a sampling session of the same client."""
        number = parse.field(body, "sampling_session_seq_id", int)

        def keep(model):
            model.check_made()
            sampler = self.samplers.add(model.session_id, number, model.base, model.adapter, None)
            return {"path": None, "sampling_session_id": sampler.id, "type": "save_weights_for_sampler"}

        return self.on_model(body, sequence_of(body), lambda model: functools.partial(keep, model))

    def create_sampling_session(self, body):
        return self.samplers.create(body)

    def asample(self, body):
        return self.samplers.sample(body)

    def save(self, body, kind, writer_of):
        name = parse.checkpoint_name(body)
        call = "save_weights" if kind == "weights" else "save_weights_for_sampler"
        overwrites = parse.field(body, "overwrite", bool, False)

        def work_of(model):
            return lambda: {"path": self.checkpoints.save(model.id, kind, name, writer_of(model), overwrites), "type": call}

        return self.on_model(body, sequence_of(body), work_of)

    def load_weights(self, body):
        if body.get("session_id") is not None:
            raise invalid("session_id is not supported here by this trainer: create a model, and load the state into it (load_state)")
        path = parse.field(body, "path", str)
        run, kind, name = parse.checkpoint_path(path)
        wants_optimizer = parse.field(body, "optimizer", bool, True)

        def work_of(model):
            if kind != "weights":
                raise invalid("path names weights for a sampler, which cannot be trained on: name one of /weights/")
            facts = read_facts(self.checkpoints.folder(run, kind, name), kind)
            model.check_state(facts)
            return lambda: load(model, facts)

        def load(model, facts):
            model.load_state(self.checkpoints.folder(run, kind, name), facts, wants_optimizer)
            return {"path": path, "type": "load_weights"}

        return self.on_model(body, sequence_of(body), work_of)

    def weights_info(self, body):
        run, kind, name = parse.checkpoint_path(parse.field(body, "tinker_path", str))
        facts = read_facts(self.checkpoints.folder(run, kind, name), kind)
        trains = {name: facts[name] for name in ("train_attn", "train_mlp", "train_unembed")}
        return {"base_model": facts["base_model"], "is_lora": True, "lora_rank": facts["rank"], **trains}

    def list_checkpoints(self, run):
        if not self.checkpoints.has_run(run) and run not in self.models:
            raise unknown("there is no such training run")
        return {"checkpoints": self.checkpoints.list(run)}

    def archive(self, run, kind, name):
        return Archive(self.checkpoints.folder(run, kind, name))

    def delete_checkpoint(self, run, kind, name):
        self.checkpoints.remove(run, kind, name)
        return {}


def sequence_of(body):
    sequence = parse.field(body, "seq_id", int)
    if sequence < 0:
        raise invalid("seq_id must be a whole number from 0")
    return sequence
