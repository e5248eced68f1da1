"""The pictures of web/pictures in a real browser: as modules that a page imports, and as the script of `check --html`.

    pictures.py path/to/heddle path/to/chromium path/to/web/pictures
"""

import functools
import http.server
import html
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import unittest

HEDDLE, CHROMIUM, PICTURES = (os.path.abspath(path) for path in sys.argv[1:4])
del sys.argv[1:4]
PATIENCE = 120

PROGRAM = """__global__ void stride(const float *in, float *out)
{
    out[threadIdx.x] = in[32 * threadIdx.x];
}
__global__ void banks(float *out)
{
    __shared__ float tile[64];
    tile[threadIdx.x] = threadIdx.x;
    tile[threadIdx.x + 32] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[2 * threadIdx.x];
}
__global__ void reverse(float *data)
{
    __shared__ float tile[64];
    tile[threadIdx.x] = data[threadIdx.x];
    data[threadIdx.x] = tile[63 - threadIdx.x];
}
__global__ void waits(float *data)
{
    __shared__ float sum[64];
    if (threadIdx.x < 32)
        for (int i = 0; i < 4; i++)
            data[32 * i + threadIdx.x] = i;
    sum[threadIdx.x] = 1;
    __syncthreads();
    data[256 + threadIdx.x] = sum[63 - threadIdx.x];
}
__global__ void turn(const float *in, float *out)
{
    __shared__ float tile[8][8];
    tile[threadIdx.y][threadIdx.x] = in[16 * threadIdx.y + threadIdx.x];
    __syncthreads();
    out[16 * threadIdx.y + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void share(const float *in, float *out)
{
    out[threadIdx.x] = in[threadIdx.x] + blockIdx.x + 1;
}
__global__ void past(const float *in, float *out)
{
    out[1000 + threadIdx.x] = in[threadIdx.x];
}
int main()
{
    float *in;
    cudaMalloc(&in, 4096);
    float *out;
    cudaMalloc(&out, 4096);
    cudaMemset(in, 0, 4096);
    stride<<<1, 32>>>(in, out);
    banks<<<1, 32>>>(out);
    reverse<<<1, 64>>>(in);
    waits<<<1, 64>>>(out);
    turn<<<1, dim3(8, 8)>>>(in, out);
    share<<<2, 32>>>(in, out);
    cudaStream_t one, other;
    cudaStreamCreate(&one);
    cudaStreamCreate(&other);
    cudaMemsetAsync(in, 0, 4096, one);
    cudaMemsetAsync(out, 0, 4096, other);
    cudaDeviceSynchronize();
    cudaStreamDestroy(one);
    cudaStreamDestroy(other);
    past<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
"""

# What a page tells of its pictures, before and after keys.
LOOK = """
function look() {
    return Array.from(document.querySelectorAll('svg.picture')).map(function (svg) {
        const slider = svg.querySelector('[role=slider]'), height = svg.getBoundingClientRect().height, said = [];
        const words = () => slider && [Number(slider.getAttribute('aria-valuenow')), slider.getAttribute('aria-valuetext')];
        said.push(words());
        for (const key of ['Home', 'ArrowRight', 'End', 'ArrowRight', 'ArrowLeft'])
            if (slider) {
                slider.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
                said.push(words());
            }
        return {
            kind: svg.getAttribute('class').split('picture-')[1], title: svg.querySelector('title').textContent,
            text: svg.querySelector('desc').textContent,
            named: svg.getAttribute('aria-labelledby') === svg.querySelector('title').id,
            label: slider && slider.getAttribute('aria-label'), said,
            most: slider && Number(slider.getAttribute('aria-valuemax')),
            moved: svg.getBoundingClientRect().height - height,
            wide: svg.getBoundingClientRect().width - svg.parentNode.clientWidth,
            written: Array.from(svg.querySelectorAll('text')).map(one => one.textContent),
            stops: svg.querySelectorAll('[tabindex="0"]').length,
            wrong: svg.querySelectorAll('.mark-wrong').length,
        };
    });
}
function tell(result) {
    const element = document.createElement('pre');
    element.id = 'told';
    element.textContent = JSON.stringify(result);
    document.body.appendChild(element);
}
"""

