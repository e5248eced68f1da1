// Which calls of hooks have a look at a range before them, and that what is put there is as the hook expects it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "build/checks.h"

#if defined(__aarch64__)
#define CALL "\tbl\t"
#define JUMP "\tb\t"
#define HOOK "bl sim_"
#else
#define CALL "\tcall\t"
#define JUMP "\tjmp\t"
#define HOOK "call sim_"
#endif

static unsigned count;

// What a line becomes, to be freed; NULL: it is left alone.
static char *checked(const char *line)
{
    sim_text out = {0};
    if (!sim_check_line(line, strlen(line), &count, &out)) {
        assert_int_equal(out.bytes, 0);
        return NULL;
    }
    return out.at;
}

static void a_plain_access_has_a_check(void **state)
{
    (void)state;
    static const char *const names[] = {"read1", "read2", "read4", "read8", "read16", "write1", "write4", "write16"};
    count = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char line[64], hook[64];
        snprintf(line, sizeof line, CALL "__tsan_%s\n", names[i]);
        snprintf(hook, sizeof hook, HOOK "%s", names[i]);
        char *text = checked(line);
        assert_non_null(text);
        assert_non_null(strstr(text, hook));
        assert_null(strstr(text, "__tsan_"));
        assert_int_equal(count, i + 1);
        free(text);
    }
}

static void each_call_has_its_own_range(void **state)
{
    (void)state;
    count = 7;
    char *first = checked(CALL "__tsan_read4\n"), *second = checked(CALL "__tsan_read4@PLT\n");
    assert_non_null(strstr(first, ".Lsim_range_7:"));
    assert_non_null(strstr(second, ".Lsim_range_8:"));
    assert_null(strstr(second, "range_7"));
    free(first);
    free(second);
}

static void all_else_is_left_alone(void **state)
{
    (void)state;
    static const char *const lines[] = {CALL "__tsan_read_write4\n",
                                        CALL "__tsan_volatile_read4\n",
                                        CALL "__tsan_unaligned_read4\n",
                                        CALL "__tsan_read_range\n",
                                        CALL "__tsan_read32\n",
                                        CALL "__tsan_read44\n",
                                        CALL "__tsan_atomic32_load\n",
                                        CALL "__tsan_init\n",
                                        CALL "read4\n",
                                        JUMP "__tsan_read4\n",
                                        "\t.asciz\t\"" CALL "__tsan_read4\"\n",
                                        "\n"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_null(checked(lines[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_access_has_a_check),
        cmocka_unit_test(each_call_has_its_own_range),
        cmocka_unit_test(all_else_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
