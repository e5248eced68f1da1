// What a line of source tells about why it failed.

#include "folder.h"
#include "sample.h"

#include <string.h>

#include "check/advice.h"

static void advises(const char *message, const char *code, const char *expected)
{
    const char *advice = heddle_check_habit_of_c("a.cu", message, code);
    if (!advice || !strstr(advice, expected))
        fail_msg("\"%s\" of: %s", advice ? advice : "nothing", message);
}

static void is_silent(const char *message, const char *code)
{
    const char *advice = heddle_check_habit_of_c("a.cu", message, code);
    if (advice)
        fail_msg("\"%s\" of: %s", advice, message);
}

static void test_a_void_pointer_that_becomes_another_is_to_be_cast(void **state)
{
    (void)state;
    static const char *const messages[] = {
        "invalid conversion from ‘void*’ to ‘float*’ [-fpermissive]",
        "invalid conversion from 'void*' to 'float**' [-fpermissive]",
        "cannot initialize a variable of type 'float *' with an rvalue of type 'void *'",
        "cannot initialize a parameter of type 'float *' with an lvalue of type 'void *'",
        "assigning to 'float *' from incompatible type 'void *'",
    };
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        advises(messages[i], "", "cast what malloc returns");
}

static void test_other_conversions_are_no_matter_of_malloc(void **state)
{
    (void)state;
    static const char *const messages[] = {
        "invalid conversion from ‘void* (*)()’ to ‘void* (*)(void*)’ [-fpermissive]",
        "invalid conversion from ‘void**’ to ‘float*’ [-fpermissive]",
        "invalid conversion from ‘int’ to ‘void*’ [-fpermissive]",
        "invalid conversion from ‘void*’ to ‘int’ [-fpermissive]",
        "cannot initialize a variable of type 'void *' with an lvalue of type 'int'",
        "cannot initialize a variable of type 'int' with an lvalue of type 'void *'",
        "cannot initialize a variable of type 'void *(*)()' with an lvalue of type 'void *(int)'",
        "assigning to 'int' from incompatible type 'void *'",
        "assigning to 'void *' from incompatible type 'int'",
    };
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        is_silent(messages[i], "");
}

static void test_only_code_has_restrict(void **state)
{
    (void)state;
    static const char source[] = "void f(float *restrict a);\n"
                                 "int x = y; // restrict to n\n"
                                 "/* all of this is to\n"
                                 "   restrict */ int z = y;\n"
                                 "puts(\"restrict\") + y;\n";
    char code[HEDDLE_CHECK_CODE_SIZE];
    scratch_write(folder, "a.cu", source, strlen(source));
    char path[512];
    snprintf(path, sizeof path, "%s/a.cu", folder);
    heddle_check_sources *sources = heddle_check_sources_create();
    advises("expected ‘,’ or ‘...’", heddle_check_line_code(sources, path, 1, code, sizeof code), "write __restrict__");
    for (int line = 2; line <= 6; line++)
        is_silent("‘y’ was not declared in this scope", heddle_check_line_code(sources, path, line, code, sizeof code));
    assert_string_equal(heddle_check_line_code(sources, "", 1, code, sizeof code), "");
    heddle_check_sources_free(sources);
}

static void test_a_kernel_in_a_c_file_is_told_from_other_errors(void **state)
{
    (void)state;
    const char *advice = heddle_check_habit_of_c("a.c", "unknown type name", "__global__ void k(float *a)");
    assert_non_null(advice);
    assert_contains(advice, "call it .cu");
    assert_null(heddle_check_habit_of_c("a.c", "unknown type name", "float *restrict a"));
}

static void test_the_programs_own_name_is_no_argument(void **state)
{
    (void)state;
    assert_true(heddle_check_reads_argument("n = atoi(argv[1]);"));
    assert_true(heddle_check_reads_argument("n = atoi(argv [ i ]);"));
    assert_true(heddle_check_reads_argument("printf(s, argv[0], argv[01]);"));
    assert_false(heddle_check_reads_argument("printf(s, argv[0]); p[0] = 1;"));
    assert_false(heddle_check_reads_argument("n = atoi(my_argv[1]);"));
    assert_false(heddle_check_reads_argument("parse(argc, argv);"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_void_pointer_that_becomes_another_is_to_be_cast),
        cmocka_unit_test(test_other_conversions_are_no_matter_of_malloc),
        cmocka_unit_test(test_only_code_has_restrict),
        cmocka_unit_test(test_a_kernel_in_a_c_file_is_told_from_other_errors),
        cmocka_unit_test(test_the_programs_own_name_is_no_argument),
    };
    return cmocka_run_group_tests(tests, create_folder, remove_folder);
}
