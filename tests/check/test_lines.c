// Which line of a call or launch that spans several is named, and where the barrier of a race belongs.

#include "folder.h"
#include "sample.h"

#include <string.h>

#include "check/barrier.h"
#include "check/lines.h"

static const char source[] = "__global__ void sum(float *x, int n)\n"              // 1
                             "{\n"                                                 // 2
                             "    __shared__ float s[64];\n"                       // 3
                             "    for (int i = 0; i < n; i++) {\n"                 // 4
                             "        s[threadIdx.x] = x[i];\n"                    // 5
                             "        __syncthreads();\n"                          // 6
                             "        x[i] = s[63 - threadIdx.x];\n"               // 7
                             "    }\n"                                             // 8
                             "    s[threadIdx.x] = 1;\n"                           // 9
                             "    x[0] = s[63 - threadIdx.x];\n"                   // 10
                             "}\n"                                                 // 11
                             "int main()\n"                                        // 12
                             "{\n"                                                 // 13
                             "    CHECK(\n"                                        // 14
                             "        cudaMalloc(&x, // the size\n"                // 15
                             "                   64));\n"                          // 16
                             "    sum<<<1,\n"                                      // 17
                             "          2048>>>(x,\n"                              // 18
                             "                  1);\n"                             // 19
                             "    SUM(x); cudaFree(x);\n"                          // 20
                             "    sum\n"                                           // 21
                             "        <<<1, 64>>>(x, 1);\n"                        // 22
                             "    COPY(x, y); // the macro has the call\n"         // 23
                             "    cudaMemcpy(y, x, 64, cudaMemcpyDeviceToHost);\n" // 24
                             "} __device__ void more(float *x, int n) {\n"         // 25
                             "    s[threadIdx.x] = 1;\n"                           // 26
                             "    // __syncthreads();\n"                           // 27
                             "    x[0] = s[63 - threadIdx.x];\n"                   // 28
                             "    if (n > 3)\n"                                    // 29
                             "        s[threadIdx.x] = 1;\n"                       // 30
                             "    else\n"                                          // 31
                             "        x[0] = s[3];\n"                              // 32
                             "    for (int i = 0; i < n; i++) {\n"                 // 33
                             "        s[i] = 1;\n"                                 // 34
                             "        n--;\n"                                      // 35
                             "    }\n"                                             // 36
                             "    n++; // }\n"                                     // 37
                             "    if (n == 0) {\n"                                 // 38
                             "        for (int i = 0; i < n; i++)\n"               // 39
                             "            x[i] = s[i];\n"                          // 40
                             "    }\n"                                             // 41
                             "    s[0] = 2;\n"                                     // 42
                             "    if (n == 0)\n"                                   // 43
                             "    {\n"                                             // 44
                             "        x[0] = s[0];\n"                              // 45
                             "    }\n"                                             // 46
                             "    s[0] = 3;\n"                                     // 47
                             "    if (n == 1)\n"                                   // 48
                             "        x[0] = s[0]; }\n"                            // 49
                             "__global__ void part(float *x, int n)\n"             // 50
                             "{\n"                                                 // 51
                             "    if (threadIdx.x < 40) { // not all\n"            // 52
                             "        s[threadIdx.x] = 1;\n"                       // 53
                             "        n++;\n"                                      // 54
                             "        x[0] = s[3];\n"                              // 55
                             "    }\n"                                             // 56
                             "    s[0] = 4; /* { opens */\n"                       // 57
                             "    int brace = '{', most = 1'000; /* sync();\n"     // 58
                             "       } */\n"                                       // 59
                             "    for (int i = 0; i < n; i++) {\n"                 // 60
                             "        x[i] = s[0];\n"                              // 61
                             "    }\n"                                             // 62
                             "    if constexpr (wide) {\n"                         // 63
                             "        s[0] = 5;\n"                                 // 64
                             "        x[0] = s[0];\n"                              // 65
                             "    }\n"                                             // 66
                             "    if (n > 2)\n"                                    // 67
                             "        for (int i = 0; i < n; i++) {\n"             // 68
                             "            s[i] = 1;\n"                             // 69
                             "            if (i > 3) {\n"                          // 70
                             "                x[i] = s[0];\n"                      // 71
                             "            }\n"                                     // 72
                             "        }\n"                                         // 73
                             "#if WIDE\n"                                          // 74
                             "    if (n > 3) {\n"                                  // 75
                             "#else\n"                                             // 76
                             "    if (n > 4) {\n"                                  // 77
                             "#endif\n"                                            // 78
                             "    }\n"                                             // 79
                             "    s[0] = 6;\n"                                     // 80
                             "    x[0] = s[0];\n"                                  // 81
                             "}\n"                                                 // 82
                             "    CHECK(\"stage; one)\", /* of two */\n"           // 83
                             "          cudaMemcpy(x, y, 4, 0));\n"                // 84
                             "__global__ void chosen(float *x)\n"                  // 85
                             "{\n"                                                 // 86
                             "#if OLD\n"                                           // 87
                             "    s[0] = 7;\n"                                     // 88
                             "#else\n"                                             // 89
                             "    __syncthreads();\n"                              // 90
                             "#endif\n"                                            // 91
                             "    x[0] = s[0];\n"                                  // 92
                             "}\n";                                                // 93

