// What a kernel calls the memory that host code has allocated by another name.

#include "folder.h"
#include "sample.h"

#include <stdlib.h>
#include <string.h>

#include "check/caret.h"
#include "check/describe.h"

#define KERNEL                                                                                                         \
    "__global__ void add(const float *a, /* the , first */ const float b[], float *c, int n = 3)\n"                    \
    "{\n    c[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];\n}\n"
#define MAIN "int main()\n{ float *da, *db, *dc;\n    cudaMalloc(&da, 64);\n"

// A read out of bounds of `name` by this function of kernel add, in line 3; allocated in line 7, `offset` bytes behind
// the start of 64.
static heddle_check_result *read_in(const char *function, const char *source, const char *name, int offset)
{
    char report[2048];
    snprintf(report, sizeof report,
             "{\"findings\": [{\"kind\": \"out-of-bounds\", \"kernel\": \"add\", \"message\": \"\", \"places\": "
             "[{\"role\": \"read\", \"file\": \"@\", \"line\": 3, \"function\": \"%s\", \"thread\": [16, 0, 0], "
             "\"block\": [0, 0, 0]}], "
             "\"memory\": {\"space\": \"global\", \"name\": \"%s\", \"bytes\": 64, \"offset\": %d, \"size\": 4, "
             "\"live\": true, \"allocated\": {\"file\": \"@\", \"line\": 7, \"call\": \"cudaMalloc\"}}}]}",
             function, name, offset);
    heddle_check_result *result = NULL;
    assert_int_equal(heddle_check_result_create(&result), HEDDLE_OK);
    heddle_check_report *parsed = sample_parse(folder, report);
    scratch_write(folder, "tile.cu", source, strlen(source)); // instead of the sample's
    assert_int_equal(heddle_check_result_add_run(result, parsed), HEDDLE_OK);
    heddle_check_result_finish(result, NULL, false);
    return result;
}

static heddle_check_result *read_beyond(const char *source, const char *name, int offset)
{
    return read_in("add", source, name, offset);
}

static void headline_has(const char *source, const char *name, int offset, const char *expected)
{
    char text[512];
    heddle_check_result *result = read_beyond(source, name, offset);
    assert_contains(heddle_check_headline(result->findings[0], text, sizeof text), expected);
    heddle_check_result_free(result);
}

static void test_memory_has_both_its_names(void **state)
{
    (void)state;
    const char *source = KERNEL "int main()\n{ float *da, *db, *c;\n"
                                "    cudaMalloc(&da, 64); cudaMalloc(&db, 64); cudaMalloc(&c, 64);\n"
                                "    add<<<dim3(1, 1),\n        32>>>(da, db,\n            c, f(1, 2));\n}\n";
    headline_has(source, "da", 64, "of global memory a (allocated as da) in kernel add");
    headline_has(source, "db", 64, "of global memory b (allocated as db) in kernel add");
    headline_has(source, "c", 64, "of global memory c in kernel add");
    headline_has(source, "other", 64, "of global memory allocated as other in kernel add");
    headline_has(source, "da", 1 << 20, "of global memory allocated as da in kernel add"); // nobody knows whose that is
    headline_has("template <class T> " KERNEL MAIN "    add<float><<<1, 32>>>(da, db, dc);\n}\n", "da", 64,
                 "memory a (allocated as da)");
}

