"""The trace of `heddle check --trace`: its events, its limits, its references to findings.

    check_trace.py path/to/heddle
"""

import json
import os
import unittest

from check_case import CheckCase

WHOLE_WARP = 0xffffffff

SHIFT = """#include <cstdio>
__global__ void shift(int *out, int n)
{
    __shared__ int tile[64];
    int i = threadIdx.x;
    tile[i] = 10 * i;
    __syncthreads();
    if (i < n)
        out[i] = tile[63 - i];
}
int main()
{
    int *out;
    cudaMalloc(&out, 64 * sizeof(int));
    shift<<<1, 64>>>(out, 40);
    cudaDeviceSynchronize();
    cudaFree(out);
}
"""

RACE = SHIFT.replace("    __syncthreads();\n", "").replace("63 - i", "(i + 32) % 64")

ROUNDS = """__global__ void turn(float *out, int rounds)
{
    __shared__ float tile[64];
    float sum = 0.0f;
    for (int r = 0; r < rounds; r++) {
        tile[threadIdx.x] = r;
        __syncthreads();
        sum += tile[63 - threadIdx.x];
    }
    out[threadIdx.x] = sum;
}
int main()
{
    float *out;
    cudaMalloc(&out, 64 * sizeof(float));
    turn<<<1, 64>>>(out, 3);
    cudaDeviceSynchronize();
    cudaFree(out);
}
"""

MANY = """__global__ void sum(const float *x, float *y, int times)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float total = 0.0f;
    for (int t = 0; t < times; t++)
        total += x[(i + t) % (6 * 320)];
    y[i] = total;
}
int main()
{
    float *x, *y;
    cudaMalloc(&x, 6 * 320 * sizeof(float));
    cudaMalloc(&y, 6 * 320 * sizeof(float));
    cudaMemset(x, 0, 6 * 320 * sizeof(float));
    sum<<<6, 320>>>(x, y, 1);
    sum<<<6, 320>>>(x, y, 200);
    for (int i = 0; i < 70; i++)
        sum<<<1, 1>>>(x, y, 1);
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFree(y);
}
"""

STREAMS = """__global__ void work(int *x) { atomicAdd(x, 1); }
int main()
{
    int *x, *y, host = 0;
    cudaStream_t one, other;
    cudaEvent_t done;
    cudaStreamCreate(&one);
    cudaStreamCreate(&other);
    cudaEventCreate(&done);
    cudaMalloc(&x, 4);
    cudaMalloc(&y, 4);
    cudaMemsetAsync(x, 0, 4, one);
    cudaMemsetAsync(y, 0, 4, other);
    work<<<1, 1, 0, one>>>(x);
    cudaEventRecord(done, one);
    cudaStreamWaitEvent(other, done, 0);
    work<<<1, 1, 0, other>>>(y);
    cudaMemcpyAsync(&host, y, 4, cudaMemcpyDeviceToHost, other);
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFree(y);
    cudaEventDestroy(done);
    cudaStreamDestroy(one);
    cudaStreamDestroy(other);
    return host - 1;
}
"""


def spread(numbers, count):
    if isinstance(numbers, list):
        return numbers
    return [numbers["first"] + i * numbers["step"] for i in range(count)]