static heddle_check_result *settled(const char *finding)
{
    char report[2048];
    snprintf(report, sizeof report, "{\"findings\": [%s]}", finding);
    heddle_check_result *result = NULL;
    assert_int_equal(heddle_check_result_create(&result), HEDDLE_OK);
    heddle_check_report *parsed = sample_parse(folder, report);
    scratch_write(folder, "tile.cu", source, strlen(source)); // instead of the sample's
    assert_int_equal(heddle_check_result_add_run(result, parsed), HEDDLE_OK);
    heddle_check_lines_settle(result);
    return result;
}

static void line_becomes(const char *finding, int line)
{
    heddle_check_result *result = settled(finding);
    assert_int_equal(result->findings[0]->places[0].frame[0].line, line);
    heddle_check_result_free(result);
}

#define FAILS(line)                                                                                                    \
    "{\"kind\": \"bad-call\", \"message\": \"cudaMalloc fails with cudaErrorInvalidValue: no\", \"places\": "          \
    "[{\"role\": \"call\", \"file\": \"@\", \"line\": " line "}]}"
#define COPY_FAILS(line)                                                                                               \
    "{\"kind\": \"bad-call\", \"message\": \"cudaMemcpy fails with cudaErrorInvalidValue: no\", \"places\": "          \
    "[{\"role\": \"call\", \"file\": \"@\", \"line\": " line "}]}"
#define LAUNCH(line)                                                                                                   \
    "{\"kind\": \"bad-launch\", \"kernel\": \"sum<float>\", \"message\": \"the launch fails\", \"places\": "           \
    "[{\"role\": \"launch\", \"file\": \"@\", \"line\": " line "}]}"

static void test_a_call_inside_a_checker_is_where_its_name_stands(void **state)
{
    (void)state;
    line_becomes(FAILS("14"), 15);
    line_becomes(FAILS("15"), 15);
    line_becomes("{\"kind\": \"missing-wait\", \"message\": \"the host reads it\", \"places\": [{\"role\": \"call\", "
                 "\"file\": \"@\", \"line\": 14}]}",
                 14);                   // whose message names no call
    line_becomes(COPY_FAILS("23"), 23); // the call of the next statement is another one
    line_becomes(COPY_FAILS("83"), 84); // signs in a literal are no code
}

static void test_a_launch_is_where_its_kernel_stands(void **state)
{
    (void)state;
    line_becomes(LAUNCH("18"), 17);
    line_becomes(LAUNCH("17"), 17);
    line_becomes(LAUNCH("20"), 20); // by a macro: not the launch above it
    line_becomes(LAUNCH("22"), 21);
    line_becomes("{\"kind\": \"unchecked-error\", \"message\": \"the launch failed with it\", \"places\": [{\"role\": "
                 "\"call\", \"file\": \"@\", \"line\": 18}]}",
                 17);
}

static void test_an_allocation_is_named_by_the_line_of_its_call(void **state)
{
    (void)state;
    heddle_check_result *result =
        settled("{\"kind\": \"leak\", \"message\": \"64 bytes are never freed\", \"places\": [{\"role\": "
                "\"allocated\", \"file\": \"@\", \"line\": 14}], \"memory\": {\"space\": \"global\", \"name\": \"x\", "
                "\"allocated\": {\"file\": \"@\", \"line\": 14, \"call\": \"cudaMalloc\"}}}");
    assert_int_equal(result->findings[0]->places[0].frame[0].line, 15);
    assert_int_equal(result->findings[0]->memory->allocated.line, 15);
    heddle_check_result_free(result);
}