static void test_a_name_that_is_not_certain_is_not_told(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "    add<<<1, 32>>>(da, da, dc);\n}\n",                                  // by two parameters
        "    add<<<1, 32>>>(da, db, dc);\n    add<<<1, 32>>>(db, da, dc);\n}\n", // by one, then by another
        "    swap(da, db);\n    add<<<1, 32>>>(da, db, dc);\n}\n",               // perhaps by another
        "    add<<<1, 32>>>(da, db, dc);\n    da = db;\n}\n",                    // likewise, in a loop
        "    run(db, da);\n}\nvoid run(float *da, float *db)\n{\n    add<<<1, 32>>>(da, db, 0);\n}\n",
        "    // add<<<1, 32>>>(da, db, dc);\n}\n",
        "    add<<<1, 32>>>(da + 1, db, dc);\n}\n",
        "    add<<<1, 32>>>(da, db, dc);\n    add<<<1, 32>>>(db, da + 1, dc);\n}\n",
        // by another name
        "    add<<<1, 32>>>(da, db, dc);\n    first = da;\n    add<<<1, 32>>>(db, first, dc);\n}\n",
        "    add<<<1, 32>>>(da, db, dc);\n    Pair pair = {db, da};\n    add<<<1, 32>>>(pair.x, pair.y, dc);\n}\n",
        "    add<<<1, 32>>>(da, db, dc);\n    Pair pair(db, da);\n    add<<<1, 32>>>(pair.x, pair.y, dc);\n}\n",
        "    add<<<1, 32>>>(da, db, dc);\n    flip(&da, &db);\n    add<<<1, 32>>>(da, db, dc);\n}\n",
        "    auto run = [](float *da, float *db) { add<<<1, 32>>>(da, db, 0); };\n    run(db, da);\n}\n",
        "    void *list[] = {&db, &da, &dc};\n    cudaLaunchKernel(add, 1, 32, list);\n"
        "#if 0\n    add<<<1, 32>>>(da, db, dc);\n#endif\n}\n",
        // by a function that launches it too
        "    add<<<1, 32>>>(da, db, dc);\n    run(db, da);\n}\n"
        "void run(float *x, float *y)\n{\n    add<<<1, 32>>>(x, y, 0);\n}\n",
        "    add<<<1, 32>>>(da, db, dc);\n    other_file(db, da);\n}\n",
        // by a kernel
        "    add<<<1, 32>>>(da, db, dc);\n    outer<<<1, 1>>>(da, db);\n}\n"
        "__global__ void outer(float *x, float *y)\n{\n    add<<<1, 32>>>(y, x, 0);\n}\n",
        // exchanged by references
        "    turn(da, db);\n    add<<<1, 32>>>(da, db, dc);\n}\n",
        "    cuda_turn(da, db);\n    add<<<1, 32>>>(da, db, dc);\n}\n",
        "    std::tie(da, db) = std::make_tuple(db, da);\n    add<<<1, 32>>>(da, db, dc);\n}\n",
        "    cudaMemcpy(&db, &da, 8, cudaMemcpyDefault);\n    add<<<1, 32>>>(da, db, dc);\n}\n",
        "    if ((db = da)) { }\n    add<<<1, 32>>>(da, db, dc);\n}\n",
        "    if ((db = (float *)da)) { }\n    add<<<1, 32>>>(da, db, dc);\n}\n",
        "    cudaHostGetDevicePointer(&db, da, 0);\n    add<<<1, 32>>>(da, db, dc);\n}\n",
        // the kernel by another name
        "    add<<<1, 32>>>(da, db, dc);\n    LAUNCH(add, db, da, dc);\n}\n",
        "    add<<<1, 32>>>(da, db, dc);\n    auto other = add;\n    other<<<1, 32>>>(db, da, dc);\n}\n",
        "    add<<<1, 32>>>(da, db, dc);\n#define OTHER add\n    OTHER<<<1, 32>>>(db, da, dc);\n}\n",
        // a template's comma
        "    add<<<1, 32>>>(da, sum<float, 3>(db), dc);\n}\n",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char source[1024];
        snprintf(source, sizeof source, "%s%s", KERNEL MAIN, bodies[i]);
        headline_has(source, "da", 64, "of global memory allocated as da in kernel add");
    }
    headline_has(KERNEL "int main()\n{ float *da, *db; auto turn = [&] { std::tie(da, db) = pair(db, da); };\n"
                        "    cudaMalloc(&da, 64);\n    turn();\n    add<<<1, 32>>>(da, db, 0);\n}\n",
                 "da", 64, "of global memory allocated as da in kernel add");
    headline_has(KERNEL "#define SWAPPED db, \\\n    da\nint main() { float *da, *db; cudaMalloc(&da, 64);\n"
                        "    add<<<1, 32>>>(da, db, 0);\n    add<<<1, 32>>>(SWAPPED, 0);\n}\n",
                 "da", 64, "of global memory allocated as da in kernel add");
    // Another file may use what is no local variable.
    headline_has(KERNEL "float *da, *db; int main() {\n\n    cudaMalloc(&da, 64);\n    add<<<1, 32>>>(da, db, 0);\n}\n",
                 "da", 64, "of global memory allocated as da in kernel add");
}

static void test_what_cannot_exchange_pointers_leaves_the_name_certain(void **state)
{
    (void)state;
    headline_has(KERNEL "int main()\n{ float *da = 0, *db; da = nullptr;\n"
                        "    CHECK(cudaMalloc((void **)&da, 64)); if (!da || da == db) return 1;\n"
                        "    printf(\"%p\", da); assert(da); look(da[3]); *da = 1; other<<<1, 1>>>(db, da);\n"
                        "    cudaFuncSetAttribute(add, limit, 64); cudaMemcpy(da, host, 64, cudaMemcpyDefault);\n"
                        "    add<<<1, 32>>>(da, db, dc);\n    cudaFree(da);\n}\n"
                        "void turn(float *&x, float *&y)\n{\n    add<<<1, 32>>>(y, x, 0);\n}\n",
                 "da", 64, "of global memory a (allocated as da) in kernel add");
}

