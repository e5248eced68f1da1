// Files of suppressions: what is wrong with one is told, and which of its rules have no use.

#include "folder.h"
#include "sample.h"

#include "check/finish.h"

#include <string.h>

static int notes_of_unused_rules(heddle_check_result *result, const char *expected)
{
    static const char rules[] = "race tile.cu\nleak other.cu # not there\nrace\nrace kernel:other\n";
    heddle_check_suppressions *suppressions = NULL;
    scratch_write(folder, "rules", rules, strlen(rules));
    char path[1024];
    snprintf(path, sizeof path, "%s", scratch_path(folder, "rules"));
    assert_ok(heddle_check_suppressions_read(path, &suppressions));
    heddle_check_finish(result, suppressions, false);
    int before = result->note_count;
    assert_ok(heddle_check_suppressions_note_unused(suppressions, result));
    int told = result->note_count - before;
    if (told > 0)
        assert_contains(result->notes[before], expected);
    heddle_check_result_free(result);
    heddle_check_suppressions_free(suppressions);
    return told;
}

static void test_rules_that_match_nothing_are_told(void **state)
{
    (void)state;
    static const char expected[] = "rules: each rule of lines 2, 4 suppresses nothing here";
    assert_int_equal(notes_of_unused_rules(sample_unfinished(folder, sample_report), expected), 1);
}

static void test_rules_are_not_called_unused_where_the_program_did_not_come_to_its_end(void **state)
{
    (void)state;
    static const heddle_check_kind ends[] = {HEDDLE_CHECK_DIED, HEDDLE_CHECK_TIMEOUT, HEDDLE_CHECK_MEMORY};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        heddle_check_result *result = sample_unfinished(folder, sample_report);
        assert_ok(heddle_check_result_add(result, ends[i], HEDDLE_CHECK_ERROR, "it was ended"));
        assert_int_equal(notes_of_unused_rules(result, ""), 0);
    }
    heddle_check_result *stopped = sample_unfinished(folder, "{\"findings\": [], \"unchecked\": \"kernel k stopped\"}");
    heddle_check_result *none = NULL;
    assert_int_equal(notes_of_unused_rules(stopped, ""), 0);
    assert_ok(heddle_check_result_create(&none));
    assert_int_equal(notes_of_unused_rules(none, ""), 0);
}

static void test_a_wrong_suppression_is_told_with_its_line(void **state)
{
    (void)state;
    heddle_check_suppressions *suppressions = NULL;
    scratch_write(folder, "rules", "race\nraces *\n", 13);
    assert_fails(heddle_check_suppressions_read(scratch_path(folder, "rules"), &suppressions), HEDDLE_CORRUPT,
                 "rules:2: there is no kind of finding called 'races'; did you mean race?");
    scratch_write(folder, "rules", "race a b\n", 9);
    assert_fails(heddle_check_suppressions_read(scratch_path(folder, "rules"), &suppressions), HEDDLE_CORRUPT,
                 "rules:1:");
    assert_fails(heddle_check_suppressions_read("/nosuch/rules", &suppressions), HEDDLE_NOT_FOUND, "/nosuch/rules");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules_that_match_nothing_are_told),
        cmocka_unit_test(test_rules_are_not_called_unused_where_the_program_did_not_come_to_its_end),
        cmocka_unit_test(test_a_wrong_suppression_is_told_with_its_line),
    };
    return cmocka_run_group_tests(tests, create_folder, remove_folder);
}
