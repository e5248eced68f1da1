// Which part of its line a place means, by the compiler's column and without it; what the code calls the memory there.

#include "folder.h"
#include "sample.h"

#include <stdlib.h>
#include <string.h>

#include "check/access.h"
#include "check/debug_info.h"
#include "check/describe.h"
#include "check/finish.h"
#include "check/sources.h"

// Where a compiler may put an access: behind `before` in the line; NULL: the column is not known.
typedef struct looked {
    const char *role, *name, *space, *message, *line, *before;
} looked;

static bool find(const looked *at, heddle_check_access *access)
{
    static int number;
    char file[32], *path;
    snprintf(file, sizeof file, "%d.cu", number++);
    scratch_write(folder, file, at->line, strlen(at->line));
    path = strdup(scratch_path(folder, file));
    heddle_check_memory memory = {.name = at->name ? at->name : "", .space = at->space ? at->space : "shared"};
    heddle_check_finding finding = {.memory = &memory, .message = at->message ? at->message : "", .kernel = "k"};
    heddle_check_place place = {.role = at->role, .has_thread = true, .frames = 1};
    place.frame[0] = (heddle_check_frame){.file = path, .line = 1, .function = "k"};
    if (at->before)
        place.frame[0].column = (int)(strstr(at->line, at->before) - at->line + (int)strlen(at->before)) + 1;
    heddle_check_sources *sources = heddle_check_sources_create();
    bool found = heddle_check_access_find(heddle_check_sources_code(sources, path), &finding, &place, access);
    heddle_check_sources_free(sources);
    free(path);
    return found;
}

static void means(const looked *at, const char *part, const char *name)
{
    heddle_check_access access;
    if (!find(at, &access))
        fail_msg("nothing in: %s", at->line);
    char *found = strndup(at->line + access.column - 1, (size_t)access.width);
    if (strcmp(found, part) != 0)
        fail_msg("'%s' instead of '%s' in: %s", found, part, at->line);
    free(found);
    if (name)
        assert_string_equal(access.name, name);
}

#define MEANS(part, called, ...) means(&(looked){__VA_ARGS__}, part, called)

static void test_a_column_of_gcc_or_clang_leads_to_the_access(void **state)
{
    (void)state;
    const char *line = "tile[i][0] = a[i] + b[i] * c[t[i] + 1];";
    MEANS("a[i]", "a", .role = "read", .line = line, .before = "= a[i"); // gcc: the bracket that closes
    MEANS("b[i]", "b", .role = "read", .line = line, .before = "+ b");   // in templates: the one that opens
    MEANS("b[i]", "b", .role = "read", .line = line, .before = "+ ");    // clang: where it begins
    MEANS("t[i]", "t", .role = "read", .line = line, .before = "c[t[i"); // an index is an access too
    MEANS("c[t[i] + 1]", "c", .role = "read", .line = line, .before = "c[t[i] + 1");
    MEANS("tile[i][0]", "tile", .role = "write", .line = line, .before = "tile[i][0] "); // the operator
    MEANS("p[i].y", "p", .role = "read", .line = "p[i].x += p[i].y;", .before = "+= p[i].");
    MEANS("p[i].x", "p", .role = "write", .line = "p[i].x += p[i].y;", .before = "p[i].x ");
    MEANS("p[i].x", "p", .role = "read", .line = "p[i].x += p[i].y;", .before = "p[i].x ");
    MEANS("*(a + i)", "a", .role = "write", .line = "*(a + i) += *b;", .before = "*(a + i) ");
    MEANS("*b", "b", .role = "read", .line = "*(a + i) += *b;", .before = "+= ");
    MEANS("count", "count", .role = "write", .line = "x[i] = 1; count++;", .before = "count");
    MEANS("a[i]", "a", .role = "write", .line = "x[i] = 1; ++a[i];", .before = "1; ");
    MEANS("q.data[i]", "q.data", .role = "read", .line = "x = q.data[i] + y[i];", .before = "x = q.data[i");
    MEANS("((const float4 *)b)[i]", "b", .role = "read", .line = "v = ((const float4 *)b)[i] + c[i];",
          .before = "v = ");
    MEANS("reinterpret_cast<int *>(b)[i]", "b", .role = "read", .line = "v = reinterpret_cast<int *>(b)[i] + c[i];",
          .before = "v = ");
}

