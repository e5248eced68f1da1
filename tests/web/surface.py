"""The HTTP surface of `heddle learn --web`: who may ask, what is answered to nonsense, and that no file is lost or leaks.

    tests/web/surface.py build/heddle course
"""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

HEDDLE = os.path.abspath(sys.argv.pop(1))
COURSE = os.path.abspath(sys.argv.pop(1))
FILE = "05-first-kernels/05.1-which-element.cu"
SOURCE = "/v1/learn/exercises/05.1/source"


class Surface(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.mkdtemp()
        # A course of our own, to put things into: links to the chapters, and one real chapter.
        cls.course = os.path.join(cls.scratch, "course")
        shutil.copytree(os.path.join(COURSE, "05-first-kernels"), os.path.join(cls.course, "05-first-kernels"))
        shutil.copytree(os.path.join(COURSE, "include"), os.path.join(cls.course, "include"))
        shutil.copy(os.path.join(COURSE, "GLOSSARY.md"), cls.course)
        with open(os.path.join(cls.scratch, "secret.svg"), "w", encoding="utf-8") as file:
            file.write("<svg/>")
        os.symlink("../../secret.svg", os.path.join(cls.course, "05-first-kernels", "linked.svg"))
        cls.environment = dict(os.environ, HEDDLE_COURSE=cls.course, HOME=cls.scratch)
        cls.folder = os.path.join(cls.scratch, "mine")
        subprocess.run([HEDDLE, "learn", "init", cls.folder], env=cls.environment, check=True, capture_output=True)
        cls.server = subprocess.Popen([HEDDLE, "learn", "--web"], cwd=cls.folder, env=cls.environment, text=True,
                                      stdout=subprocess.PIPE)
        for line in cls.server.stdout:
            found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})", line)
            if found:
                cls.port, cls.token = int(found.group(1)), found.group(2)
                break

    @classmethod
    def tearDownClass(cls):
        cls.server.send_signal(signal.SIGINT)
        code = cls.server.wait(timeout=60)
        cls.server.stdout.close()
        shutil.rmtree(cls.scratch)
        if code != 130:
            raise AssertionError(f"after Ctrl-C the server ended with {code}, not with 130")

    def ask(self, method, path, body=None, token=True, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            headers.setdefault("Cookie", f"heddle-{self.port}={self.token}")
        if method in ("PUT", "POST"):
            headers.setdefault("Content-Type", "application/json")
            body = "{}" if body is None else body
        connection.request(method, path, body=body, headers=headers)
        response = connection.getresponse()
        content = response.read()
        connection.close()
        return response, content

    def ask_json(self, method, path, body=None, code=200, **headers):
        response, content = self.ask(method, path, body, **headers)
        self.assertEqual(response.status, code, f"{method} {path}: {content[:300]}")
        self.assertEqual(response.headers["Content-Type"], "application/json")
        return json.loads(content)

    def refused(self, code, method, path, body=None, **headers):
        answer = self.ask_json(method, path, body, code, **headers)
        self.assertTrue(answer["error"])
        return answer["error"]

    def raw(self, text):
        """Sends bytes as they are, and returns the status; 0: the server hung up."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as to:
            try:
                to.sendall(text)
                to.shutdown(socket.SHUT_WR)
                answer = to.recv(4096)
            except TimeoutError:
                raise
            except OSError:  # it has hung up already
                answer = b""
        return int(answer.split()[1]) if answer else 0

    def exercise(self):
        return self.ask_json("GET", "/v1/learn/exercises/05.1")

    def text(self):
        with open(os.path.join(self.folder, FILE), encoding="utf-8") as file:
            return file.read()

    # --- who may ask --------------------------------------------------------------------------------------------------

    def test_the_address_with_the_token_sets_a_cookie_that_scripts_cannot_read(self):
        response, content = self.ask("GET", f"/?token={self.token}", token=False)
        self.assertEqual(response.status, 200)
        self.assertIn(b"<title>heddle learn</title>", content)
        self.assertEqual(response.headers["Set-Cookie"],
                         f"heddle-{self.port}={self.token}; Path=/; HttpOnly; SameSite=Strict")
        policy = response.headers["Content-Security-Policy"]
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn("unsafe", policy)
        self.assertNotIn("*", policy)

    def test_without_the_token_nothing_is_told(self):
        for path in ("/", "/v1/learn/course", "/v1/learn/events", "/no/such/thing", "/learn/main.js"):
            self.refused(401, "GET", path, token=False)
            self.refused(401, "GET", path, token=False, Cookie=f"heddle-{self.port}={'0' * 32}")
        self.refused(401, "POST", f"/v1/learn/exercises/05.1/judge?token={self.token}", token=False)
        response, content = self.ask("GET", "/", token=False, Accept="text/html")
        self.assertEqual(response.status, 401)
        self.assertIn(b"The token is missing", content)

    def test_another_name_for_this_machine_is_refused(self):
        for host in ("evil.example", f"evil.example:{self.port}", "127.0.0.1.evil.example"):
            self.refused(421, "GET", "/v1/learn/course", Host=host)
        for host in ("localhost:1", "127.0.0.1", f"[::1]:{self.port}"):
            self.ask_json("GET", "/v1/learn/course", Host=host)
        self.assertEqual(self.raw(b"GET / HTTP/1.1\r\n\r\n"), 400)
        self.assertEqual(self.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n"), 400)

    def test_another_origin_is_refused(self):
        for origin in ("http://evil.example", "null", f"https://127.0.0.1:{self.port}", "http://127.0.0.1:1"):
            self.refused(403, "GET", "/v1/learn/course", Origin=origin)
            self.refused(403, "POST", "/v1/learn/exercises/05.1/reset", Origin=origin)
            self.refused(403, "OPTIONS", "/v1/learn/course", Origin=origin)
        self.refused(403, "GET", "/v1/learn/course", Sec_Fetch_Site="same-site")
        self.ask_json("GET", "/v1/learn/course", Origin=f"http://127.0.0.1:{self.port}")

    # --- nonsense -----------------------------------------------------------------------------------------------------

    def test_paths_lead_nowhere_else(self):
        for path in ("/../secret.svg", "/course/../secret.svg", "/course/05-first-kernels/..%2f..%2fsecret.svg",
                     "/course/%2e%2e/secret.svg", "/course/05-first-kernels/.hidden", "//etc/passwd", "/%00",
                     "/course/05-first-kernels//grid-1d.svg", "/%ff"):
            self.refused(400, "GET", path)
        for path in ("/course/05-first-kernels/linked.svg", "/course/include/learn.h", "/course/05-first-kernels/exercises",
                     "/course/05-first-kernels/none.svg", "/course/06-memory/README.md", "/v1/learn/exercises/99.9",
                     "/v1/learn/chapters/none", "/web/learn.html", "/etc/passwd"):
            self.refused(404, "GET", path)
        response, content = self.ask("GET", "/course/05-first-kernels/grid-1d.svg")
        self.assertEqual((response.status, response.headers["Content-Type"]), (200, "image/svg+xml"))
        self.assertIn(b"</svg>", content)

    def test_wrong_methods_and_types_are_named(self):
        response, _ = self.ask("DELETE", SOURCE)
        self.assertEqual((response.status, response.headers["Allow"]), (405, "PUT"))
        self.refused(405, "POST", "/style.css")
        self.refused(415, "PUT", SOURCE, "{}", Content_Type="text/plain")

    def test_long_addresses_and_odd_requests_are_answered(self):
        self.refused(414, "GET", "/" + "a" * 3000)
        self.assertIn(self.raw(b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"), (0, 400, 413, 414, 431))
        self.assertIn(self.raw(b"nonsense\r\n\r\n"), (0, 400))
        self.assertIn(self.raw(b"\1\2\3 \xff\r\n\r\n"), (0, 400))
        self.ask_json("GET", "/v1/learn/course")

    def test_bad_bodies_change_nothing(self):
        before = self.text()
        for body in ("", "{", "[]", "{\"text\": 1}", "{\"text\": \"x\"}", "{\"text\": \"x\", \"base\": 7}", "[" * 100000,
                     "{\"text\": \"\\u0000\", \"base\": \"\"}", b"{\"text\": \"\xff\", \"base\": \"\"}"):
            self.refused(400, "PUT", SOURCE, body)
        self.refused(413, "PUT", SOURCE, "x" * (5 << 20))
        self.refused(413, "PUT", SOURCE, json.dumps({"text": "x" * (2 << 20), "base": self.exercise()["version"]}))
        self.assertEqual(self.text(), before)

    # --- the learner's file -------------------------------------------------------------------------------------------

    def test_a_text_is_saved_and_one_made_of_an_older_text_is_not(self):
        first = self.exercise()
        self.assertEqual(first["text"], self.text())
        text = first["text"] + "// über\n"
        saved = self.ask_json("PUT", SOURCE, json.dumps({"text": text, "base": first["version"]}))
        self.assertEqual(self.text(), text)
        self.assertEqual(self.exercise()["version"], saved["version"])
        answer = self.ask_json("PUT", SOURCE, json.dumps({"text": "lost", "base": first["version"]}), code=409)
        self.assertEqual((answer["text"], answer["version"]), (text, saved["version"]))
        self.assertEqual(self.text(), text)
        answer = self.ask_json("POST", "/v1/learn/exercises/05.1/reset")
        self.assertEqual(answer["text"], first["text"])
        with open(os.path.join(self.folder, answer["backup"]), encoding="utf-8") as file:
            self.assertEqual(file.read(), text)

    def test_a_link_is_not_replaced(self):
        path = os.path.join(self.folder, "05-first-kernels/05.2-guard-the-end.cu")
        elsewhere = os.path.join(self.scratch, "elsewhere.cu")
        shutil.copy(path, elsewhere)
        os.remove(path)
        os.symlink(elsewhere, path)
        exercise = self.ask_json("GET", "/v1/learn/exercises/05.2")
        body = json.dumps({"text": "x", "base": exercise["version"]})
        self.assertIn("is a link", self.refused(409, "PUT", "/v1/learn/exercises/05.2/source", body))
        self.assertTrue(os.path.islink(path))

    def test_a_file_that_is_not_text_is_left_alone(self):
        path = os.path.join(self.folder, "05-first-kernels/05.3-enough-blocks.cu")
        with open(path, "wb") as file:
            file.write(b"// caf\xe9\n")
        exercise = self.ask_json("GET", "/v1/learn/exercises/05.3")
        self.assertEqual(exercise["text"], "")
        self.assertIn("not UTF-8", exercise["problem"])

    def test_a_file_that_cannot_be_read_is_not_replaced(self):
        path = os.path.join(self.folder, "05-first-kernels/05.5-vector-add.cu")
        with open(path, "w", encoding="utf-8") as file:
            file.write("// large\n" * 200000)
        exercise = self.ask_json("GET", "/v1/learn/exercises/05.5")
        self.assertEqual(exercise["version"], "")
        body = json.dumps({"text": "x", "base": ""})
        self.assertIn("cannot read", self.refused(409, "PUT", "/v1/learn/exercises/05.5/source", body))
        self.assertGreater(os.path.getsize(path), 1 << 20)

    def test_saving_keeps_the_permissions(self):
        path = os.path.join(self.folder, FILE)
        for mode in (0o600, 0o664):
            os.chmod(path, mode)
            first = self.exercise()
            self.ask_json("PUT", SOURCE, json.dumps({"text": first["text"] + "\n", "base": first["version"]}))
            self.assertEqual(os.stat(path).st_mode & 0o777, mode)
        self.ask_json("POST", "/v1/learn/exercises/05.1/reset")

    def test_an_exercise_that_was_left_while_it_was_judged_is_judged_when_it_is_opened_again(self):
        self.ask_json("POST", "/v1/learn/exercises/05.6/open", code=202)
        time.sleep(0.15)  # its judge is at work by now
        for number in ("05.8", "05.6"):
            end = time.monotonic() + 60
            while "judged" not in self.ask_json("GET", f"/v1/learn/exercises/{number}"):
                self.assertLess(time.monotonic(), end, f"{number} is not judged")
                self.ask_json("POST", f"/v1/learn/exercises/{number}/open", code=202)
                time.sleep(0.1)

    def events(self):
        """What happens on the server from now on: (event, data)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        self.addCleanup(connection.close)
        connection.request("GET", "/v1/learn/events", headers={"Cookie": f"heddle-{self.port}={self.token}"})
        stream = connection.getresponse()
        self.assertEqual(stream.readline(), b"retry: 1000\n")

        def all_of_them():
            name = ""
            while line := stream.readline().decode():
                line = line.rstrip("\n")
                if line.startswith("event: "):
                    name = line[len("event: "):]
                elif line.startswith("data: "):
                    yield name, json.loads(line[len("data: "):])
        return all_of_them

    def test_a_verdict_that_was_begun_is_given_although_another_file_changes_meanwhile(self):
        gate = os.path.join(self.course, "gate")
        judge = os.path.join(self.course, "05-first-kernels/exercises/05.9-two-dimensions/judge")
        with open(f"{judge}.json", "w", encoding="utf-8") as file:
            json.dump({"start_fails_because": ["wrong"], "seconds": 60}, file)
        with open(f"{judge}.cu", "r+", encoding="utf-8") as file:  # it lasts until there is a gate
            text = file.read().replace("{\n", f"{{\n    while (access(\"{gate}\", F_OK) != 0)\n        usleep(10000);\n", 1)
            file.seek(0)
            file.write("#include <unistd.h>\n" + text)
        events = self.events()
        self.ask_json("POST", "/v1/learn/exercises/05.9/judge", code=202)
        next(True for name, data in events() if (name, data["exercise"]) == ("judging", "05.9"))
        with open(os.path.join(self.folder, "05-first-kernels/05.10-three-dimensions.cu"), "a", encoding="utf-8") as file:
            file.write("// from elsewhere\n")
        happened = ((name, data["exercise"]) for name, data in events())
        self.assertEqual(next(one for one in happened if one in (("judging", "05.10"), ("verdict", "05.9"))),
                         ("judging", "05.10"))
        with open(gate, "w", encoding="utf-8"):
            pass
        waited_for = {"05.9", "05.10"}
        for name, data in events():
            if name == "verdict" and data["exercise"] in waited_for:
                self.assertIn("verdict", data)
                waited_for.discard(data["exercise"])
            if not waited_for:
                return
        self.fail(f"no verdict on {waited_for}")

    def test_a_file_that_was_emptied_elsewhere_can_be_written_again(self):
        path = os.path.join(self.folder, "05-first-kernels/05.7-check-the-error.cu")
        with open(path, "w", encoding="utf-8"):
            pass
        exercise = self.ask_json("GET", "/v1/learn/exercises/05.7")
        self.assertEqual((exercise["text"], exercise.get("problem")), ("", None))
        address = "/v1/learn/exercises/05.7/source"
        answer = self.ask_json("PUT", address, json.dumps({"text": "lost", "base": "0" * 16}), code=409)
        self.assertEqual((answer["text"], answer["version"]), ("", exercise["version"]))
        self.ask_json("PUT", address, json.dumps({"text": "// again\n", "base": answer["version"]}))
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "// again\n")

    # --- what the page shows ------------------------------------------------------------------------------------------

    def test_chapters_are_html_whose_links_stay_here(self):
        chapter = self.ask_json("GET", "/v1/learn/chapters/05-first-kernels")
        self.assertIn('<a id="52-which-element-is-mine"></a>5.2 Which element is mine?</h2>', chapter["html"])
        self.assertIn('src="/course/05-first-kernels/grid-1d.svg"', chapter["html"])
        self.assertIn('href="/read/glossary#kernel"', chapter["html"])
        self.assertIn('<div class="recorded" data-picture="race shift_left_race.cu"></div>', chapter["html"])
        self.assertIn("race shift_left_race.cu", self.ask_json("GET", "/course/05-first-kernels/pictures.json"))
        self.assertNotIn("<script", chapter["html"])
        self.assertNotIn("<!--", chapter["html"])

    def test_search_finds_sections_and_exercises(self):
        found = self.ask_json("GET", "/v1/learn/search?q=display%20sound+samples")["found"]
        self.assertEqual(found[0]["address"], "/exercise/05.15")
        found = self.ask_json("GET", "/v1/learn/search?q=arithmetic+intensity")["found"]
        self.assertEqual(found[0]["address"], "/read/glossary#arithmetic-intensity")
        self.assertEqual(self.ask_json("GET", "/v1/learn/search?q=xyzzyxyzzy")["found"], [])
        self.refused(400, "GET", "/v1/learn/search")
        self.refused(400, "GET", "/v1/learn/search?q=" + "a" * 300)

    def test_hints_come_one_by_one_and_the_solution_when_asked_for(self):
        self.assertEqual(self.ask_json("GET", "/v1/learn/exercises/05.4")["hints"], [])
        self.assertEqual(len(self.ask_json("POST", "/v1/learn/exercises/05.4/hint")["hints"]), 1)
        self.assertEqual(len(self.ask_json("POST", "/v1/learn/exercises/05.4/hint")["hints"]), 2)
        self.refused(403, "GET", "/v1/learn/exercises/05.4/solution")
        self.assertIn("__global__", self.ask_json("GET", "/v1/learn/exercises/05.4/solution?anyway=1")["text"])

    def test_only_one_watches_a_folder(self):
        second = subprocess.run([HEDDLE, "learn", "--web"], cwd=self.folder, env=self.environment, text=True,
                                capture_output=True, timeout=60)
        self.assertEqual(second.returncode, 1)
        self.assertRegex(second.stderr, "another `.*heddle learn` is watching")

    def test_options_are_checked(self):
        for arguments, message in ((["--port", "80"], "--listen and --port go with --web"),
                                   (["--web", "--listen", "example.org"], "is not an address to listen on"),
                                   (["--web", "--port", "0"], "--port")):
            result = subprocess.run([HEDDLE, "learn", *arguments], cwd=self.folder, env=self.environment, text=True,
                                    capture_output=True, timeout=60)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(message, result.stderr)


if __name__ == "__main__":
    unittest.main()
