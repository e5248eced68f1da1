// What a profile comes to: rows, phases, gaps, the typical step, the picture of it.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "base/file.h"
#include "made_up.h"

static const heddle_profile_limits limits = {.bytes_per_second = 2e9, .flops = 2e10};

static void the_first_and_last_step_are_left_out(void **state)
{
    (void)state;
    heddle_profile_data data;
    heddle_profile_report report;
    made_up_spans(&data);
    assert_int_equal(data.groups, 4);
    assert_int_equal(heddle_profile_summarise(&data, &limits, &report), HEDDLE_OK);
    assert_int_equal(report.steps, 2);
    assert_true(fabs(report.seconds - 2000e-9) < 1e-15);
    assert_true(fabs(report.phases[HEDDLE_PHASE_FORWARD] - 600e-9) < 1e-15);
    assert_true(fabs(report.phases[HEDDLE_PHASE_BACKWARD] - 800e-9) < 1e-15);
    assert_true(fabs(report.phases[HEDDLE_PHASE_UPDATE] - 200e-9) < 1e-15);
    assert_true(fabs(report.phases[HEDDLE_PHASE_LOAD] - 80e-9) < 1e-15);
    assert_true(fabs(report.gaps - 320e-9) < 1e-15); // what is left, the time before the third step's load included
    heddle_profile_report_free(&report);
    made_up_free(&data);
}

static void rows_stand_in_the_order_of_a_step(void **state)
{
    (void)state;
    heddle_profile_data data;
    heddle_profile_report report;
    made_up_spans(&data);
    assert_int_equal(heddle_profile_summarise(&data, &limits, &report), HEDDLE_OK);
    static const char *const ops[] = {"load", "conv2d_forward", "conv2d_backward", "sgd_update"};
    assert_int_equal(report.row_count, 4);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(report.rows[i].call->op, ops[i]);
        assert_int_equal(report.rows[i].calls, 2);
    }
    // 3,000 operations in 300 ns are 10 GFLOP/s, half of the peak; 300 bytes are 1 GB/s, half of the memory's.
    assert_true(fabs(report.rows[1].flops - 1e10) < 1);
    assert_true(fabs(report.rows[1].bytes - 1e9) < 1);
    assert_true(fabs(report.rows[1].roofline - 0.5) < 1e-9);
    assert_string_equal(report.rows[2].bound, "f32 peak"); // 400 ns of 400
    assert_true(fabs(report.rows[2].roofline - 1) < 1e-9);
    assert_string_equal(report.rows[3].bound, "memory");
    assert_true(isnan(report.rows[0].roofline));
    assert_true(fabs(report.rows[2].gap - 100e-9) < 1e-15);
    heddle_profile_report_free(&report);
    made_up_free(&data);
}

static void pauses_between_steps_do_not_count(void **state)
{
    (void)state;
    heddle_profile_data data;
    heddle_profile_report report;
    made_up_spans(&data);
    data.calls[MADE_UP_LOAD].phase = HEDDLE_PHASE_PAUSE; // 40 ns of each step
    assert_int_equal(heddle_profile_summarise(&data, &limits, &report), HEDDLE_OK);
    assert_true(fabs(report.pauses - 80e-9) < 1e-15);
    assert_true(fabs(report.seconds - 1920e-9) < 1e-15);
    assert_int_equal(report.row_count, 3);
    heddle_profile_report_free(&report);
    made_up_free(&data);
}

static void without_limits_there_is_no_roofline(void **state)
{
    (void)state;
    heddle_profile_data data;
    heddle_profile_report report;
    made_up_spans(&data);
    assert_int_equal(heddle_profile_summarise(&data, &(heddle_profile_limits){0}, &report), HEDDLE_OK);
    for (int i = 0; i < report.row_count; i++)
        assert_true(isnan(report.rows[i].roofline));
    cJSON *json = heddle_profile_json(&data, &report);
    const cJSON *row = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(json, "rows"), 1);
    assert_false(cJSON_HasObjectItem(row, "roofline"));
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, "layer")), "conv1");
    cJSON_Delete(json);
    heddle_profile_report_free(&report);
    made_up_free(&data);
}

static void a_profile_of_nothing_has_no_rows(void **state)
{
    (void)state;
    heddle_profile_data data = {.device = HEDDLE_CPU};
    heddle_profile_report report;
    assert_int_equal(heddle_profile_summarise(&data, &limits, &report), HEDDLE_OK);
    assert_int_equal(report.steps, 0);
    assert_int_equal(report.row_count, 0);
    assert_int_equal(heddle_profile_write_svg(&data, "nothing", "never.svg"), HEDDLE_INVALID);
    assert_int_not_equal(access("never.svg", F_OK), 0);
    heddle_profile_report_free(&report);
}

static void the_typical_step_begins_with_its_load(void **state)
{
    (void)state;
    heddle_profile_data data;
    int64_t begin, end;
    int steps;
    made_up_spans(&data);
    assert_true(heddle_profile_typical(&data, &begin, &end, &steps));
    assert_int_equal(end - begin, 1000);
    assert_true(begin == 9955 || begin == 10955);
    assert_int_equal(steps, 1);
    made_up_free(&data);
}

static int count_of(const char *text, const char *what)
{
    int count = 0;
    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what))
        count++;
    return count;
}

static void the_picture_shows_one_step(void **state)
{
    (void)state;
    heddle_profile_data data;
    char *text;
    size_t size;
    made_up_spans(&data);
    assert_int_equal(heddle_profile_write_svg(&data, "a <step> & more", "one_step.svg"), HEDDLE_OK);
    assert_int_equal(heddle_file_read("one_step.svg", 1 << 20, &text, &size), HEDDLE_OK);
    assert_int_equal(count_of(text, "<title>"), 4);
    assert_int_equal(count_of(text, "class=\"lane\""), 2);
    assert_non_null(strstr(text, "a &lt;step&gt; &amp; more"));
    assert_non_null(strstr(text, "conv1 to &lt;pool1&gt;"));
    assert_non_null(strstr(text, "prefers-color-scheme: dark"));
    assert_non_null(strstr(text, "one step, 1.00 µs"));
    free(text);
    unlink("one_step.svg");
    made_up_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_and_last_step_are_left_out), cmocka_unit_test(rows_stand_in_the_order_of_a_step),
        cmocka_unit_test(pauses_between_steps_do_not_count),    cmocka_unit_test(without_limits_there_is_no_roofline),
        cmocka_unit_test(a_profile_of_nothing_has_no_rows),     cmocka_unit_test(the_typical_step_begins_with_its_load),
        cmocka_unit_test(the_picture_shows_one_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