static void test_a_column_beside_the_access_tells_which_part_of_the_line_has_it(void **state)
{
    (void)state;
    MEANS("a[i]", "a", .role = "read", .line = "float x = a[i]; y = b[i];", .before = "float "); // an initialiser
    MEANS("b[i]", "b", .role = "read", .line = "y = a[j]; put(i, b[i]);", .before = "put");      // an argument
    MEANS("ref[1]", "ref", .role = "read", .line = "x = c[1]; a[5] = ref[1];", .before = "a[5] ");
    MEANS("ref[1]", "ref", .role = "read", .line = "x = c[1]; a[5] = (y) + ref[1];", .before = "a[5] ");
    MEANS("a[i]", "a", .role = "write", .line = "a[i] = change(v, b[i]);",
          .before = "change");                                                         // it stores what it returns
    MEANS("AT", "", .role = "read", .line = "y = AT(b, i) + a[i];", .before = "y = "); // what a macro has is not seen
}

static void test_without_a_column_the_only_access_that_fits_is_meant(void **state)
{
    (void)state;
    MEANS("c[i]", "c", .role = "write", .name = "d_c", .line = "    if (i <= n) c[i] = a[i] + b[i];");
    MEANS("b[i]", "b", .role = "read", .name = "b", .line = "    if (i <= n) c[i] = a[i] + b[i]; // b[i] is read");
    MEANS("bins[data[i]]", "bins", .role = "write", .name = "bins", .line = "bins[data[i]]++;");
    MEANS("data[i]", "data", .role = "read", .name = "d_data", .line = "bins[data[i]] = 1;");
    MEANS("x[i + 1]", "x", .role = "read", .name = "x", .line = "x[i] = x[i + 1];");
    MEANS("x[i]", "x", .role = "write", .name = "x", .line = "x[i] = x[i + 1];");
    MEANS("count", "count", .role = "write", .name = "count", .line = "    count = 1;");
    MEANS("*reinterpret_cast<float2 *>(s + t)", "s", .role = "read", .name = "s",
          .line = "float2 two = *reinterpret_cast<float2 *>(s + t);");
    MEANS("*p", "p", .role = "read", .name = "d_p", .line = "float v = *p;");
    MEANS("*p", "p", .role = "write", .name = "d_p", .line = "for (int i = 0; i < f(n); i++) *p += 1;");
    MEANS("*p", "p", .role = "read", .name = "d_p", .line = "return *p;");
    MEANS("p[i]", "p", .role = "read", .name = "d_p", .line = "v = f(n) * p[i];");
    MEANS("node->next[2].size", "node", .role = "write", .line = "node->next[2].size = 3;");
    MEANS("s[127 - t]", "s", .role = "volatile read", .name = "s", .line = "x[t] = s[127 - t];");
    MEANS("s[t]", "s", .role = "volatile write", .name = "s", .line = "s[t] = x[t];");
    MEANS("x[threadIdx.x]", "x", .role = "kernel's access", .name = "d",
          .line = "__global__ void k(int *x) { x[threadIdx.x] += 1; }");
    MEANS("t[y][x + 1]", "t", .role = "index", .line = "__syncthreads(); sum += t[y][x + 1];");
}

