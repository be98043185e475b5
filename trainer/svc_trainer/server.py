"""The HTTP side: routes, keys, request and response bodies; `service` implements the calls."""

import hmac
import json
import re
import sys
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote

from . import messages, runs
from .checkpoints import Archive
from .links import Elsewhere, Links
from .parse import KIND, MODEL, NAME
from .refusal import Refusal, invalid, unknown

PREFIX = "/api/v1/"
BODY_BYTES_MAX = 256 << 20
BODY_DIGITS_MAX = 20
LONG_POLL_SECONDS = 20
PASSES = ("forward", "forward_backward")
IDLE_SECONDS = 120
CALLS = (
    "create_session",
    "session_heartbeat",
    "create_model",
    "get_info",
    "unload_model",
    "forward",
    "forward_backward",
    "optim_step",
    "save_weights",
    "save_weights_for_sampler",
    "load_weights",
    "weights_info",
    "client/config",
    "client/dynamic_config",
    "telemetry",
    "create_sampling_session",
    "asample",
)
RUN = rf"training_runs/({MODEL})/checkpoints"
CHECKPOINT = rf"{RUN}/({KIND})/({NAME})"
SESSION = r"sessions/([0-9a-f]{1,64})"


def make_server(service, host, port, key):
    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def handle_error(self, request, client_address):
            """Disconnected clients are not logged."""
            if not isinstance(sys.exc_info()[1], ConnectionError):
                super().handle_error(request, client_address)

    return Server((host, port), handler_of(service, key))