class Trace(CheckCase):
    def trace(self, text, *options, code=0):
        self.write("x.cu", text)
        self.check("x.cu", "--quiet", "--trace", "out.json", *options, code=code)
        with open(os.path.join(self.folder, "out.json"), encoding="utf-8") as file:
            return json.load(file)

    def test_a_kernel_of_two_warps_is_recorded_event_by_event(self):
        trace = self.trace(SHIFT)
        self.assertEqual(trace["version"], 1)
        launch, = trace["launches"]
        self.assertEqual((launch["kernel"], launch["grid"], launch["block"]), ("shift", [1, 1, 1], [64, 1, 1]))
        block, = launch["blocks"]
        self.assertTrue(block["complete"])
        seen = []
        for event in block["events"]:
            lanes = event.get("lanes", 0)
            line = trace["places"][event["place"]]["line"] if "place" in event else None
            about = (event["kind"], event.get("warp"), lanes, line)
            if "offsets" in event:
                count = bin(lanes).count("1")
                values = event.get("values")
                about += (trace["buffers"][event["buffer"]]["name"], event["bytes"], spread(event["offsets"], count),
                          values and spread(values, count))
            seen.append(about)
        first = 0xff  # lanes of the second warp that are below n
        self.assertEqual(seen, [
            ("write", 0, WHOLE_WARP, 6, "tile", 4, list(range(0, 128, 4)), list(range(0, 320, 10))),
            ("arrive", 0, WHOLE_WARP, 7),
            ("write", 1, WHOLE_WARP, 6, "tile", 4, list(range(128, 256, 4)), list(range(320, 640, 10))),
            ("arrive", 1, WHOLE_WARP, 7),
            ("leave", None, 0, None),
            ("read", 0, WHOLE_WARP, 9, "tile", 4, list(range(252, 124, -4)), None),
            ("write", 0, WHOLE_WARP, 9, "out", 4, list(range(0, 128, 4)), list(range(630, 310, -10))),
            ("exit", 0, WHOLE_WARP, None),
            ("read", 1, first, 9, "tile", 4, list(range(124, 92, -4)), None),
            ("write", 1, first, 9, "out", 4, list(range(128, 160, 4)), list(range(310, 230, -10))),
            ("exit", 1, WHOLE_WARP, None)])
        ran = [number for event in block["events"] if "ran" in event
               for number in spread(event["ran"], bin(event["lanes"]).count("1"))]
        self.assertEqual(sorted(ran), list(range(len(ran))))
        self.assertEqual(trace["sources"][0]["lines"][5], "    tile[i] = 10 * i;")

    def test_a_race_names_the_events_of_both_threads(self):
        trace = self.trace(RACE, code=1)
        race, = [one for one in trace["findings"] if one["kind"] == "race"]
        for place in race["places"]:
            reference, = place["events"]
            event = trace["launches"][reference["launch"]]["blocks"][reference["block"]]["events"][reference["event"]]
            self.assertEqual(event["kind"], place["role"])
            self.assertEqual(32 * event["warp"] + reference["lane"], place["thread"][0])
            self.assertEqual(spread(event["offsets"], 32)[reference["lane"]], race["memory"]["offset"])

    def test_a_race_of_two_rounds_names_accesses_with_no_barrier_between(self):
        trace = self.trace(ROUNDS, code=1)
        race, = [one for one in trace["findings"] if one["kind"] == "race"]
        events = trace["launches"][0]["blocks"][0]["events"]
        barriers = {place["role"]: sum(event["kind"] == "leave" for event in events[:place["events"][0]["event"]])
                    for place in race["places"]}
        self.assertEqual(barriers, {"read": 1, "write": 1})  # the read of the first round, the write of the second

    def test_an_access_out_of_bounds_is_recorded_as_wrong(self):
        for change, name, kind, offsets in ((("out[i]", "out[i + 63]"), "out", "write", [256]),
                                            (("63 - i", "64 - i"), None, "index", [64])):
            trace = self.trace(SHIFT.replace(*change), code=1)
            place = trace["findings"][0]["places"][0]
            reference, = place["events"]
            block = trace["launches"][0]["blocks"][0]
            event = block["events"][reference["event"]]
            self.assertEqual((event["wrong"], event["kind"], event["offsets"]), (True, kind, offsets))
            self.assertEqual(event["lanes"], 1 << reference["lane"])
            self.assertEqual(trace["buffers"][event["buffer"]]["name"] if event["buffer"] >= 0 else None, name)

    def test_what_goes_beyond_the_limits_is_left_out_and_told(self):
        trace = self.trace(MANY)
        limits = trace["limits"]
        self.assertEqual(len(trace["launches"]), limits["launches"])
        self.assertEqual(trace["launches_left_out"], 72 - limits["launches"])
        small, large = trace["launches"][:2]
        self.assertEqual([block["number"] for block in small["blocks"]], [0, 1, 2, 5])
        self.assertTrue(all(block["complete"] for block in small["blocks"]))
        for launch in small, large:
            for block in launch["blocks"]:
                self.assertLess(max(event["warp"] for event in block["events"]), limits["warps"])
        for block in large["blocks"]:
            count = sum(bin(event["lanes"]).count("1") for event in block["events"] if "offsets" in event)
            self.assertFalse(block["complete"])
            self.assertEqual(count, limits["block_accesses"])

    def test_streams_say_what_comes_after_what(self):
        trace = self.trace(STREAMS)
        operations = trace["operations"]
        kinds = {(one["kind"], one["stream"]): i for i, one in enumerate(operations)}
        self.assertEqual(len(operations), 5)
        kernel = operations[kinds["kernel", 2]]
        self.assertEqual(sorted(kernel["after"]), sorted([kinds["kernel", 1], kinds["fill", 2]]))
        self.assertEqual(operations[kinds["kernel", 1]]["after"], [kinds["fill", 1]])
        self.assertEqual(operations[kinds["copy", 2]]["way"], "device to host")
        atomic = next(event for event in trace["launches"][0]["blocks"][0]["events"] if event["kind"] == "atomic")
        self.assertEqual(atomic["values"], [1])

    def test_the_operands_of_an_operator_have_their_names(self):
        self.write("y.cu", "__global__ void add(const float *x, float *y, int n, float alpha)\n{\n"
                           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n)\n"
                           "        y[i] += alpha * x[i];\n}\n"
                           "void saxpy(const float *x, float *y, int n, float alpha)\n{\n"
                           "    add<<<(n + 255) / 256, 256>>>(x, y, n, alpha);\n}\n")
        self.check("y.cu", "--op", "saxpy", "--shape", "n=300", "--quiet", "--trace", "out.json")
        with open(os.path.join(self.folder, "out.json"), encoding="utf-8") as file:
            trace = json.load(file)
        self.assertEqual({buffer["name"] for buffer in trace["buffers"]}, {"x", "y"})

    def test_a_program_that_launches_nothing_has_an_empty_trace(self):
        trace = self.trace("int main() { return 0; }\n")
        self.assertEqual((trace["launches"], trace["operations"], trace["findings"]), ([], [], []))
        trace = self.trace("int main() { return nothing; }\n", code=1)  # does not compile
        self.assertEqual(trace["launches"], [])

    def test_the_verdict_is_the_same_with_a_trace(self):
        self.write("x.cu", RACE)
        plain = self.check("x.cu", "--json", "--quiet", code=1).stdout
        traced = self.check("x.cu", "--json", "--quiet", "--trace", "out.json", code=1).stdout
        for field in "findings", "kernels", "runs":
            self.assertEqual(json.loads(plain)[field], json.loads(traced)[field])

    def test_a_file_that_cannot_be_written_is_told_before_the_run(self):
        self.write("x.cu", SHIFT)
        result = self.check("x.cu", "--trace", "nosuch/out.json", code=1)
        self.assertEqual((result.stdout, result.stderr), ("", "heddle: nosuch/out.json: No such file or directory\n"))
        self.assertIn("would overwrite an input file", self.check("x.cu", "--trace", "x.cu", code=2).stderr)
        self.assertIn("does not go with --unwatched", self.check("x.cu", "--trace", "t", "--unwatched", code=2).stderr)
        self.assertIn("--trace is for a check of files", self.check("--trace", "t", "--", "true", code=2).stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "t")))


if __name__ == "__main__":
    unittest.main()
