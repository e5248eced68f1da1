// The page of `heddle bench FILE.cu`, whose timings need a GPU: the source, and what the simulator counted beside it.

#include "base/file.h"
#include "cli/bench.h"
#include "files.h"
#include "heddle/device.h"

static const char kernel[] = "__global__ void add(const float *a, const float *b, float *out, int n)\n"
                             "{\n"
                             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    if (i < n)\n"
                             "        out[i] = a[i] + b[i]; // < & >\n"
                             "}\n"
                             "void add_forward(const float *a, const float *b, float *out, int n)\n"
                             "{\n"
                             "    if (n > 0)\n"
                             "        add<<<(n + 255) / 256, 256>>>(a, b, out, n);\n"
                             "}\n";

// The page of something that was measured, with this source at its end.
static char *page_of(const char *folder, const char *text, const char *op)
{
    heddle_device *device = NULL;
    heddle_bench *bench = NULL;
    const heddle_op *add = NULL;
    const heddle_bench_options options = {.seed = 1, .seconds = 0.001};
    char *page = NULL;
    size_t size = 0;
    scratch_write(folder, "mine.cu", text, strlen(text));
    assert_ok(heddle_op_find("add_forward", &add));
    assert_ok(heddle_device_open("cpu", 1, &device));
    assert_ok(heddle_bench_open(device, &options, &bench));
    assert_ok(heddle_bench_measure(bench, add, "n=100", NULL));
    heddle_bench_conclude(bench);
    const heddle_cli_bench_source source = {.file = scratch_path(folder, "mine.cu"), .what = op, .seed = 1};
    assert_ok(heddle_cli_bench_write_page(bench, &source, scratch_path(folder, "page.html")));
    assert_ok(heddle_file_read(scratch_path(folder, "page.html"), 64 << 20, &page, &size));
    heddle_bench_close(bench);
    heddle_device_close(device);
    return page;
}

static void the_lines_of_an_own_kernel_have_their_counters(void **state)
{
    char *page = page_of(*state, kernel, "add_forward");
    const char *line = strstr(page, "out[i] = a[i] + b[i]; // &lt; &amp; &gt;</pre>");
    assert_non_null(line);
    const char *end = strstr(line, "</tr>");
    const char *load = strstr(line, "global load 4 B: "), *store = strstr(line, "global store 4 B: ");
    assert_true(load && store && load < end && store < end);
    assert_non_null(strstr(page, "counted on the simulated GPU"));
    assert_non_null(strstr(page, "id=\"trace\""));
    free(page);
}

static void a_file_that_cannot_be_counted_is_shown_all_the_same(void **state)
{
    char *page = page_of(*state, "void other(int n) { return n; }\n", "add_forward");
    assert_non_null(strstr(page, "<pre>void other(int n) { return n; }</pre>"));
    assert_non_null(strstr(page, "Nothing was counted on the simulated GPU: "));
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(the_lines_of_an_own_kernel_have_their_counters),
        WITH_FOLDER(a_file_that_cannot_be_counted_is_shown_all_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