// Each launch is looked at in its function, and functions are looked for once, not from the top for each launch.
static void test_a_file_of_many_launches_is_walked_once(void **state)
{
    (void)state;
    enum { FUNCTIONS = 100000 }; // in quadratic time it would not end before the test is given up
    static const char start[] = KERNEL MAIN "    add<<<1, 32>>>(da, db, dc);\n}\n";
    static const char other[] = "void go() { if (ready) { add<<<1, 32>>>(x, y, z); } }\n";
    char *source = malloc(sizeof start + FUNCTIONS * (sizeof other - 1));
    assert_non_null(source);
    memcpy(source, start, sizeof start - 1);
    for (size_t i = 0; i < FUNCTIONS; i++)
        memcpy(source + sizeof start - 1 + i * (sizeof other - 1), other, sizeof other);
    headline_has(source, "da", 64, "of global memory a (allocated as da) in kernel add");
    free(source);
}

// Where the access is in a function that the kernel calls, host code's name may be that of another parameter.
static void test_the_hosts_name_is_not_told_as_the_kernels(void **state)
{
    (void)state;
    const char *source =
        KERNEL "int main()\n{ float *a, *b, *c;\n    cudaMalloc(&a, 64);\n    add<<<1, 32>>>(b, a, c);\n}\n";
    char text[512];
    heddle_check_result *result = read_in("get", source, "a", 64);
    assert_string_equal(heddle_check_headline(result->findings[0], text, sizeof text),
                        "access out of bounds of global memory allocated as a in kernel add");
    heddle_check_result_free(result);
    headline_has(source, "a", 64, "of global memory b (allocated as a) in kernel add");
}

// Commas between < and > are no commas of the list.
static void test_parameters_of_a_template_are_not_counted(void **state)
{
    (void)state;
    headline_has("__global__ void add(Array<int, 2> shape, const float *a, const float *b)\n"
                 "{\n    c[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];\n}\n"
                 "int main()\n{ float *db;\n    cudaMalloc(&db, 64);\n    add<<<1, 32>>>(s, da, db);\n}\n",
                 "db", 64, "of global memory allocated as db in kernel add");
}

static void test_a_kernel_that_sets_its_parameter_anew_has_no_name_for_it(void **state)
{
    (void)state;
    static const char host[] = MAIN "    add<<<1, 32>>>(da, db);\n}\n";
    char source[512];
    snprintf(source, sizeof source, "__global__ void add(float *a, float *b)\n{ float *p = b; b = a; a = p;\n}\n\n%s",
             host);
    headline_has(source, "da", 64, "of global memory allocated as da in kernel add");
    snprintf(source, sizeof source,
             "__global__ void add(float *a, float *b)\n{ a = a + 3; a += 4; if (a == b) *a = 1; else *a = 2;\n}\n\n%s",
             host);
    headline_has(source, "da", 64, "of global memory a (allocated as da) in kernel add");
}

// Functions end at their brace, wherever it stands, and what is done in another one does not matter here.
static void test_only_the_function_that_allocates_counts(void **state)
{
    (void)state;
    static const char other[] = "void go(float *da, float *db) { float *t = da; add<<<1, 32>>>(db, t, 0); }\n";
    char source[1024];
    snprintf(source, sizeof source,
             "%sint main() { float *da, *db;\n\n    cudaMalloc(&da, 64);\n"
             "    if (!da) { return 1; }\n    add<<<1, 32>>>(da, db, dc);\n    cudaFree(da); }\n%s",
             KERNEL, other);
    headline_has(source, "da", 64, "of global memory a (allocated as da) in kernel add");
    snprintf(source, sizeof source,
             "%sstruct Runner {\n    void first(float *da) {\n        cudaMalloc(&da, 64); run(db, da);\n"
             "    }\n    void run(float *da, float *x) {\n        add<<<1, 32>>>(da, x, 0);\n    }\n};\n",
             KERNEL);
    headline_has(source, "da", 64, "of global memory allocated as da in kernel add");
    static const char *const around[][2] = {
        {"namespace space { template <class T> void run() {\n    T *da, *db;\n", "} }\n"},
        {"extern \"C\" { void run() {\n    float *da, *db;\n", "} }\n"},
        {"extern \"C\" void run(struct pair p) {\n    float *da, *db;\n", "}\n"},
        {"template <template <class> class T> struct alignas(16) s : t { void run() {\n    float *da, *db;\n",
         "} };\n"},
    };
    for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
        snprintf(source, sizeof source, "%s%s    cudaMalloc(&da, 64);\n    add<<<1, 32>>>(da, db, 0);\n%s%s", KERNEL,
                 around[i][0], around[i][1], other);
        headline_has(source, "da", 64, "of global memory a (allocated as da) in kernel add");
    }
    // Braces that preprocessor lines leave open: where the function ends is not known.
    snprintf(source, sizeof source,
             "%svoid run() { float *da;\n    if (x) {\n    cudaMalloc(&da, 64);\n#if Y\n    if (y) {\n#else\n    "
             "{\n#endif\n    } }\n"
             "    add<<<1, 32>>>(da, db, 0);\n}\n",
             KERNEL);
    headline_has(source, "da", 64, "of global memory allocated as da in kernel add");
}