#define RACE(first, second)                                                                                            \
    "{\"kind\": \"race\", \"kernel\": \"sum\", \"places\": "                                                           \
    "[{\"role\": \"write\", \"file\": \"@\", \"function\": \"sum\", \"line\": " first "}, {\"role\": \"read\", "       \
    "\"file\": \"@\", \"function\": \"sum\", \"line\": " second "}]}"

static void barrier_is(const char *finding, const char *expected)
{
    char place[320] = "";
    heddle_check_result *result = settled(finding);
    heddle_check_barrier_place(result->sources, result->findings[0], place, sizeof place);
    assert_string_equal(place, expected);
    heddle_check_result_free(result);
}

static void test_a_race_names_the_lines_between_which_the_barrier_belongs(void **state)
{
    (void)state;
    barrier_is(RACE("9", "10"), "between line 9 and line 10");
    barrier_is(RACE("10", "9"), "between line 9 and line 10");
    barrier_is(RACE("7", "5"),
               "at the end of the loop's body, after line 7, because accesses of different iterations meet");
    barrier_is(RACE("26", "28"), "between line 26 and line 28"); // one in a comment is none
    barrier_is(RACE("88", "92"), "between line 88 and line 92"); // one in another branch of #if is none
    barrier_is(RACE("6", "9"), "");                              // a barrier on one of the lines
}

// The access of line 3 is in a function that is called at `first`.
#define RACE_IN_CALL(first, second)                                                                                    \
    "{\"kind\": \"race\", \"kernel\": \"sum\", \"places\": "                                                           \
    "[{\"role\": \"write\", \"file\": \"@\", \"function\": \"load\", \"line\": 3, \"stack\": [{\"file\": \"@\", "      \
    "\"function\": \"load\", \"line\": 3}, {\"file\": \"@\", \"function\": \"sum\", \"line\": " first "}]}, "          \
    "{\"role\": \"read\", \"file\": \"@\", \"function\": \"sum\", \"line\": " second "}]}"

static void test_an_access_inside_a_call_counts_where_the_call_stands(void **state)
{
    (void)state;
    barrier_is(RACE_IN_CALL("9", "10"), "between line 9 and line 10");
    barrier_is(RACE_IN_CALL("5", "7"),
               "at the end of the loop's body, after line 7, because accesses of different iterations meet");
}

static void test_a_barrier_is_not_put_into_a_block_that_one_access_is_in(void **state)
{
    (void)state;
    barrier_is(RACE("30", "32"), ""); // one branch of an if and the other
    barrier_is(RACE("34", "40"), "between line 36 and line 38");
    barrier_is(RACE("34", "42"), "between line 41 and line 42");
    barrier_is(RACE("42", "45"), "between line 42 and line 43");
    barrier_is(RACE("47", "49"), "between line 47 and line 48");
    barrier_is(RACE("33", "34"), ""); // before or behind the brace?
}

static void test_a_branch_that_both_accesses_are_in_is_named(void **state)
{
    (void)state;
    barrier_is(RACE("53", "55"), "between line 53 and line 55, outside the branch of line 52 unless "
                                 "all threads of the block take it");
    barrier_is(RACE("69", "71"), "between line 69 and line 70, outside the branch of line 67 unless "
                                 "all threads of the block take it, and another one at the end of the loop's body, "
                                 "after line 72, if its iterations use the same elements");
    barrier_is(RACE("53", "57"), "between line 56 and line 57"); // behind it
    barrier_is(RACE("64", "65"), "between line 64 and line 65"); // known when compiling
    barrier_is(RACE("80", "81"), "between line 80 and line 81");
}

static void test_braces_and_barriers_in_comments_and_literals_are_no_code(void **state)
{
    (void)state;
    barrier_is(RACE("57", "61"), "between line 57 and line 60");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_call_inside_a_checker_is_where_its_name_stands),
        cmocka_unit_test(test_a_launch_is_where_its_kernel_stands),
        cmocka_unit_test(test_an_allocation_is_named_by_the_line_of_its_call),
        cmocka_unit_test(test_a_race_names_the_lines_between_which_the_barrier_belongs),
        cmocka_unit_test(test_an_access_inside_a_call_counts_where_the_call_stands),
        cmocka_unit_test(test_a_barrier_is_not_put_into_a_block_that_one_access_is_in),
        cmocka_unit_test(test_a_branch_that_both_accesses_are_in_is_named),
        cmocka_unit_test(test_braces_and_barriers_in_comments_and_literals_are_no_code),
    };
    return cmocka_run_group_tests(tests, create_folder, remove_folder);
}
