// What the source adds to the facts of a report: names of memory, lines of loops, why threads miss a barrier.

#include "folder.h"
#include "sample.h"

#include <string.h>

#include "check/explain.h"

// The only finding of a report, explained by this source. The caller frees the report.
static heddle_check_report *explained(const char *source, const char *finding)
{
    char report[2048];
    snprintf(report, sizeof report, "{\"findings\": [%s]}", finding);
    heddle_check_report *parsed = sample_parse(folder, report);
    scratch_write(folder, "tile.cu", source, strlen(source)); // instead of the sample's
    heddle_check_sources *sources = heddle_check_sources_create();
    heddle_check_explain(parsed, sources);
    heddle_check_sources_free(sources);
    return parsed;
}

// --- names -----------------------------------------------------------------------------------------------------------

static void allocation_is(const char *text, const char *function, int column, const char *expected)
{
    char source[512], finding[512];
    snprintf(source, sizeof source, "int main()\n{\n%s\n}\n", text);
    snprintf(
        finding, sizeof finding,
        "{\"kind\": \"leak\", \"memory\": {\"space\": \"global\", \"name\": \"\", \"allocated\": {\"file\": \"@\", "
        "\"line\": 3, \"column\": %d, \"call\": \"%s\"}}}",
        column, function);
    heddle_check_report *report = explained(source, finding);
    if (strcmp(report->findings[0].memory->name, expected) != 0)
        fail_msg("'%s' instead of '%s' in: %s", report->findings[0].memory->name, expected, text);
    heddle_check_report_free(report);
}

static void test_allocations_are_named_after_the_first_argument(void **state)
{
    (void)state;
    allocation_is("cudaMalloc(&d_c, n);", "cudaMalloc", 0, "d_c");
    allocation_is("cudaMalloc((void **)&d_c, n);", "cudaMalloc", 0, "d_c");
    allocation_is("cudaMalloc( ( void** ) &d_c , n);", "cudaMalloc", 0, "d_c");
    allocation_is("checkCudaErrors(cudaMalloc((void**)&(d_c), n * sizeof(float)));", "cudaMalloc", 0, "d_c");
    allocation_is("cudaMallocManaged(&x, n);", "cudaMallocManaged", 0, "x");
    allocation_is("cudaMalloc(reinterpret_cast<void **>(&s.data), n);", "cudaMalloc", 0, "s.data");
    allocation_is("cudaMalloc<float>(&rows[i + 1], n);", "cudaMalloc", 0, "rows[i+1]");
    allocation_is("cudaMalloc(&this->buffer, n);", "cudaMalloc", 0, "this->buffer");
    allocation_is("cudaMalloc((void **)out, n);", "cudaMalloc", 0, "out");
    allocation_is("CHECK(cudaMalloc(\n    (void **)&d_c,\n    n));", "cudaMalloc", 1, "d_c");
    allocation_is("cudaMallocHost(&h, n); cudaMalloc(&d, n);", "cudaMalloc", 0, "d");
    allocation_is("float *p = (float *)malloc(n);", "malloc", 0, "p");
    allocation_is("node->next = new node;", "new", 0, "node->next");
    allocation_is("thrust::device_vector<pair<int, float>> weights(n);", "cudaMalloc", 0, "weights");
}

static void test_of_several_calls_on_a_line_the_column_tells_which(void **state)
{
    (void)state;
    const char *line = "cudaMalloc(&a, n); cudaMalloc(&b, n);",
               *checked = "CHECK(cudaMalloc(&a, n)); CHECK(cudaMalloc(&b, n));";
    allocation_is(line, "cudaMalloc", 11, "a"); // gcc: the parenthesis
    allocation_is(line, "cudaMalloc", 30, "b");
    allocation_is(line, "cudaMalloc", 20, "b");   // clang: the name
    allocation_is(checked, "cudaMalloc", 1, "a"); // the macro
    allocation_is(checked, "cudaMalloc", 27, "b");
}

