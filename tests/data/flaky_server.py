"""A web server with bad manners, for the download tests.

    python3 flaky_server.py CONTENT LOG

serves the bytes of CONTENT at http://127.0.0.1:PORT/MANNER/any-name, prints PORT, appends a line to LOG for every
request, and ends when its standard input does. What each MANNER does is in the table at the end.
"""

import http.server
import re
import socketserver
import sys
import threading
import time

PIECE = 4096


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        manner = self.path.split("/")[1]
        wanted = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        self.start = int(wanted.group(1)) if wanted else 0
        with self.server.lock:
            self.server.log.write(f"{self.path} {self.start}\n")
            self.server.log.flush()
            self.turn = self.server.turns.get(self.path, 0)
            self.server.turns[self.path] = self.turn + 1
        self.close_connection = True
        try:
            MANNERS[manner](self)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the client had enough

    def log_message(self, *arguments):
        pass

    def head(self, status, length=None, content_range=None, location=None):
        self.send_response(status)
        if length is not None:
            self.send_header("Content-Length", str(length))
        if content_range is not None:
            self.send_header("Content-Range", content_range)
        if location is not None:
            self.send_header("Location", location)
        self.send_header("Connection", "close")
        self.end_headers()

    def send(self, content, ranges=True, at_most=None, announce=True):
        """Sends content, from where the client asked if `ranges`; breaks off after `at_most` bytes."""
        start = self.start if ranges else 0
        if start > 0 and start >= len(content):
            self.head(416, 0, f"bytes */{len(content)}")
            return
        body = content[start:]
        length = len(body) if announce else None
        if start > 0:
            self.head(206, length, f"bytes {start}-{len(content) - 1}/{len(content)}")
        else:
            self.head(200, length)
        self.wfile.write(body[:at_most])

    def good(self):
        self.send(self.server.content)

    def cut(self):
        self.send(self.server.content, at_most=len(self.server.content) * 2 // 5)

    def cut_unannounced(self):
        self.send(self.server.content, at_most=len(self.server.content) * 2 // 5, announce=False)

    def cut_always(self):
        self.send(self.server.content, ranges=False, at_most=PIECE)

    def cut_empty(self):
        self.send(self.server.content, at_most=0)

    def ignores_range(self):
        at_most = len(self.server.content) // 2 if self.turn == 0 else None
        self.send(self.server.content, ranges=False, at_most=at_most)

    def wrong(self):
        self.send(bytes(byte ^ 1 for byte in self.server.content))

    def short(self):
        self.send(self.server.content[: len(self.server.content) // 2])

    def lies_about_range(self):
        self.head(206, len(self.server.content), f"bytes {self.start + 7}-99/100")
        self.wfile.write(self.server.content)

    def endless(self):
        self.head(200)
        while True:
            self.wfile.write(bytes(PIECE))

    def missing(self):
        self.head(404, 0)

    def redirect(self):
        self.head(302, 0, location="/good/" + self.path.split("/")[2])

    def redirect_forever(self):
        self.head(302, 0, location=self.path)

    def redirect_to_file(self):
        self.head(302, 0, location="file:///etc/passwd")

    def slow(self):
        self.head(200, len(self.server.content))
        for start in range(0, len(self.server.content), PIECE):
            self.wfile.write(self.server.content[start: start + PIECE])
            self.wfile.flush()
            time.sleep(0.02)


MANNERS = {
    "good": Handler.good,  # as it should be
    "cut": Handler.cut,  # breaks off after two fifths, resumes when asked
    "cut_unannounced": Handler.cut_unannounced,  # the same, without saying how long the file is
    "cut_always": Handler.cut_always,  # a little from the start, each time
    "cut_empty": Handler.cut_empty,  # announces the file and sends nothing
    "ignores_range": Handler.ignores_range,  # breaks off once, then sends it all whatever is asked
    "wrong": Handler.wrong,  # the right number of wrong bytes
    "short": Handler.short,  # has only half the file
    "lies_about_range": Handler.lies_about_range,  # resumes elsewhere than asked
    "endless": Handler.endless,  # never stops
    "missing": Handler.missing,  # 404
    "redirect": Handler.redirect,  # to good
    "redirect_forever": Handler.redirect_forever,
    "redirect_to_file": Handler.redirect_to_file,
    "slow": Handler.slow,
}


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass


def main():
    with open(sys.argv[1], "rb") as file:
        content = file.read()
    server = Server(("127.0.0.1", 0), Handler)
    server.content = content
    server.log = open(sys.argv[2], "a")
    server.lock = threading.Lock()
    server.turns = {}
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()


main()
