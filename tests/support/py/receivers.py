"""Receivers of notices for tests: a webhook with its own check of signatures, and an SMTP server.

Both keep what they received, refuse messages if the test says so, and can be stopped and started on the same port.
"""
import base64
import hashlib
import hmac
import http.server
import json
import socketserver
import threading
import time

TOLERANCE_SECONDS = 300


class BadSignature(Exception):
    pass


def verify(secret, headers, body):
    """Checks a signature as https://www.standardwebhooks.com specifies; `secret` begins with whsec_."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    message_id, timestamp = headers["webhook-id"], headers["webhook-timestamp"]
    if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        raise BadSignature(f"timestamp {timestamp}")
    signed = f"{message_id}.{timestamp}.".encode() + body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    for one in headers["webhook-signature"].split(" "):
        version, _, signature = one.partition(",")
        if version == "v1" and hmac.compare_digest(signature, expected):
            return
    raise BadSignature(headers["webhook-signature"])


class _Server:
    def __init__(self, tls=None):
        """`tls`: the ssl.SSLContext for the server's side."""
        self.lock = threading.Lock()
        self.server = None
        self.port = 0
        self.tls = tls

    def start(self):
        self.server = self.make(("127.0.0.1", self.port))
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def stop(self):
        if self.server is not None:
            self.server.shutdown()
            self.server.server_close()
            self.server = None


class WebhookReceiver(_Server):
    """A webhook. `received`: (webhook-id, body as JSON) of each request with a valid signature."""

    def __init__(self, secret, tls=None):
        super().__init__(tls)
        self.secret = secret
        self.received = []
        self.forged = []
        self.status = 200

    @property
    def url(self):
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}/hook"

    def ids(self, kind=None):
        with self.lock:
            return [i for i, body in self.received if kind is None or body["type"] == kind]

    def bodies(self, kind=None):
        with self.lock:
            return [body for _, body in self.received if kind is None or body["type"] == kind]

    def make(self, address):
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with receiver.lock:
                    try:
                        verify(receiver.secret, self.headers, body)
                        if receiver.status < 300:
                            receiver.received.append((self.headers["webhook-id"], json.loads(body)))
                    except (BadSignature, KeyError, ValueError) as error:
                        receiver.forged.append(repr(error))
                    status = receiver.status
                self.send_response(status)
                if 300 <= status < 400:
                    self.send_header("Location", receiver.url + "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(address, Handler)
        server.daemon_threads = True
        if self.tls:
            server.socket = self.tls.wrap_socket(server.socket, server_side=True)
        return server


class SmtpReceiver(_Server):
    """An SMTP server. `mails`: (sender, recipients, bytes) of each accepted message. With `tls` it offers STARTTLS,
    and accepts mail only after that and after a sign-in as `user` with `password`."""

    def __init__(self, tls=None, user="", password=""):
        super().__init__(tls)
        self.mails = []
        self.refuse = False
        self.credentials = base64.b64encode(f"\0{user}\0{password}".encode()).decode()

    def make(self, address):
        receiver = self

        class Handler(socketserver.StreamRequestHandler):
            def say(self, line):
                self.wfile.write(line.encode() + b"\r\n")

            def handle(self):
                sender, recipients = None, []
                secure, known = False, receiver.tls is None
                self.say("220 test ESMTP")
                while raw := self.rfile.readline():
                    line = raw.decode("latin-1").rstrip("\r\n")
                    verb = line[:4].upper()
                    if verb == "EHLO":
                        self.say("250-test")
                        if receiver.tls:
                            self.say("250-AUTH PLAIN" if secure else "250-STARTTLS")
                        self.say("250 8BITMIME")
                    elif line.upper() == "STARTTLS":
                        self.say("220 go on")
                        try:
                            self.request = receiver.tls.wrap_socket(self.request, server_side=True)
                        except OSError:
                            return  # the client does not trust this server's certificate
                        self.setup()
                        secure = True
                    elif verb == "AUTH":
                        answer = line.split(" ")[2:]
                        if not answer:
                            self.say("334 ")
                            answer = [self.rfile.readline().decode().strip()]
                        known = secure and answer == [receiver.credentials]
                        self.say("235 welcome" if known else "535 no")
                    elif not known and verb in ("MAIL", "RCPT", "DATA"):
                        self.say("530 sign in first")
                    elif verb == "HELO":
                        self.say("250 test")
                    elif verb == "MAIL":
                        sender, recipients = line[10:].split(" ")[0].strip("<>"), []
                        self.say("451 later" if receiver.refuse else "250 ok")
                    elif verb == "RCPT":
                        recipient = line[8:].strip("<>")
                        gone = recipient.startswith("gone@")
                        if not gone:
                            recipients.append(recipient)
                        self.say("550 nobody here" if gone else "250 ok")
                    elif verb == "DATA":
                        self.say("354 go on")
                        lines = []
                        while part := self.rfile.readline():
                            if part == b".\r\n":
                                break
                            lines.append(part[1:] if part.startswith(b".") else part)
                        with receiver.lock:
                            receiver.mails.append((sender, recipients, b"".join(lines)))
                        self.say("250 taken")
                    elif verb == "QUIT":
                        self.say("221 bye")
                        return
                    else:
                        self.say("250 ok")

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = True
            daemon_threads = True

        return Server(address, Handler)
