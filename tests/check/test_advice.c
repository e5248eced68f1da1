// What a line of source tells about why it failed.

#include "folder.h"
#include "sample.h"

#include <string.h>

#include "check/advice.h"
#include "check/sources.h"

// The tokens of a file with this content.
static const sim_source *code_of(heddle_check_sources *sources, const char *content)
{
    static int number;
    char name[32];
    snprintf(name, sizeof name, "%d.cu", number++);
    scratch_write(folder, name, content, strlen(content));
    return heddle_check_sources_code(sources, scratch_path(folder, name));
}

static const char *habit(const char *message)
{
    return heddle_check_habit_of_c("a.cu", message, NULL, 1);
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
        if (!habit(messages[i]) || !strstr(habit(messages[i]), "cast what malloc returns"))
            fail_msg("nothing of: %s", messages[i]);
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
        if (habit(messages[i]))
            fail_msg("\"%s\" of: %s", habit(messages[i]), messages[i]);
}

static void test_only_code_has_restrict(void **state)
{
    (void)state;
    static const char source[] = "void f(float *restrict a);\n"
                                 "int x = y; // restrict to n\n"
                                 "/* all of this is to\n"
                                 "   restrict */ int z = y;\n"
                                 "puts(\"restrict\") + y;\n";
    heddle_check_sources *sources = heddle_check_sources_create();
    const sim_source *code = code_of(sources, source);
    assert_contains(heddle_check_habit_of_c("a.cu", "expected ‘,’ or ‘...’", code, 1), "write __restrict__");
    for (int line = 2; line <= 6; line++)
        assert_null(heddle_check_habit_of_c("a.cu", "‘y’ was not declared in this scope", code, line));
    heddle_check_sources_free(sources);
}

static void test_a_kernel_in_a_c_file_is_told_from_other_errors(void **state)
{
    (void)state;
    heddle_check_sources *sources = heddle_check_sources_create();
    const sim_source *code = code_of(sources, "__global__ void k(float *a)\n{ }\nvoid f() { k<<<1, 1>>>(0); }\n"
                                              "void g(float *restrict a);\n");
    assert_contains(heddle_check_habit_of_c("a.c", "unknown type name", code, 1), "rename it to .cu");
    assert_contains(heddle_check_habit_of_c("a.c", "expected expression", code, 3), "rename it to .cu");
    assert_null(heddle_check_habit_of_c("a.c", "unknown type name", code, 4));
    heddle_check_sources_free(sources);
}

static void test_the_programs_own_name_is_no_argument(void **state)
{
    (void)state;
    heddle_check_sources *sources = heddle_check_sources_create();
    const sim_source *code = code_of(sources, "n = atoi(argv[1]);\nn = atoi(argv [ i ]);\n"
                                              "printf(s, argv[0], argv[01]);\nprintf(s, argv[0]); p[0] = 1;\n"
                                              "n = atoi(my_argv[1]); // argv[1]\nparse(argc, argv);\n");
    for (int line = 1; line <= 6; line++)
        assert_int_equal(heddle_check_reads_argument(code, line), line <= 3);
    assert_false(heddle_check_reads_argument(NULL, 1));
    heddle_check_sources_free(sources);
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