MODULES = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><link rel="stylesheet" href="pictures.css">
<style>body { margin: 0; } div { width: %dpx; }</style></head><body><script type="module">
import * as pictures from './pictures.js';
%s
const trace = await (await fetch('trace.json')).json(), drawn = [];
trace.findings.forEach((finding, i) => drawn.push(...pictures.forFinding(trace, i)));
trace.launches.forEach((launch, i) => drawn.push(...pictures.forLaunch(trace, i)));
drawn.push({ draw: pictures.streams, options: {} });
const broken = document.body.appendChild(document.createElement('section'));
pictures.place(broken, pictures.blockInTime, { launches: [{}] }, { launch: 0, block: 0 });
for (const one of drawn) {
    const element = document.body.appendChild(document.createElement('div'));
    pictures.place(element, one.draw, trace, one.options);
}
tell({ pictures: look(), broken: broken.textContent });
</script></body></html>
"""

OPENED = """<script>
%s
document.querySelectorAll('details').forEach(one => { one.open = true; });
setTimeout(function () {
    const told = { pictures: look(), ids: Array.from(document.querySelectorAll('[id]')).map(one => one.id),
                   fetched: performance.getEntriesByType('resource').length };
    // A picture that is drawn again because its place has become narrower keeps its step and the focus.
    const area = document.querySelector('.pictures'), before = area.querySelector('[role=slider]');
    before.focus();
    area.style.width = '400px';
    setTimeout(function () {
        const after = area.querySelector('[role=slider]');
        told.again = after !== before && after === document.activeElement;
        told.steps = [before, after].map(one => one.getAttribute('aria-valuenow'));
        tell(told);
    }, 300);
}, 300);
</script>
"""


def browse(address, profile):
    result = subprocess.run([CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                             "--user-data-dir=" + profile, "--virtual-time-budget=8000", "--dump-dom", address],
                            capture_output=True, text=True, timeout=PATIENCE, check=False)
    told = re.search(r'<pre id="told">(.*?)</pre>', result.stdout, re.DOTALL)
    if not told:
        raise AssertionError(f"the page drew nothing:\n{result.stdout[-2000:]}\n{result.stderr[-2000:]}")
    return json.loads(html.unescape(told.group(1)))


class Server(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format, *arguments):  # pylint: disable=redefined-builtin
        pass


class Pictures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = cls.scratch.name
        with open(os.path.join(cls.folder, "x.cu"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        result = subprocess.run([HEDDLE, "check", "--no-nvcc", "--quiet", "x.cu", "--trace", "trace.json", "--html", "x.html"],
                                cwd=cls.folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert result.returncode == 1, result.stdout + result.stderr
        for name in os.listdir(PICTURES):
            os.symlink(os.path.join(PICTURES, name), os.path.join(cls.folder, name))
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Server, directory=cls.folder)) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            cls.drawn = {}
            for width in 358, 960:
                with open(os.path.join(cls.folder, "modules.html"), "w", encoding="utf-8") as file:
                    file.write(MODULES % (width, LOOK))
                address = f"http://127.0.0.1:{server.server_address[1]}/modules.html"
                told = browse(address, os.path.join(cls.folder, "profile"))
                cls.drawn[width], cls.broken = told["pictures"], told["broken"]
            server.shutdown()

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def pictures(self, kind):
        return [one for one in self.drawn[960] if one["kind"] == kind]

    def test_every_picture_has_a_name_fits_and_stands_still(self):
        for width, drawn in self.drawn.items():
            self.assertEqual({one["kind"] for one in drawn}, {"race", "bounds", "block", "warp", "banks", "tile", "streams"})
            for one in drawn:
                self.assertTrue(one["named"] and one["title"] and one["text"], one)
                self.assertEqual(one["moved"], 0, one["title"])
                self.assertLessEqual(one["wide"], 0, f"{width}: {one['title']}")

    def test_what_cannot_be_drawn_is_said(self):
        self.assertEqual(self.broken, "This picture cannot be drawn: the trace is malformed.")

    def test_the_slider_takes_keys_and_says_where_it_is(self):
        for one in self.drawn[960]:
            if one["kind"] in ("race", "bounds"):
                self.assertEqual(one["stops"], 0)
                continue
            self.assertEqual(one["stops"], 1)
            self.assertTrue(one["label"])
            numbers = [number for number, _ in one["said"][1:]]
            self.assertEqual(numbers, [0, 1, one["most"], one["most"], one["most"] - 1])
            self.assertTrue(all(words for _, words in one["said"]))

    def test_a_strided_load_shows_what_moves_and_what_is_wanted(self):
        self.assertIn("32 lanes want 128 B; 32 sectors of 32 B move 1,024 B: 13 % is used.",
                      [one["text"] for one in self.pictures("warp")])
        stride = next(one for one in self.pictures("warp") if one["title"].startswith("Line 3: load of in"))
        self.assertIn([1, "Lane 1 wants in[32], at byte 128"], stride["said"])

    def test_bank_conflicts_are_stacked(self):
        conflict = next(one for one in self.pictures("banks") if "2 wavefronts where 1 would do" in one["text"])
        self.assertEqual(conflict["title"], "Line 11: shared load of tile, 4 B per lane")
        self.assertEqual(conflict["said"][3][1], "Lane 31 wants tile[62] in bank 30")

    def test_a_race_shows_both_threads_at_their_lines_and_both_orders(self):
        race = next(one for one in self.pictures("race") if re.fullmatch(r"A race on tile\[\d+\]", one["title"]))
        self.assertIn("at line 16", race["text"])
        self.assertIn("at line 17", race["text"])
        for line in "    tile[threadIdx.x] = data[threadIdx.x];", "    data[threadIdx.x] = tile[63 - threadIdx.x];":
            self.assertIn(line, race["written"])
        self.assertEqual(sum(text.endswith("is first") for text in race["written"]), 2)
        self.assertEqual(sum(text == "1. reads old" for text in race["written"]), 1)
        block = next(one for one in self.pictures("block") if one["title"] == "Block 0 of reverse in time")
        self.assertEqual(block["wrong"], 2)

    def test_a_race_between_blocks_names_the_blocks(self):
        race = next(one for one in self.pictures("race") if one["title"].startswith("A race on out["))
        orders = [text for text in race["written"] if text.endswith("is first")]
        self.assertEqual(len(orders), 2)
        for block in 0, 1:
            self.assertTrue(any(re.fullmatch(rf"If thread \d+ of block {block} is first", text) for text in orders), orders)
        self.assertEqual(len({text for text in race["written"] if text.startswith("the value of")}), 2)

    def test_an_access_past_the_end_is_drawn_beside_the_array(self):
        bounds, = self.pictures("bounds")
        self.assertEqual(bounds["title"], "out[1024] is past the end")
        self.assertEqual(bounds["text"], "Thread 24 of block 0 writes element 1024 at line 42. "
                                         "out has 1,024 elements: 0 to 1,023.")
        self.assertEqual(bounds["written"][-3:-1], ["24", "1024"])
        block = next(one for one in self.pictures("block") if one["title"] == "Block 0 of past in time")
        self.assertIn("The block was stopped at the wrong access.", block["text"])

    def test_a_block_in_time_says_who_waits_for_whom(self):
        block = next(one for one in self.pictures("block") if one["title"] == "Block 0 of waits in time")
        self.assertEqual(block["text"], "2 warps, 10 accesses, 1 barrier.")
        self.assertEqual(block["said"][2][1], "step 2 of 8: warp 0: write of out at line 24; warp 1 waits at line 26 for warp 0")

    def test_a_tile_goes_from_global_to_shared_memory_and_back(self):
        tile, = self.pictures("tile")
        self.assertEqual(tile["title"], "A tile’s way: thread (0,0) of block (0,0)")
        for name in "in, 64 × 16", "out, 64 × 16", "tile, 8 × 8":
            self.assertIn(name, tile["written"])
        self.assertEqual([words for _, words in tile["said"][1:4]],
                         ["access 1 of 4, line 32: read of in[0][0]", "access 2 of 4, line 32: write of tile[0][0]",
                          "access 4 of 4, line 34: write of out[0][0]"])

    def test_streams_run_beside_each_other(self):
        streams, = self.pictures("streams")
        self.assertIn("10 operations on 3 streams take 9 steps", streams["text"])

    def test_the_page_of_a_check_draws_the_same_and_fetches_nothing(self):
        path = os.path.join(self.folder, "x.html")
        with open(path, encoding="utf-8") as file:
            page = file.read()
        with open(path + ".html", "w", encoding="utf-8") as file:
            file.write(page.replace("</body>", OPENED % LOOK + "</body>"))
        told = browse("file://" + path + ".html", os.path.join(self.folder, "profile"))
        self.assertEqual(told["fetched"], 0)
        self.assertTrue(told["again"])
        self.assertEqual(told["steps"][0], told["steps"][1])
        self.assertNotEqual(told["steps"][0], "0")
        self.assertEqual(len(told["ids"]), len(set(told["ids"])))
        self.assertEqual(sorted((one["kind"], one["title"], one["text"]) for one in told["pictures"]),
                         sorted((one["kind"], one["title"], one["text"]) for one in self.drawn[960]))


if __name__ == "__main__":
    unittest.main()