static void test_what_is_no_variable_has_no_name(void **state)
{
    (void)state;
    allocation_is("cudaMalloc(make(&x, 3), n);", "cudaMalloc", 0, "");
    allocation_is("d_c = allocate(n);", "cudaMalloc", 0, "");
    allocation_is("cudaMalloc", "cudaMalloc", 0, "");
    allocation_is("cudaMalloc(", "cudaMalloc", 0, "");
    allocation_is("", "cudaMalloc", 0, "");
    allocation_is("new node;", "new", 0, "");
}

static void shared_is(const char *source, int line, const char *expected)
{
    char finding[512];
    snprintf(finding, sizeof finding,
             "{\"kind\": \"race\", \"kernel\": \"k\", \"places\": [{\"role\": \"read\", \"file\": \"@\", \"line\": %d, "
             "\"function\": \"k\"}], \"memory\": {\"space\": \"shared\", \"name\": \"\", \"dynamic\": true}}",
             line);
    heddle_check_report *report = explained(source, finding);
    assert_string_equal(report->findings[0].memory->name, expected);
    heddle_check_report_free(report);
}

static void test_extern_shared_memory_has_the_name_that_is_declared_at_the_place(void **state)
{
    (void)state;
    const char *two = "__global__ void k()\n{\n    extern __shared__ float first[];\n    first[0] = 1;\n}\n"
                      "__global__ void other()\n{\n    extern __shared__ int second[];\n    second[0] = 1;\n}\n"
                      "__device__ void f(float *x)\n{\n    x[0] = 1;\n}\n";
    shared_is(two, 4, "first");
    shared_is(two, 9, "second");
    shared_is(two, 13, ""); // either
    shared_is("extern __shared__ float all[];\n__device__ void f(float *x)\n{\n    x[0] = 1;\n}\n", 4, "all");
    shared_is(
        "__device__ void f(float *x)\n{\n    x[0] = 1;\n}\n__global__ void k()\n{\n    extern __shared__ char only[];\n"
        "    f((float *)only);\n}\n",
        3, "only");
}

static void test_the_array_of_a_wrong_index_is_named(void **state)
{
    (void)state;
    heddle_check_report *report = explained(
        "__global__ void k()\n{\n    x = tile[y][x + 1] + tile[0][0];\n}\n",
        "{\"kind\": \"out-of-bounds\", \"kernel\": \"k\", \"message\": \"index 33 is outside of an array of 33\","
        "\"places\": [{\"role\": \"index\", \"file\": \"@\", \"line\": 3, \"column\": 22, \"function\": \"k\"}]}");
    assert_string_equal(report->findings[0].message, "index 33 is outside of tile[y], an array of 33");
    heddle_check_report_free(report);
}

// --- loops -----------------------------------------------------------------------------------------------------------

static void test_an_endless_loop_is_told_where_it_begins(void **state)
{
    (void)state;
    static const char source[] = "__global__ void k(int n)\n{\n"          // 2
                                 "    for (int i = 0; i < 3; i++) {\n"    // 3
                                 "        while (n >= 0) {\n"             // 4
                                 "            n++;\n"                     // 5
                                 "            if (n > 100)\n"             // 6
                                 "                n = 0;\n"               // 7
                                 "        }\n"                            // 8
                                 "    }\n"                                // 9
                                 "    do\n        n++;\n    while (n);\n" // 10 to 12
                                 "    n = 4;\n}\n";                       // 13
    static const int lines[][2] = {{3, 3}, {4, 4}, {5, 4}, {7, 4}, {8, 4}, {9, 3}, {11, 10}, {12, 10}, {13, 13}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char finding[256];
        snprintf(finding, sizeof finding,
                 "{\"kind\": \"spin\", \"places\": [{\"role\": \"loop\", \"file\": \"@\", \"line\": %d, \"function\": "
                 "\"k\"}]}",
                 lines[i][0]);
        heddle_check_report *report = explained(source, finding);
        assert_int_equal(report->findings[0].places[0].frame[0].line, lines[i][1]);
        heddle_check_report_free(report);
    }
}

