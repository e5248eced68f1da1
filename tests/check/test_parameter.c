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

// A read out of bounds of `name` in line 3, allocated in line 7, `offset` bytes behind the start of 64.
static heddle_check_result *read_beyond(const char *source, const char *name, int offset)
{
    char report[2048];
    snprintf(report, sizeof report,
             "{\"findings\": [{\"kind\": \"out-of-bounds\", \"kernel\": \"add\", \"message\": \"\", \"places\": "
             "[{\"role\": \"read\", \"file\": \"@\", \"line\": 3, \"thread\": [16, 0, 0], \"block\": [0, 0, 0]}], "
             "\"memory\": {\"space\": \"global\", \"name\": \"%s\", \"bytes\": 64, \"offset\": %d, \"size\": 4, "
             "\"live\": true, \"allocated\": {\"file\": \"@\", \"line\": 7, \"call\": \"cudaMalloc\"}}}]}",
             name, offset);
    heddle_check_result *result = NULL;
    assert_int_equal(heddle_check_result_create(&result), HEDDLE_OK);
    heddle_check_report *parsed = sample_parse(folder, report);
    scratch_write(folder, "tile.cu", source, strlen(source)); // instead of the sample's
    assert_int_equal(heddle_check_result_add_run(result, parsed), HEDDLE_OK);
    heddle_check_result_finish(result, NULL, false);
    return result;
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
    const char *source = KERNEL "int main()\n{\n    cudaMalloc(&da, 64); cudaMalloc(&db, 64); cudaMalloc(&c, 64);\n"
                                "    add<<<dim3(1, 1),\n        32>>>(da, db,\n            c, f(1, 2));\n}\n";
    headline_has(source, "da", 64, "of global memory a (allocated as da) in kernel add");
    headline_has(source, "db", 64, "of global memory b (allocated as db) in kernel add");
    headline_has(source, "c", 64, "of global memory c in kernel add");
    headline_has(source, "other", 64, "of global memory other in kernel add");
    headline_has(source, "da", 1 << 20, "of global memory da in kernel add"); // nobody knows whose that is
    headline_has("template <class T> " KERNEL "int main()\n{\n    cudaMalloc(&da, 64);\n"
                 "    add<float><<<1, 32>>>(da, db, dc);\n}\n",
                 "da", 64, "memory a (allocated as da)");
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
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char source[1024];
        snprintf(source, sizeof source, "%sint main()\n{\n    cudaMalloc(&da, 64);\n%s", KERNEL, bodies[i]);
        headline_has(source, "da", 64, "of global memory da in kernel add");
    }
}

static void test_the_caret_is_under_the_parameter(void **state)
{
    (void)state;
    const char *line = "    c[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];";
    heddle_check_result *result = read_beyond(KERNEL "int main()\n{\n    cudaMalloc(&db, 64);\n"
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
        cmocka_unit_test(test_the_caret_is_under_the_parameter),
    };
    return cmocka_run_group_tests(tests, create_folder, remove_folder);
}
