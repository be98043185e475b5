"""Futures: one queue, one worker, and a sequence number per call, under which it runs once."""

import errno
import hashlib
import json
import queue
import sys
import threading
import traceback
import uuid

from .refusal import Refusal, conflict, unknown

KEPT_BYTES_MAX = 256 << 20


class Futures:
    def __init__(self):
        self.accepting = threading.Lock()
        self.changed = threading.Condition()
        self.waiting = queue.Queue()
        # By request: None while it waits, then its answer as JSON. The oldest answers are evicted.
        self.answers = {}
        self.kept_bytes = 0
        # By (model, number): the request and its reply. Kept longer than the answer, so that nothing runs twice.
        self.asked = {}
        threading.Thread(target=self.work, daemon=True).start()

    def once(self, key, body, accept):
        """Returns the earlier reply for a used number; else `accept` checks the call and returns its work and reply."""
        digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).digest()
        with self.accepting:
            used = self.asked.get(key)
            if used is not None and used[0] != digest:
                raise conflict("this sequence number was used for another call: take the next one, or send the same again")
            if used is not None:
                return used[1]
            task, reply = accept()
            request_id = uuid.uuid4().hex
            reply = {"request_id": request_id, **reply}
            self.asked[key] = digest, reply
            with self.changed:
                self.answers[request_id] = None
            self.waiting.put((request_id, task))
            return reply

    def forget(self, is_theirs):
        with self.accepting:
            calls = [self.asked.pop(key) for key in list(self.asked) if is_theirs(key)]
        with self.changed:
            for _, reply in calls:
                # Running work has no answer to drop.
                if self.answers.get(reply["request_id"]) is not None:
                    self.kept_bytes -= len(self.answers.pop(reply["request_id"]))

    def wait(self, request_id, seconds):
        """The answer as JSON, or None."""
        with self.changed:
            if request_id not in self.answers:
                raise unknown("there is no such request: the trainer was started again, or its answer was dropped to make room")
            self.changed.wait_for(lambda: self.answers.get(request_id, b"") is not None, seconds)
            return self.answers.get(request_id)

    def work(self):
        while True:
            request_id, task = self.waiting.get()
            answer = outcome(task)
            with self.changed:
                self.answers[request_id] = answer
                self.kept_bytes += len(answer)
                self.make_room()
                self.changed.notify_all()

    def make_room(self):
        """Evicts the oldest answers; the newest always stays."""
        if self.kept_bytes <= KEPT_BYTES_MAX:
            return
        finished = [request_id for request_id, answer in self.answers.items() if answer is not None]
        for request_id in finished[:-1]:
            if self.kept_bytes > KEPT_BYTES_MAX:
                self.kept_bytes -= len(self.answers.pop(request_id))


def outcome(task):
    """As JSON, which has no non-finite numbers."""
    try:
        return json.dumps(task(), allow_nan=False).encode()
    except Refusal as refusal:
        return json.dumps({"error": refusal.detail, "category": "user"}).encode()
    except MemoryError:
        return failed("there is not enough memory: send fewer or shorter rows")
    except OSError as problem:
        return failed(f"saving or reading failed: {words_of(problem)}")
    except Exception as problem:  # The worker outlives whatever a call does.
        if "out of memory" in str(problem):
            return failed("the device has not enough memory: send fewer or shorter rows, or train a smaller rank")
        traceback.print_exc(file=sys.stderr)
        return failed(f"the trainer failed with {type(problem).__name__}; its log says where")


def failed(reason):
    return json.dumps({"error": reason, "category": "server"}).encode()


def words_of(problem):
    """Leaves out the path."""
    return "the disk is full" if problem.errno in (errno.ENOSPC, errno.EDQUOT) else (problem.strerror or type(problem).__name__).lower()