// --- barriers --------------------------------------------------------------------------------------------------------

static void reach_is(const char *body, heddle_check_reach expected)
{
    char source[1024];
    snprintf(source, sizeof source,
             "#define LEAVE(x) do { if (x) return; } while (0)\n#define STEP(x) (x)++\n"
             "__global__ void k(int n, int *x)\n{\n%s}\n",
             body);
    int line = 1;
    for (const char *at = source; at < strstr(source, "__syncthreads"); at++)
        line += *at == '\n';
    char finding[256];
    snprintf(
        finding, sizeof finding,
        "{\"kind\": \"barrier-exited\", \"tier\": \"warning\", \"kernel\": \"k\", \"parts_warp\": true, \"places\": "
        "[{\"role\": \"barrier\", \"file\": \"@\", \"line\": %d, \"function\": \"k\"}]}",
        line);
    heddle_check_report *report = explained(source, finding);
    if (report->findings[0].reach != expected)
        fail_msg("%d instead of %d in:\n%s", report->findings[0].reach, expected, body);
    assert_int_equal(report->findings[0].tier,
                     expected == HEDDLE_CHECK_REACH_PASSED ? HEDDLE_CHECK_ERROR : HEDDLE_CHECK_WARNING);
    heddle_check_report_free(report);
}

static void test_why_threads_miss_a_barrier_is_read_around_it(void **state)
{
    (void)state;
    reach_is("    if (n > 3)\n        return;\n    __syncthreads();\n", HEDDLE_CHECK_REACH_RETURN);
    reach_is("    if (n > 3)\n        __syncthreads();\n", HEDDLE_CHECK_REACH_BRANCH);
    reach_is("    if (n > 3) {\n        __syncthreads();\n    }\n    x[0] = 1;\n", HEDDLE_CHECK_REACH_PASSED);
    reach_is("    for (int i = 0; i < n; i++)\n        __syncthreads();\n    x[0] = 1;\n", HEDDLE_CHECK_REACH_PASSED);
    reach_is("    if (n > 3) {\n        __syncthreads();\n    } else {\n        x[1] = 2;\n    }\n",
             HEDDLE_CHECK_REACH_BRANCH);
    reach_is("    STEP(n);\n    if (n > 3)\n        __syncthreads();\n    x[0] = 1;\n", HEDDLE_CHECK_REACH_PASSED);
    reach_is("    __syncthreads();\n    x[0] = 1;\n", HEDDLE_CHECK_REACH_UNKNOWN);
}

static void test_nothing_is_claimed_where_threads_may_have_left_otherwise(void **state)
{
    (void)state;
    reach_is("    if (n > 2)\n        return;\n    if (n > 3)\n        __syncthreads();\n", HEDDLE_CHECK_REACH_UNKNOWN);
    reach_is("    LEAVE(n > 2);\n    if (n > 3)\n        __syncthreads();\n", HEDDLE_CHECK_REACH_UNKNOWN);
    reach_is("    NOT_DEFINED(n);\n    if (n > 3)\n        __syncthreads();\n", HEDDLE_CHECK_REACH_UNKNOWN);
    reach_is("    asm(\"exit;\");\n    if (n > 3)\n        __syncthreads();\n", HEDDLE_CHECK_REACH_UNKNOWN);
    reach_is("    if (n > 3) {\n        __syncthreads();\n        LEAVE(n);\n    }\n    x[0] = 1;\n",
             HEDDLE_CHECK_REACH_BRANCH);
    reach_is("    if (n > 3) {\n        __syncthreads();\n    }\n#if N\n    x[0] = 1;\n#endif\n",
             HEDDLE_CHECK_REACH_BRANCH);
    reach_is(
        "#if N\n    if (n > 2)\n        return;\n#endif\n    if (n > 3)\n        __syncthreads();\n    x[0] = 1;\n",
        HEDDLE_CHECK_REACH_UNKNOWN);
    reach_is("#if N\n    if (n > 3) {\n        __syncthreads();\n    }\n#else\n    x[0] = 1;\n#endif\n",
             HEDDLE_CHECK_REACH_BRANCH);
}

