"""Training runs as clients list them: models in memory, and those that only saved something."""

import time
from datetime import datetime, timezone

from .checkpoints import read_facts
from .refusal import unknown

LIMIT_MAX = 1000


def run_view(service, run):
    model = service.models.get(run)
    if model is None and not service.checkpoints.has_run(run):
        raise unknown("there is no such training run")
    saved = service.checkpoints.list(run)
    newest = {kind: ([None] + [row for row in saved if row["checkpoint_type"] == kind])[-1] for kind in ("training", "sampler")}
    facts = facts_of(service, run, model, saved)
    return {
        "training_run_id": run,
        "base_model": facts["base_model"],
        "model_owner": "svc",
        "is_lora": True,
        "corrupted": False,
        "lora_rank": facts["rank"],
        "last_request_time": time_of(service, model, saved),
        "last_checkpoint": newest["training"],
        "last_sampler_checkpoint": newest["sampler"],
        "user_metadata": None,
    }


def facts_of(service, run, model, saved):
    if model is not None:
        return {"base_model": model.base.name, "rank": model.settings.rank}
    kind, name = saved[-1]["checkpoint_id"].split("/")
    return read_facts(service.checkpoints.folder(run, kind, name), kind)


def time_of(service, model, saved):
    heard = service.sessions.get(model.session_id) if model is not None else None
    if heard is None:
        return saved[-1]["time"] if saved else now_text()
    return now_text(time.monotonic() - heard)


def now_text(seconds_ago=0.0):
    then = datetime.fromtimestamp(time.time() - seconds_ago, timezone.utc)
    return then.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def list_runs(service, query):
    saved = [run for run in service.checkpoints.runs() if service.checkpoints.list(run)]
    return page("training_runs", sorted({*saved, *service.models}), query, lambda run: run_view(service, run))


def list_checkpoints(service, query):
    rows = [row for run in service.checkpoints.runs() for row in service.checkpoints.list(run)]
    return page("checkpoints", rows, query, lambda row: row)


def page(name, rows, query, view):
    offset, limit = number_in(query, "offset", 0), min(number_in(query, "limit", 20), LIMIT_MAX)
    cursor = {"offset": offset, "limit": limit, "total_count": len(rows)}
    return {name: [view(row) for row in rows[offset : offset + limit]], "cursor": cursor}


def number_in(query, name, default):
    text = (query.get(name) or [""])[-1]
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default
