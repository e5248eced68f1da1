// What of a line is code, and the words and calls in it.

#include "sample.h"

#include <string.h>

#include "check/code.h"

static void test_a_word_is_found_only_where_it_stands_by_itself(void **state)
{
    (void)state;
    const char *text = "int sums, sum_of, my_sum, sum;";
    assert_ptr_equal(heddle_check_find_word(text, text, "sum"), strstr(text, "sum;"));
    assert_null(heddle_check_find_word(text, text, "su"));
    assert_null(heddle_check_find_word(text, text, ""));
    assert_int_equal(heddle_check_word_length("sum_of, x"), 6);
    assert_int_equal(heddle_check_word_length(", x"), 0);
    assert_true(heddle_check_word_is("sum_of, x", 6, "sum_of"));
    assert_false(heddle_check_word_is("sum_of, x", 3, "sum_of"));
    assert_false(heddle_check_word_is("sum_of, x", 6, "sum"));
}

static void test_a_call_is_a_name_with_its_arguments(void **state)
{
    (void)state;
    static const char *const calls[] = {"wait();", "x = wait (1);", "barrier.wait<1>();", "waits(wait\t(2))"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!heddle_check_has_call(calls[i], "wait"))
            fail_msg("not found in: %s", calls[i]);
    static const char *const others[] = {"", "waits();", "await();", "int wait;", "wait = (1);"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (heddle_check_has_call(others[i], "wait"))
            fail_msg("found in: %s", others[i]);
    assert_false(heddle_check_has_call("f()", ""));
}

static void test_comments_and_literals_are_blank(void **state)
{
    (void)state;
    char code[64];
    bool comment = false;
    heddle_check_code_of("a = \"f()\"; // g()", &comment, code, sizeof code);
    assert_string_equal(code, "a =      ;       ");
    heddle_check_code_of("b /* h()", &comment, code, sizeof code);
    assert_string_equal(code, "b       ");
    assert_true(comment);
    heddle_check_code_of("k() */ c = 1'000;", &comment, code, sizeof code);
    assert_string_equal(code, "       c = 1'000;");
    assert_false(comment);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_word_is_found_only_where_it_stands_by_itself),
        cmocka_unit_test(test_a_call_is_a_name_with_its_arguments),
        cmocka_unit_test(test_comments_and_literals_are_blank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
