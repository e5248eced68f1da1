// Status names and the thread's last error.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "heddle/status.h"

static void every_status_has_its_own_name(void **state)
{
    (void)state;
    for (int i = HEDDLE_OK; i <= HEDDLE_INTERNAL; i++) {
        assert_memory_equal(heddle_status_name((heddle_status)i), "HEDDLE_", strlen("HEDDLE_"));
        for (int j = HEDDLE_OK; j < i; j++)
            assert_string_not_equal(heddle_status_name((heddle_status)i), heddle_status_name((heddle_status)j));
    }
    assert_string_equal(heddle_status_name((heddle_status)999), "unknown status");
}

static void fail_formats_the_message_and_returns_the_status(void **state)
{
    (void)state;
    assert_int_equal(heddle_fail(HEDDLE_CORRUPT, "%s: %d bytes", "a.idx", 3), HEDDLE_CORRUPT);
    assert_string_equal(heddle_last_error(), "a.idx: 3 bytes");
    // The old message may be an argument of the new one.
    heddle_fail(HEDDLE_IO, "again: %s", heddle_last_error());
    assert_string_equal(heddle_last_error(), "again: a.idx: 3 bytes");
}

static void fail_within_puts_context_in_front(void **state)
{
    (void)state;
    heddle_fail(HEDDLE_IO, "disk full");
    assert_int_equal(heddle_fail_within(HEDDLE_IO, "saving %s", "best"), HEDDLE_IO);
    assert_string_equal(heddle_last_error(), "saving best: disk full");
}

static void a_long_message_is_cut_and_terminated(void **state)
{
    (void)state;
    char text[5000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    heddle_fail(HEDDLE_IO, "%s", text);
    size_t length = strlen(heddle_last_error());
    assert_in_range(length, 500, sizeof text - 2);
    heddle_fail_within(HEDDLE_IO, "%s", text);
    assert_int_equal(strlen(heddle_last_error()), length);
}

static void a_message_stays_one_line_whatever_names_are_in_it(void **state)
{
    (void)state;
    heddle_fail(HEDDLE_NOT_FOUND, "%s: no such file", "two\nlines\033[31m\x7f, µ");
    assert_string_equal(heddle_last_error(), "two?lines?[31m?, µ: no such file");
    heddle_fail_within(HEDDLE_NOT_FOUND, "%s", "more\r\n");
    assert_string_equal(heddle_last_error(), "more??: two?lines?[31m?, µ: no such file");
}

static void *fail_elsewhere(void *context)
{
    (void)context;
    heddle_fail(HEDDLE_IO, "another thread's");
    return NULL;
}

static void each_thread_has_its_own_message(void **state)
{
    (void)state;
    heddle_fail(HEDDLE_IO, "mine");
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, NULL), 0);
    pthread_join(thread, NULL);
    assert_string_equal(heddle_last_error(), "mine");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_its_own_name),
        cmocka_unit_test(fail_formats_the_message_and_returns_the_status),
        cmocka_unit_test(fail_within_puts_context_in_front),
        cmocka_unit_test(a_long_message_is_cut_and_terminated),
        cmocka_unit_test(a_message_stays_one_line_whatever_names_are_in_it),
        cmocka_unit_test(each_thread_has_its_own_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