// Host code and kernel use the two names for one another's memory.
static void test_the_caret_is_not_under_the_hosts_name_where_the_kernels_is_not_certain(void **state)
{
    (void)state;
    const char *line = "    c[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];";
    size_t start = 0, end = 0;
    heddle_check_result *result = read_beyond(KERNEL "int main()\n{ float *a;\n    cudaMalloc(&a, 64);\n"
                                                     "    first = a;\n    add<<<1, 32>>>(b, first, c);\n}\n",
                                              "a", 64);
    assert_false(heddle_check_caret(result->findings[0], &result->findings[0]->places[0], line, &start, &end));
    heddle_check_result_free(result);
    result = read_beyond(KERNEL "int main()\n{ float *a;\n    cudaMalloc(&a, 64);\n    add<<<1, 32>>>(b, a, c);\n}\n",
                         "a", 64);
    assert_true(heddle_check_caret(result->findings[0], &result->findings[0]->places[0], line, &start, &end));
    assert_int_equal(start, strstr(line, "b[") - line);
    heddle_check_result_free(result);
}

static void test_the_caret_in_another_function_is_not_by_the_kernels_parameter(void **state)
{
    (void)state;
    const char *line = "    a[i] = a[i] + b[i];";
    size_t start = 0, end = 0;
    heddle_check_result *result = read_beyond(KERNEL MAIN "    add<<<1, 32>>>(da, db, dc);\n}\n", "da", 64);
    heddle_check_place place = result->findings[0]->places[0];
    assert_true(heddle_check_caret(result->findings[0], &place, line, &start, &end));
    place.frame[0].function = "first"; // another kernel, or a function that the kernel calls
    assert_false(heddle_check_caret(result->findings[0], &place, line, &start, &end));
    place.frame[0].function = "add<float>";
    assert_true(heddle_check_caret(result->findings[0], &place, line, &start, &end));
    heddle_check_result_free(result);
}

static void test_the_caret_is_under_the_parameter(void **state)
{
    (void)state;
    const char *line = "    c[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];";
    heddle_check_result *result = read_beyond(KERNEL "int main()\n{ float *da, *db, *dc;\n    cudaMalloc(&db, 64);\n"
                                                     "    add<<<1, 32>>>(da, db, dc);\n}\n",
                                              "db", 64);
    size_t start = 0, end = 0;
    assert_true(heddle_check_caret(result->findings[0], &result->findings[0]->places[0], line, &start, &end));
    assert_int_equal(start, strstr(line, "b[") - line);
    assert_int_equal(end, strlen(line) - 1);
    heddle_check_result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_has_both_its_names),
        cmocka_unit_test(test_a_name_that_is_not_certain_is_not_told),
        cmocka_unit_test(test_what_cannot_exchange_pointers_leaves_the_name_certain),
        cmocka_unit_test(test_a_file_of_many_launches_is_walked_once),
        cmocka_unit_test(test_the_hosts_name_is_not_told_as_the_kernels),
        cmocka_unit_test(test_parameters_of_a_template_are_not_counted),
        cmocka_unit_test(test_a_kernel_that_sets_its_parameter_anew_has_no_name_for_it),
        cmocka_unit_test(test_only_the_function_that_allocates_counts),
        cmocka_unit_test(test_the_caret_is_not_under_the_hosts_name_where_the_kernels_is_not_certain),
        cmocka_unit_test(test_the_caret_in_another_function_is_not_by_the_kernels_parameter),
        cmocka_unit_test(test_the_caret_is_under_the_parameter),
    };
    return cmocka_run_group_tests(tests, create_folder, remove_folder);
}