// A barrier in a function that the compiler has not inlined: the report names no caller.
static void reach_through_call_is(const char *before, const char *body, heddle_check_reach expected)
{
    char source[1024];
    snprintf(source, sizeof source,
             "%s\n__device__ void meet(int n) { __syncthreads(); }\n__global__ void k(int n, int *x)\n{\n%s}\n", before,
             body);
    heddle_check_report *report =
        explained(source, "{\"kind\": \"barrier-exited\", \"tier\": \"warning\", \"kernel\": \"k\", \"parts_warp\": "
                          "true, \"places\": [{\"role\": \"barrier\", \"file\": \"@\", \"line\": 2, \"function\": "
                          "\"meet\"}]}");
    assert_int_equal(report->findings[0].reach, expected);
    assert_int_equal(report->findings[0].tier,
                     expected == HEDDLE_CHECK_REACH_PASSED ? HEDDLE_CHECK_ERROR : HEDDLE_CHECK_WARNING);
    heddle_check_report_free(report);
}

static void test_the_only_call_of_a_function_is_read_like_one_that_was_inlined(void **state)
{
    (void)state;
    reach_through_call_is("", "    if (n > 3)\n        meet(n);\n    x[0] = 1;\n", HEDDLE_CHECK_REACH_PASSED);
    reach_through_call_is("", "    if (n > 3)\n        meet(n);\n", HEDDLE_CHECK_REACH_BRANCH);
    reach_through_call_is("", "    if (n > 3)\n        return;\n    meet(n);\n", HEDDLE_CHECK_REACH_RETURN);
    // Which of two calls it was is not known, nor who expands a macro, nor that another function is the kernel.
    reach_through_call_is("", "    if (n > 3)\n        meet(n);\n    meet(x[0]);\n", HEDDLE_CHECK_REACH_UNKNOWN);
    reach_through_call_is("#define MEET(n) meet(n)", "    if (n > 3)\n        meet(n);\n    x[0] = 1;\n",
                          HEDDLE_CHECK_REACH_UNKNOWN);
    reach_through_call_is("",
                          "    x[0] = 1;\n}\n__global__ void other(int n, int *x)\n{\n    if (n > 3)\n        "
                          "meet(n);\n    x[0] = 1;\n",
                          HEDDLE_CHECK_REACH_UNKNOWN);
}

static void test_what_the_preprocessor_leaves_out_is_not_read(void **state)
{
    (void)state;
    reach_is("#if N\n    if (n > 3) {\n        __syncthreads();\n    }\n#else\n    return;\n#endif\n    x[0] = 1;\n",
             HEDDLE_CHECK_REACH_PASSED);
    reach_is("#if N\n    return;\n#elif M\n    if (n > 3) {\n        __syncthreads();\n    }\n#endif\n    x[0] = 1;\n",
             HEDDLE_CHECK_REACH_PASSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allocations_are_named_after_the_first_argument),
        cmocka_unit_test(test_of_several_calls_on_a_line_the_column_tells_which),
        cmocka_unit_test(test_what_is_no_variable_has_no_name),
        cmocka_unit_test(test_extern_shared_memory_has_the_name_that_is_declared_at_the_place),
        cmocka_unit_test(test_the_array_of_a_wrong_index_is_named),
        cmocka_unit_test(test_an_endless_loop_is_told_where_it_begins),
        cmocka_unit_test(test_why_threads_miss_a_barrier_is_read_around_it),
        cmocka_unit_test(test_nothing_is_claimed_where_threads_may_have_left_otherwise),
        cmocka_unit_test(test_the_only_call_of_a_function_is_read_like_one_that_was_inlined),
        cmocka_unit_test(test_what_the_preprocessor_leaves_out_is_not_read),
    };
    return cmocka_run_group_tests(tests, create_folder, remove_folder);
}
