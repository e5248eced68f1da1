// Reading reports: every field arrives, what is missing is neutral, what is damaged is refused with a place.

#include "folder.h"
#include "sample.h"

#include <stdlib.h>
#include <string.h>

#include "check/report.h"

static void test_a_finding_arrives_whole(void **state)
{
    (void)state;
    heddle_check_report *report = sample_parse(folder, sample_report);
    assert_int_equal(report->finding_count, 3);
    const heddle_check_finding *race = &report->findings[1];
    assert_int_equal(race->kind, HEDDLE_CHECK_RACE);
    assert_int_equal(race->tier, HEDDLE_CHECK_ERROR);
    assert_int_equal(race->count, 29696);
    assert_string_equal(race->kernel, "mm");
    assert_string_equal(race->note, "no barrier between");
    assert_int_equal(race->place_count, 2);
    assert_string_equal(race->places[1].role, "read");
    assert_int_equal(race->places[1].frames, 1);
    assert_int_equal(race->places[1].frame[0].line, 5);
    assert_true(race->places[1].has_thread);
    assert_int_equal(race->places[1].thread[0], 254);
    assert_string_equal(race->memory->space, "shared");
    assert_int_equal(race->memory->bytes, 1024);
    assert_int_equal(race->value_count, 1);
    assert_int_equal(race->values[0], 7);
    assert_null(report->findings[0].kernel);
    assert_false(report->findings[0].places[0].has_thread);
    assert_string_equal(report->findings[2].memory->allocated.function, "cudaMalloc");
    heddle_check_report_free(report);
}

static void test_counters_arrive_whole(void **state)
{
    (void)state;
    heddle_check_report *report = sample_parse(folder, sample_report);
    assert_int_equal(report->kernel_count, 1);
    assert_int_equal(report->kernels[0].block[0], 256);
    assert_int_equal(report->kernels[0].line_count, 3);
    const heddle_check_line *line = &report->kernels[0].lines[1];
    assert_string_equal(line->access, "store");
    assert_int_equal((int)line->units, 256);
    assert_int_equal(line->worst->mask, UINT32_MAX);
    assert_int_equal(line->worst->offsets[31], 3968);
    assert_null(report->kernels[0].lines[0].worst);
    assert_int_equal(report->copy_count, 2);
    assert_string_equal(report->copies[1].hash, "22");
    assert_true(report->copies[1].sums[0].magnitude < 0);
    assert_int_equal((int)report->accesses, 1200000);
    heddle_check_report_free(report);
}

static void test_missing_fields_are_neutral(void **state)
{
    (void)state;
    heddle_check_report *report = sample_parse(folder, "{\"findings\": [{\"kind\": \"not yet known\"}, 5]}");
    assert_int_equal(report->finding_count, 2);
    assert_int_equal(report->findings[0].kind, HEDDLE_CHECK_OTHER);
    assert_int_equal(report->findings[0].count, 1);
    assert_string_equal(report->findings[0].message, "");
    assert_null(report->findings[0].memory);
    assert_int_equal(report->findings[1].place_count, 0);
    assert_int_equal(report->kernel_count, 0);
    heddle_check_report_free(report);
}

static void test_control_characters_do_not_reach_the_terminal(void **state)
{
    (void)state;
    heddle_check_report *report = sample_parse(folder, "{\"findings\": [{\"message\": \"a\\u001b[31mb\\nc\"}]}");
    assert_string_equal(report->findings[0].message, "a?[31mb?c");
    heddle_check_report_free(report);
}

static void test_what_is_no_report_is_refused(void **state)
{
    (void)state;
    heddle_check_report *report = NULL;
    assert_fails(heddle_check_report_parse("r.json", "{\"findings\": [", 14, &report), HEDDLE_CORRUPT, "r.json");
    assert_null(report);
    assert_fails(heddle_check_report_parse("r.json", "[]", 2, &report), HEDDLE_CORRUPT, "not a report");
    assert_fails(heddle_check_report_parse("r.json", "", 0, &report), HEDDLE_CORRUPT, "empty");
    assert_fails(heddle_check_report_read("/nosuch/r.json", &report), HEDDLE_NOT_FOUND, "/nosuch/r.json");
}

static void test_a_report_with_more_than_the_simulator_keeps_is_refused(void **state)
{
    enum { MOST_FINDINGS = 10000, MOST_VALUES = 10000000 };
    (void)state;
    static const char begin[] = "{\"findings\": [{}";
    heddle_check_report *report = NULL;
    char *many = malloc(sizeof begin + 3 * (size_t)MOST_FINDINGS + 2 * (size_t)MOST_VALUES);
    assert_non_null(many);
    char *end = many + sprintf(many, "%s", begin);
    for (int i = 1; i < MOST_FINDINGS; i++)
        end += sprintf(end, ",{}");
    memcpy(end, "]}", 3);
    assert_ok(heddle_check_report_parse("r.json", many, strlen(many), &report));
    assert_int_equal(report->finding_count, MOST_FINDINGS);
    heddle_check_report_free(report);
    memcpy(end, ",{}]}", 6);
    assert_fails(heddle_check_report_parse("r.json", many, strlen(many), &report), HEDDLE_CORRUPT,
                 "r.json holds more than the simulator records");
    assert_null(report);
    end = many + sprintf(many, "{\"findings\": [], \"more\": [1"); // a value takes some hundred bytes of memory
    for (int i = 0; i < MOST_VALUES; i++, end += 2)
        memcpy(end, ",1", 2);
    memcpy(end, "]}", 3);
    assert_fails(heddle_check_report_parse("r.json", many, strlen(many), &report), HEDDLE_CORRUPT,
                 "r.json holds more than the simulator records");
    free(many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_finding_arrives_whole),
        cmocka_unit_test(test_counters_arrive_whole),
        cmocka_unit_test(test_missing_fields_are_neutral),
        cmocka_unit_test(test_control_characters_do_not_reach_the_terminal),
        cmocka_unit_test(test_what_is_no_report_is_refused),
        cmocka_unit_test(test_a_report_with_more_than_the_simulator_keeps_is_refused),
    };
    return cmocka_run_group_tests(tests, create_folder, remove_folder);
}