static void test_calls_launches_and_loops_are_found_by_what_they_are(void **state)
{
    (void)state;
    MEANS("__syncthreads", NULL, .role = "barrier", .line = "    if (t < 16) { x[t] = 1; __syncthreads(); }");
    MEANS("atomicAdd", "bins", .role = "atomic", .line = "    if (i < n) atomicAdd(&bins[in[i]], 1u);");
    MEANS("mm<4><<<1, 256>>>", NULL, .role = "launch", .line = "    mm<4><<<1, 256>>>(a, b); // <<< here");
    MEANS("cudaMemcpy", NULL, .role = "call", .message = "cudaMemcpy fails with cudaErrorInvalidValue: NULL",
          .line = "CHECK(cudaMemcpy(h, d, n, k));");
    MEANS("__shfl_down_sync", NULL, .role = "call", .message = "__shfl_down_sync: lane 3",
          .line = "v += __shfl_down_sync(mask, v, 1);");
    MEANS("child<<<1, 32>>>", NULL, .role = "launch", .line = "__syncthreads(); if (t == 0) child<<<1, 32>>>(x);");
    MEANS("while", NULL, .role = "loop", .line = "    while (k >= 0) {");
    heddle_check_access access; // of two calls the column decides
    assert_true(
        find(&(looked){.role = "barrier", .line = "__syncthreads(); __syncthreads();", .before = "); __syncthreads"},
             &access));
    assert_int_equal(access.column, (int)strlen("__syncthreads(); ") + 1);
    MEANS("y", NULL, .role = "source", .line = "x = y;", .before = "x = ");
}

// The host calls its memory `a`, the kernel calls it `A` and has a tile of its own called `a`.
static void test_an_array_of_the_kernels_own_is_not_the_hosts_of_that_name(void **state)
{
    (void)state;
    heddle_check_access access;
    const char *line = "sum += a[y][i] * A[i];";
    assert_false(find(&(looked){.role = "read", .name = "a", .space = "global", .line = line}, &access));
    MEANS("A[i]", "A", .role = "read", .name = "a", .space = "global", .line = line, .before = "* ");
    MEANS("a[y][i]", "a", .role = "read", .name = "a", .space = "shared", .line = line); // the name is the kernel's
}

static void test_nothing_is_meant_where_two_things_could_be(void **state)
{
    (void)state;
    static const looked unclear[] = {
        {.role = "read", .name = "d_a", .line = "c[i] = a[i] + b[i];"},
        {.role = "read", .name = "x", .line = "y = x[i] * x[j];"},
        {.role = "read", .name = "d_out", .line = "if (t == 0) *out += s[0];"},
        {.role = "read", .name = "d_out", .line = "else *out += s[0];"},
        {.role = "write", .line = "x[0] = 1; y[0] = 2;"},
        {.role = "write", .line = "helper(i);"},
        {.role = "call", .message = "invalid memory access", .line = "helper(x); // helper"},
        {.role = "launch", .line = "run(a);"},
        {.role = "read", .line = "puts(\"a[i]\"); /* a[i] */"},
        {.role = "index", .line = "__syncthreads();"},
        {.role = "index", .line = "o[y * 16 + x] = t[y][x] + t[y][x + 1];"},
        {.role = "read", .line = "// nothing but this"},
    };
    heddle_check_access access;
    for (size_t i = 0; i < sizeof unclear / sizeof *unclear; i++)
        if (find(&unclear[i], &access))
            fail_msg("found in: %s", unclear[i].line);
}

// --- what a kernel calls memory --------------------------------------------------------------------------------------

