// The timeline of a GPU: what is read from the spans a program left, and what is made of them.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <cjson/cJSON.h>

#include "base/text.h"
#include "bench/timeline.h"

static heddle_status read_text(const char *text, heddle_timeline *timeline)
{
    char path[] = "/tmp/heddle-test-spans-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
    heddle_status status = heddle_timeline_read(path, timeline);
    unlink(path);
    return status;
}

static void assert_near(double value, double expected)
{
    if (fabs(value - expected) > 1e-12)
        fail_msg("%.15g is not %.15g", value, expected);
}

// Two kernels that overlap and one apart; a copy in half under them, a copy out that lies in the gap.
static const char example[] = "I 1500 2500 13 1000\n"
                              "K 1000 1800 7 0 _Z6kernelPf\n"
                              "K 1600 2000 8 0 _ZN12_GLOBAL__N_15otherIfEEvPT_\n"
                              "O 2100 2900 13 400\n"
                              "K 3000 3500 7 0 _Z6kernelPf\n";

static void spans_are_summed_up(void **state)
{
    (void)state;
    heddle_timeline timeline;
    assert_int_equal(read_text(example, &timeline), HEDDLE_OK);
    assert_int_equal(timeline.count, 5);
    assert_int_equal(timeline.streams, 3);
    assert_near(timeline.seconds, 2500e-9);
    assert_near(timeline.kernel_seconds, 1500e-9);
    assert_int_equal(timeline.row_count, 4);
    assert_string_equal(timeline.rows[0].name, "kernel"); // the longest in sum, then the other, then copies
    assert_int_equal(timeline.rows[0].count, 2);
    assert_near(timeline.rows[0].seconds, 1300e-9);
    assert_near(timeline.rows[0].longest, 800e-9);
    assert_string_equal(timeline.rows[1].name, "other");
    assert_string_equal(timeline.rows[2].name, "copy in");
    assert_near(timeline.rows[2].bytes, 1000);
    assert_near(timeline.rows[2].under_kernels, 500e-9);
    assert_string_equal(timeline.rows[3].name, "copy out");
    assert_near(timeline.rows[3].under_kernels, 0);
    heddle_timeline_free(&timeline);
}

static void a_copy_over_several_kernels_counts_each_once(void **state)
{
    (void)state;
    heddle_timeline timeline;
    assert_int_equal(read_text("I 0 100 1 8\nK 10 20 2 0 a\nK 15 30 3 0 a\nK 50 120 2 0 a\nI 60 70 4 8\n", &timeline),
                     HEDDLE_OK);
    assert_int_equal(timeline.row_count, 2);
    assert_near(timeline.rows[1].under_kernels, (20 + 50 + 10) * 1e-9);
    heddle_timeline_free(&timeline);
}

static void it_is_drawn_by_what_takes_most_of_a_place(void **state)
{
    (void)state;
    heddle_timeline timeline;
    char line[6];
    assert_int_equal(read_text(example, &timeline), HEDDLE_OK);
    heddle_timeline_draw(&timeline, 7, 0, 2500e-9, 5, line);
    assert_string_equal(line, "##  #");
    heddle_timeline_draw(&timeline, 13, 0, 2500e-9, 5, line);
    assert_string_equal(line, " >>< ");
    heddle_timeline_free(&timeline);
}

static void names_lose_their_types(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"_Z6kernelPf", "kernel"},        {"_ZL5statePKi", "state"},    {"_ZN3abc3defIfLi4EEEvPT_", "def"},
        {"plain_c_name", "plain_c_name"}, {"_Z999short", "_Z999short"}, {"_ZN", "_ZN"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char name[64];
        heddle_kernel_name(pairs[i][0], name, sizeof name);
        assert_string_equal(name, pairs[i][1]);
    }
}

static void lost_spans_are_told(void **state)
{
    (void)state;
    heddle_timeline timeline;
    assert_int_equal(read_text("K 1 2 3 0 a\nX 12\n", &timeline), HEDDLE_OK);
    assert_int_equal(timeline.dropped, 12);
    heddle_timeline_free(&timeline);
    assert_int_equal(read_text("", &timeline), HEDDLE_OK);
    assert_int_equal(timeline.count, 0);
    heddle_timeline_free(&timeline);
}

static void nonsense_is_named_by_its_line(void **state)
{
    (void)state;
    static const char *const wrong[] = {"K 1 2 3 0 a\nwhat\n",
                                        "K 1 2 3 0 a\nK 5 4 3 0 a\n",
                                        "K 1 2 3 0 a\nK 1 2 3 0\n",
                                        "K 1 2 3 0 a\nQ 1 2 3 4\n",
                                        "K 1 2 3 0 a\nK 1 2 99999999999 0 a\n",
                                        "K 1 2 3 0 a\nK 1 99999999999999999999999 3 0 a\n",
                                        "K 1 2 3 0 a\nX -1\n",
                                        "K 1 2 3 0 a\nI 1 2 3 4 a\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        heddle_timeline timeline;
        assert_int_equal(read_text(wrong[i], &timeline), HEDDLE_CORRUPT);
        assert_non_null(strstr(heddle_last_error(), ":2: not a span"));
    }
}

static void the_trace_has_an_event_a_span(void **state)
{
    (void)state;
    heddle_timeline timeline;
    assert_int_equal(read_text(example, &timeline), HEDDLE_OK);
    cJSON *json = heddle_timeline_trace(&timeline), *events = cJSON_GetObjectItem(json, "traceEvents");
    assert_int_equal(cJSON_GetArraySize(events), 5);
    const cJSON *copy = cJSON_GetArrayItem(events, 1);
    assert_string_equal(cJSON_GetObjectItem(copy, "name")->valuestring, "copy in");
    assert_near(cJSON_GetObjectItem(copy, "ts")->valuedouble, 0.5);
    assert_near(cJSON_GetObjectItem(copy, "dur")->valuedouble, 1);
    cJSON_Delete(json);
    heddle_timeline_free(&timeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_are_summed_up),
        cmocka_unit_test(a_copy_over_several_kernels_counts_each_once),
        cmocka_unit_test(it_is_drawn_by_what_takes_most_of_a_place),
        cmocka_unit_test(names_lose_their_types),
        cmocka_unit_test(lost_spans_are_told),
        cmocka_unit_test(nonsense_is_named_by_its_line),
        cmocka_unit_test(the_trace_has_an_event_a_span),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