def handler_of(service, key):
    links = Links(key)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = IDLE_SECONDS
        # Sends head and body in one packet, to avoid the delay of Nagle's algorithm.
        wbufsize = -1
        disable_nagle_algorithm = True

        def do_GET(self):
            self.answer(self.get)

        def do_POST(self):
            self.answer(self.post)

        def do_DELETE(self):
            self.answer(self.delete)

        def get(self, call):
            if call == "healthz":
                return {"status": "ok"}
            query = parse_qs(self.path.partition("?")[2])
            if found := re.fullmatch(CHECKPOINT + "/download", call):
                links.check(call, query)
                return service.archive(*found.groups())
            self.check_key()
            if call == "get_server_capabilities":
                return service.get_server_capabilities()
            if call == "training_runs":
                return runs.list_runs(service, query)
            if call == "checkpoints":
                return runs.list_checkpoints(service, query)
            if call == "sessions":
                return service.list_sessions()
            if found := re.fullmatch(SESSION, call):
                return service.get_session(*found.groups())
            if found := re.fullmatch(rf"training_runs/({MODEL})", call):
                return runs.run_view(service, *found.groups())
            if found := re.fullmatch(r"samplers/([0-9a-f]{1,64})", call):
                return service.samplers.of(*found.groups()).view()
            if found := re.fullmatch(RUN, call):
                return service.list_checkpoints(*found.groups())
            if found := re.fullmatch(CHECKPOINT + "/archive", call):
                archive = service.archive(*found.groups())
                # The SDK asks for JSON or gzip and wants an address in its place; whoever takes anything gets the bytes.
                if not re.search("json|gzip", " ".join(self.headers.get_all("accept", []))):
                    return archive
                return links.to(self.headers.get("host", ""), PREFIX, call.removesuffix("archive") + "download")
            raise unknown("there is no such call")

        def post(self, call):
            self.check_key()
            if found := re.fullmatch(SESSION + "/finish", call):
                self.has_read = self.headers.get("content-length", "0") == "0"
                return service.finish_session(*found.groups())
            if call in PASSES and self.headers.get_content_type() == messages.PROTOBUF:
                call, body = messages.pass_in(self.read_bytes())
            else:
                body = self.read_body()
            if call == "retrieve_future":
                return retrieve(service.futures, body, messages.PROTOBUF in self.headers.get("accept", ""))
            if call in CALLS:
                return getattr(service, call.replace("/", "_"))(body)
            raise unknown("there is no such call")

        def delete(self, call):
            self.check_key()
            if found := re.fullmatch(CHECKPOINT, call):
                return service.delete_checkpoint(*found.groups())
            raise unknown("there is no such call")

        def check_key(self):
            given = [self.headers.get("x-api-key", ""), self.headers.get("authorization", "").removeprefix("Bearer ")]
            if key is not None and not any(hmac.compare_digest(text.encode(), key.encode()) for text in given):
                raise Refusal(401, "this trainer wants its key in x-api-key, or as a bearer token in authorization")

        def read_body(self):
            """Browsers need a CORS preflight for this content type, which this server never grants."""
            if self.headers.get_content_type() != "application/json":
                raise Refusal(415, "the body must be JSON, with the content-type application/json")
            return parse_object(self.read_bytes())

        def read_bytes(self):
            if self.headers.get("content-encoding", "identity") != "identity":
                raise Refusal(415, "the body must not be compressed: client/config says so")
            length = self.headers.get("content-length", "")
            if not length.isascii() or not length.isdigit():
                raise Refusal(411, "the body needs a content-length")
            # Python limits the digits of an integer.
            if len(length) > BODY_DIGITS_MAX or int(length) > BODY_BYTES_MAX:
                raise Refusal(413, f"the body must have at most {BODY_BYTES_MAX} bytes: send fewer rows at a time")
            text = self.rfile.read(int(length))
            self.has_read = True
            return text

        def answer(self, respond):
            self.has_read = self.command == "GET"
            status, content = self.attempt(respond)
            # An unread body would be parsed as the next request.
            self.close_connection = self.close_connection or not self.has_read
            is_archive = isinstance(content, Archive)
            if isinstance(content, Elsewhere):
                status, elsewhere, content = 302, content, b"{}"
            else:
                elsewhere = None
            is_message = isinstance(content, Message)
            self.send_response(status)
            if elsewhere is not None:
                self.send_header("location", elsewhere.url)
                self.send_header("expires", elsewhere.expires)
            kind = "application/x-tar" if is_archive else messages.PROTOBUF if is_message else "application/json"
            self.send_header("content-type", kind)
            self.send_header("content-length", str(content.size if is_archive else len(content)))
            if self.close_connection:
                self.send_header("connection", "close")
            self.end_headers()
            if is_archive:
                content.write(self.wfile)
            else:
                self.wfile.write(content)
            self.wfile.flush()

        def attempt(self, respond):
            try:
                path = unquote(self.path.partition("?")[0])
                if not path.startswith(PREFIX):
                    raise unknown(f"there is no such path: calls begin with {PREFIX}")
                answer = respond(path[len(PREFIX) :])
                return 200, answer if isinstance(answer, (bytes, Archive, Elsewhere)) else json.dumps(answer).encode()
            except Refusal as refusal:
                return refusal.status, json.dumps({"detail": refusal.detail}).encode()
            except TimeoutError:
                return 408, json.dumps({"detail": "the body did not come in time"}).encode()
            except Exception as problem:
                traceback.print_exc(file=sys.stderr)
                return 500, json.dumps({"detail": f"the trainer failed with {type(problem).__name__}; its log says where"}).encode()

        def handle_expect_100(self):
            super().handle_expect_100()
            self.wfile.flush()
            return True

        def log_message(self, *_words):
            """No access log."""

    return Handler


class Message(bytes):
    """In protocol buffers."""


def retrieve(futures, body, takes_messages):
    request_id = body.get("request_id")
    if type(request_id) is not str:
        raise invalid("request_id is missing")
    answer = futures.wait(request_id, LONG_POLL_SECONDS)
    if answer is None:
        raise Refusal(408, "not done yet: ask again")
    message = messages.answer_out(answer) if takes_messages else None
    return answer if message is None else Message(message)


def parse_object(text):
    try:
        body = json.loads(text, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as problem:
        raise invalid("the body must be JSON, without NaN or Infinity") from problem
    if type(body) is not dict:
        raise invalid("the body must be a JSON object")
    return body


def refuse_constant(_word):
    raise ValueError
