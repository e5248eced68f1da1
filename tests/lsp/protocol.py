"""`heddle lsp` over its protocol, as an editor speaks it: findings, counters, actions, damaged messages, rapid saves.

    protocol.py path/to/heddle
"""

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

HEDDLE = os.path.abspath(sys.argv.pop(1))
CACHE = tempfile.TemporaryDirectory()  # of compiled headers, for all tests
PATIENCE = 120  # seconds; only a server that hangs takes so long

RACE = """// a wörd of UTF-8
__global__ void reverse(int *data)
{
    __shared__ int tile[64];
    int i = threadIdx.x;
    /* 𝛼 */ tile[i] = data[i];
    data[i] = tile[63 - i];
    if (i % 2)
        data[i] += 1;
}

int main()
{
    int *data;
    cudaMalloc(&data, 64 * sizeof *data);
    cudaMemset(data, 0, 64 * sizeof *data);
    reverse<<<1, 64>>>(data);
    cudaDeviceSynchronize();
    cudaFree(data);
}
"""
WRITE, READ = 5, 6  # lines of the race, from 0
CLEAN = RACE.replace("    data[i] = tile", "    __syncthreads(); data[i] = tile")
FOREVER = """__global__ void count(int *counter) { atomicAdd(counter, 1); }

int main()
{
    int *counter;
    cudaMalloc(&counter, sizeof *counter);
    cudaMemset(counter, 0, sizeof *counter);
    count<<<1 << 30, 32>>>(counter);
    cudaDeviceSynchronize();
}
"""


def frame(message):
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


