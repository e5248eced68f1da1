// The table of kinds, and the manual's.

#include "sample.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "check/kinds.h"

static void test_every_kind_has_its_words(void **state)
{
    (void)state;
    for (int kind = 0; kind < HEDDLE_CHECK_OTHER; kind++) {
        const heddle_check_kind_info *info = &heddle_check_kinds[kind];
        assert_int_equal(heddle_check_kind_find(info->name), kind);
        assert_true(info->title[0] && info->cause[0] && info->cure[0]);
        assert_true(!info->meaning == !info->tier);
    }
    assert_int_equal(heddle_check_kind_find("no such kind"), HEDDLE_CHECK_OTHER);
}

static void test_the_manual_has_the_table_of_kinds(void **state)
{
    (void)state;
    char *manual = NULL, row[2048];
    size_t size = 0;
    assert_int_equal(heddle_file_read(HEDDLE_SOURCE_DIR "/docs/simulator.md", 1 << 20, &manual, &size), HEDDLE_OK);
    const char *at = manual;
    for (int kind = 0; kind < HEDDLE_CHECK_KINDS; kind++) {
        const heddle_check_kind_info *info = &heddle_check_kinds[kind];
        if (!info->meaning)
            continue;
        snprintf(row, sizeof row, "| `%s` | %s | %s | %s | %s |\n", info->name, info->meaning, info->tier, info->cause,
                 info->cure);
        const char *found = strstr(at, row); // in this order
        if (!found)
            fail_msg("not in docs/simulator.md, or not in its place: %s", row);
        at = found;
    }
    free(manual);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_has_its_words),
        cmocka_unit_test(test_the_manual_has_the_table_of_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