// A read out of bounds in line 3 of tile.cu, by `function`, of what the host calls `name`.
static void headline_is(const char *source, int column, const char *function, const char *name, int offset,
                        const char *expected)
{
    char report[2048], text[512];
    snprintf(report, sizeof report,
             "{\"findings\": [{\"kind\": \"out-of-bounds\", \"kernel\": \"add\", \"message\": \"\", \"places\": "
             "[{\"role\": \"read\", \"file\": \"@\", \"line\": 3, \"column\": %d, \"function\": \"%s\", \"thread\": "
             "[16, 0, 0], \"block\": [0, 0, 0]}], "
             "\"memory\": {\"space\": \"global\", \"name\": \"%s\", \"bytes\": 64, \"offset\": %d, \"size\": 4, "
             "\"live\": true, \"allocated\": {\"file\": \"@\", \"line\": 7, \"call\": \"cudaMalloc\"}}}]}",
             column, function, name, offset);
    heddle_check_result *result = NULL;
    assert_int_equal(heddle_check_result_create(&result), HEDDLE_OK);
    heddle_check_report *parsed = sample_parse(folder, report);
    scratch_write(folder, "tile.cu", source, strlen(source)); // instead of the sample's
    assert_int_equal(heddle_check_result_add_run(result, parsed), HEDDLE_OK);
    heddle_check_finish(result, NULL, false);
    assert_contains(heddle_check_headline(result->findings[0], text, sizeof text), expected);
    heddle_check_result_free(result);
}

static void test_memory_has_the_kernels_name_and_the_hosts(void **state)
{
    (void)state;
    const char *source = "__global__ void add(const float *a, const float *b, float *c, float **rows)\n{\n"
                         "    c[0] = a[threadIdx.x] + b[threadIdx.x] + rows[0][1];\n}\n";
    headline_is(source, 12, "add", "da", 64, "to global memory a (allocated as da) in kernel add");
    headline_is(source, 29, "add", "da", 64, "to global memory b (allocated as da) in kernel add");
    headline_is(source, 12, "add", "a", 64, "to global memory a in kernel add");
    headline_is(source, 12, "add<float>", "da", 64, "to global memory a (allocated as da)");
    headline_is(source, 12, "get", "da", 64,
                "to global memory allocated as da in kernel add"); // it has names of its own
    headline_is(source, 0, "add", "da", 64, "to global memory allocated as da in kernel add"); // any of three
    headline_is(source, 46, "add", "da", 64,
                "to global memory allocated as da in kernel add");                     // what rows[0] points to
    headline_is(source, 12, "add", "da", 1 << 20, "to global memory allocated as da"); // nobody knows whose that is
}

// --- columns ---------------------------------------------------------------------------------------------------------

extern char __executable_start[]; // NOLINT(bugprone-reserved-identifier): the linker's

__attribute__((noinline)) static int measured(volatile int *x)
{
    return x[1] + x[2];
}

static void test_debug_information_has_lines_and_columns(void **state)
{
    (void)state;
    heddle_debug_frame frame = {0};
    heddle_debug_info *info = heddle_debug_info_open("/proc/self/exe");
    int found = heddle_debug_info_frames(info, (uint64_t)((char *)measured - __executable_start), &frame, 1);
#ifdef HEDDLE_HAVE_LIBDW
    assert_int_equal(found, 1);
    assert_string_equal(frame.function, "measured");
    assert_non_null(strstr(frame.file, "test_access.c"));
    assert_true(frame.line > 0 && frame.column > 0);
    assert_int_equal(heddle_debug_info_frames(info, UINT64_MAX / 2, &frame, 1), 0);
    assert_null(heddle_debug_info_open("/nonexistent"));
#else
    assert_null(info);
    assert_int_equal(found, 0);
#endif
    heddle_debug_info_close(info);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_column_of_gcc_or_clang_leads_to_the_access),
        cmocka_unit_test(test_a_column_beside_the_access_tells_which_part_of_the_line_has_it),
        cmocka_unit_test(test_without_a_column_the_only_access_that_fits_is_meant),
        cmocka_unit_test(test_calls_launches_and_loops_are_found_by_what_they_are),
        cmocka_unit_test(test_an_array_of_the_kernels_own_is_not_the_hosts_of_that_name),
        cmocka_unit_test(test_nothing_is_meant_where_two_things_could_be),
        cmocka_unit_test(test_memory_has_the_kernels_name_and_the_hosts),
        cmocka_unit_test(test_debug_information_has_lines_and_columns),
    };
    return cmocka_run_group_tests(tests, create_folder, remove_folder);
}