class Editor:
    """A client. Everything that the server prints has to be a well-formed message."""

    def __init__(self, home, *options, capabilities=None, initialize=True):
        environment = dict(os.environ, HOME=home, XDG_CACHE_HOME=CACHE.name, TMPDIR=home, ASAN_OPTIONS="detect_leaks=0")
        self.process = subprocess.Popen([HEDDLE, "lsp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=environment)
        self.messages = queue.Queue()
        self.seen = []
        self.count = 0
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        if initialize:
            default = {"textDocument": {"publishDiagnostics": {"relatedInformation": True}},
                       "window": {"workDoneProgress": True}, "workspace": {"inlayHint": {"refreshSupport": True}}}
            self.about = self.ask("initialize", {"capabilities": capabilities or default})["result"]
            self.tell("initialized", {})

    def read(self):
        stream = self.process.stdout
        try:
            while True:
                header = stream.readline()
                if not header:
                    break
                name, _, length = header.partition(b": ")
                assert name == b"Content-Length" and stream.readline() == b"\r\n", header
                body = stream.read(int(length))
                self.messages.put(json.loads(body))
        except Exception as error:  # reported by the next who waits
            self.messages.put(error)
        self.messages.put(None)

    def send(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def tell(self, method, params):
        self.send(frame({"jsonrpc": "2.0", "method": method, "params": params}))

    def wait(self, wanted):
        """The next message that `wanted` is true of."""
        limit = time.monotonic() + PATIENCE
        while True:
            message = self.messages.get(timeout=max(0, limit - time.monotonic()))
            if message is None or isinstance(message, Exception):
                raise AssertionError(f"the server has ended: {message} {self.process.stderr.read()}")
            self.seen.append(message)
            if wanted(message):
                return message

    def ask(self, method, params):
        self.count += 1
        number = self.count
        self.send(frame({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
        return self.wait(lambda message: message.get("id") == number and "method" not in message)

    def diagnostics(self, uri):
        """The next diagnostics that are published of a file."""
        message = self.wait(lambda message: message.get("method") == "textDocument/publishDiagnostics"
                            and message["params"]["uri"] == uri)
        return message["params"]["diagnostics"]

    def progress(self, kind):
        return self.wait(lambda message: message.get("method") == "$/progress"
                         and message["params"]["value"]["kind"] == kind)["params"]

    def open(self, uri):
        self.tell("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "cuda", "version": 1, "text": ""}})

    def save(self, uri):
        self.tell("textDocument/didSave", {"textDocument": {"uri": uri}})

    def end(self):
        """Shuts down as an editor does; returns the exit status."""
        assert self.ask("shutdown", None)["result"] is None
        self.tell("exit", None)
        return self.process.wait(PATIENCE)


class Protocol(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.home = os.path.realpath(self.scratch.name)
        self.editors = []

    def tearDown(self):
        for editor in self.editors:
            editor.process.kill()
            editor.process.wait()
            editor.reader.join()
            for stream in (editor.process.stdin, editor.process.stdout, editor.process.stderr):
                try:
                    stream.close()
                except BrokenPipeError:
                    pass
        self.scratch.cleanup()

    def editor(self, *options, **settings):
        self.editors.append(Editor(self.home, *options, **settings))
        return self.editors[-1]

    def write(self, name, text):
        path = os.path.join(self.home, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return "file://" + urllib.parse.quote(path)

    # --- findings and counters ----------------------------------------------------------------------------------------

    def test_a_file_is_checked_when_opened_and_saved_and_its_lines_have_counters(self):
        uri = self.write("a räce.cu", RACE)
        editor = self.editor()
        self.assertEqual(editor.about["serverInfo"]["name"], "heddle")
        editor.open(uri)
        found = editor.diagnostics(uri)
        race = next(diagnostic for diagnostic in found if diagnostic["code"] == "race")
        self.assertEqual((race["severity"], race["source"]), (1, "heddle"))
        self.assertIn("data race on shared memory tile in kernel reverse\n", race["message"])
        self.assertIn("Fix: Put __syncthreads() between line 6 and line 7.", race["message"])
        lines = {race["range"]["start"]["line"]} | {
            place["location"]["range"]["start"]["line"] for place in race["relatedInformation"]}
        self.assertLessEqual({WRITE, READ}, lines)
        page = urllib.parse.unquote(race["codeDescription"]["href"])[len("file://"):]
        with open(page, encoding="utf-8") as file:
            self.assertIn("race", file.readline())
        # In units of UTF-16: the letter before it in its line is two of them.
        columns = {place["location"]["range"]["start"]["line"]: place["location"]["range"]["start"]["character"]
                   for place in race["relatedInformation"]}
        columns[race["range"]["start"]["line"]] = race["range"]["start"]["character"]
        self.assertEqual(columns[WRITE], len("    /* aa */ "))

        self.counters_of(editor, uri)
        self.action_of(editor, uri, race)

        self.write("a räce.cu", CLEAN)
        editor.save(uri)
        self.assertEqual(editor.diagnostics(uri), [])
        begun = [m["params"]["value"] for m in editor.seen if m.get("method") == "$/progress"]
        self.assertEqual([value["kind"] for value in begun if value["kind"] != "report"], ["begin", "end"] * 2)
        editor.tell("textDocument/didClose", {"textDocument": {"uri": uri}})
        self.assertEqual(editor.diagnostics(uri), [])
        self.assertEqual(editor.end(), 0)
        self.assertEqual(editor.process.stderr.read(), b"")

    def counters_of(self, editor, uri):
        document = {"textDocument": {"uri": uri}}
        hover = editor.ask("textDocument/hover", dict(document, position={"line": READ, "character": 3}))["result"]
        self.assertEqual(hover["contents"]["kind"], "markdown")
        self.assertRegex(hover["contents"]["value"], r"`reverse` \| global store, 4 bytes per lane \| 2 \| 32.0 \| 4.0 sectors")
        self.assertIn("wavefronts", hover["contents"]["value"])
        branch = editor.ask("textDocument/hover", dict(document, position={"line": READ + 1, "character": 0}))["result"]
        self.assertIn("execute the branches of this line 2 times, divergent 2 times", branch["contents"]["value"])
        self.assertIsNone(editor.ask("textDocument/hover", dict(document, position={"line": 0, "character": 0}))["result"])
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
        hints = editor.ask("textDocument/inlayHint", dict(document, range=whole))["result"]
        labels = {hint["position"]["line"]: hint["label"] for hint in hints}
        self.assertIn("store 4.0 sectors", labels[READ])
        self.assertIn("divergent 2 of 2", labels[READ + 1])
        ends = {hint["position"]["line"]: hint["position"]["character"] for hint in hints}
        self.assertEqual(ends[WRITE], len(RACE.splitlines()[WRITE].encode("utf-16-le")) // 2)
        # What was typed since may have moved the lines.
        change = {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": "\n"}]}
        editor.tell("textDocument/didChange", change)
        self.assertIsNone(editor.ask("textDocument/hover", dict(document, position={"line": READ, "character": 3}))["result"])

    def action_of(self, editor, uri, race):
        params = {"textDocument": {"uri": uri}, "range": race["range"], "context": {"diagnostics": [race, {"code": 3}]}}
        actions = editor.ask("textDocument/codeAction", params)["result"]
        self.assertEqual([action["kind"] for action in actions], ["quickfix"])
        edit, = actions[0]["edit"]["changes"][uri]
        self.assertIn("// heddle: allow race\n", edit["newText"])
        self.assertEqual(edit["range"]["start"], {"line": race["range"]["start"]["line"], "character": 0})

    def test_a_file_without_main_gets_a_hint_or_is_checked_as_its_comment_says(self):
        kernel = RACE[:RACE.index("int main")]
        uri = self.write("kernel.cu", "/*\n// heddle: check --op nosuch\n*/\n" + kernel)  # what stands in a comment is prose
        editor = self.editor()
        editor.open(uri)
        hint, = editor.diagnostics(uri)
        self.assertEqual(hint["severity"], 4)
        self.assertIn("has no main", hint["message"])
        self.assertIn("// heddle: check", hint["message"])

        main = RACE[RACE.index("int main"):].replace("int main()", "int main(int count, char **)").replace("1, 64", "1, COUNT")
        main = main.replace("cudaFree", "if (count != 2) return 9; cudaFree")
        self.write("main.cu", "__global__ void reverse(int *data);\n" + main)
        self.write("kernel.cu", "// heddle: check main.cu -D COUNT=64 -- argument\n" + kernel)
        editor.save(uri)
        self.assertEqual([diagnostic["code"] for diagnostic in editor.diagnostics(uri)], ["race"])

        # Lines that are indented below it belong to it, as in pytest; the others do not.
        self.write("kernel.cu", "// heddle: check main.cu\n//     -D COUNT=64\n//     -- argument\n//   more\n" + kernel)
        editor.save(uri)
        self.assertEqual([diagnostic["code"] for diagnostic in editor.diagnostics(uri)], ["race"])

        # Who writes a comment may not lift the sandbox.
        self.write("kernel.cu", "// heddle: check main.cu --no-sandbox\n" + kernel)
        editor.save(uri)
        refused, = editor.diagnostics(uri)
        self.assertEqual(refused["severity"], 2)
        self.assertIn("but not --no-sandbox", refused["message"])
        self.assertEqual(editor.end(), 0)

    def test_findings_in_a_header_stay_when_it_is_opened_until_the_file_that_includes_it_is_checked_again(self):
        kernel, main = RACE[:RACE.index("int main")], RACE[RACE.index("int main"):]
        header = self.write("ké+rnel.cuh", kernel)
        uri = self.write("main.cu", '#include "ké+rnel.cuh"\n' + main)
        editor = self.editor()
        editor.open(uri)
        race, = editor.diagnostics(header)
        self.assertEqual(race["code"], "race")
        editor.open(header)
        found = editor.diagnostics(header)
        self.assertIn(race, found)
        self.assertEqual([one["severity"] for one in found if one != race], [4])  # on its own it has no main

        editor.tell("textDocument/didClose", {"textDocument": {"uri": header}})
        self.assertEqual(editor.diagnostics(header), [race])
        # An editor may escape an address in another way: the finding moves there, and back.
        other = header.replace("%2B", "+")
        editor.open(other)
        self.assertEqual((editor.diagnostics(header), editor.diagnostics(other)), ([], [race]))
        editor.tell("textDocument/didClose", {"textDocument": {"uri": other}})
        self.assertEqual(editor.diagnostics(header), [race])

        self.write("ké+rnel.cuh", CLEAN[:CLEAN.index("int main")])
        editor.save(uri)
        self.assertEqual(editor.diagnostics(header), [])
        self.assertEqual(editor.end(), 0)

    # --- many saves, and ends -----------------------------------------------------------------------------------------

    def test_a_newer_save_cancels_the_check_and_programs_can_write_nothing(self):
        uri = self.write("slow.cu", FOREVER)
        editor = self.editor("--timeout", "100000")
        editor.open(uri)
        editor.progress("report")
        for _ in range(20):
            editor.save(uri)
        editor.progress("report")
        mark = os.path.join(self.home, "written")
        writes = ('#include <stdio.h>\nint main() { FILE *f = fopen("%s", "w"); printf("Content-Length: 1"); return f != 0; }\n'
                  % mark)
        self.write("slow.cu", writes)
        editor.save(uri)
        self.assertEqual(editor.diagnostics(uri), [])
        self.assertFalse(os.path.exists(mark))
        # By hand, too.
        self.write("slow.cu", FOREVER)
        editor.save(uri)
        running = editor.progress("report")
        self.assertRegex(running["value"]["message"], "^kernel count, launch 1$")
        editor.tell("window/workDoneProgress/cancel", {"token": running["token"]})
        self.assertEqual(editor.progress("end")["value"]["message"], "cancelled")
        editor.save(uri)
        editor.progress("report")
        self.assertEqual(editor.end(), 0)  # while it runs

    def test_an_editor_that_goes_without_shutdown_ends_it_with_1(self):
        for goes in (lambda editor: editor.tell("exit", None), lambda editor: editor.process.stdin.close()):
            editor = self.editor()
            goes(editor)
            self.assertEqual(editor.process.wait(PATIENCE), 1)

    # --- damage -------------------------------------------------------------------------------------------------------

    def test_damaged_messages_get_an_error_and_the_server_goes_on(self):
        editor = self.editor(initialize=False)
        damaged = [
            (frame(b"{"), -32700), (frame(b""), -32700), (frame(b"\xff\xfe"), -32700), (frame(b"[" * 5000), -32700),
            (frame(b"[]"), -32600), (frame(b"3"), -32600), (frame({"id": 1}), -32600),
            (frame({"id": {}, "method": "initialize"}), -32600),
            (b"Content-Length: 99999999999999999999\r\n\r\n{}", -32700), (b"Content-Length: -5\r\n\r\n", -32700),
            (b"Content-Length: 0x10\r\n\r\n", -32700), (b"Content-Type: x\r\n\r\n", -32700),
            (b"x" * 20000 + b"\n\n", -32700),
            (frame({"id": 7, "method": "textDocument/hover", "params": {}}), -32002),
        ]
        for data, code in damaged:
            with self.subTest(data[:60]):
                editor.send(data)
                answer = editor.wait(lambda message: "error" in message)
                self.assertEqual(answer["error"]["code"], code, answer)
        editor.send(b"\r\n\n")  # nothing
        self.assertIn("capabilities", editor.ask("initialize", {"capabilities": {"general": {"positionEncodings": [
            1, "utf-32", "utf-8"]}}})["result"])
        for method, params, code in [("initialize", {}, -32600), ("no/such", [], -32601), ("textDocument/hover", [], -32602),
                                     ("textDocument/hover", {"textDocument": 1}, -32602)]:
            self.assertEqual(editor.ask(method, params)["error"]["code"], code)
        for params in ({}, None, [], {"textDocument": {"uri": "untitled:1"}}, {"textDocument": {"uri": "file://%00"}},
                       {"textDocument": {"uri": "file:///" + "a" * 9999}}, {"textDocument": {"uri": 5}}):
            for method in ("didOpen", "didChange", "didSave", "didClose"):
                editor.tell("textDocument/" + method, params)
        missing = "file://" + self.home + "/missing.cu"
        editor.open(missing)
        self.assertIn("no such file", editor.diagnostics(missing)[0]["message"].lower())
        self.assertIsNone(editor.ask("textDocument/hover", {"textDocument": {"uri": missing}})["result"])
        pipe = "file://" + self.home + "/pipe.cu"
        os.mkfifo(self.home + "/pipe.cu")  # reading it would wait for ever
        editor.open(pipe)
        self.assertIn("is a pipe", editor.diagnostics(pipe)[0]["message"])
        far = [{"source": "heddle", "code": "race", "range": {"start": {"line": line}}} for line in (2 ** 31 - 1, 1e300)]
        self.assertEqual(editor.ask("textDocument/codeAction", {"textDocument": {"uri": missing},
                                                                "context": {"diagnostics": far}})["result"], [])
        # A message in pieces, two in one piece, and lower case.
        one, other = (frame({"id": name, "method": "no/such"}) for name in "ab")
        both = one + other.replace(b"Content-L", b"content-l")
        for byte in both[:-5]:
            editor.send(bytes([byte]))
        editor.send(both[-5:])
        for name in "ab":
            editor.wait(lambda message: message.get("id") == name)
        self.assertEqual(editor.ask("shutdown", None)["result"], None)
        self.assertEqual(editor.ask("textDocument/hover", {})["error"]["code"], -32600)
        editor.tell("exit", None)
        self.assertEqual(editor.process.wait(PATIENCE), 0)


if __name__ == "__main__":
    unittest.main()
