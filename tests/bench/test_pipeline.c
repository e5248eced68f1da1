// The pipeline on the device that HEDDLE_TEST_DEVICE names, cpu unless set: every way to run it gives the right
// batches, events keep the stages in order, a batch that is wrong is found, and what is shown has what it should.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <cjson/cJSON.h>

#include "bench/pipeline_parts.h"
#include "under_test.h"

#define assert_ok(call) assert_string_equal((call) == HEDDLE_OK ? "ok" : heddle_last_error(), "ok")

enum { BATCHES = 7, BYTES = 4 * 1023, WORK = 5 };

static heddle_device *device;
static heddle_pipeline *pipeline;

static int open_pipeline(void **state)
{
    (void)state;
    assert_ok(heddle_device_open(device_under_test("cpu"), 1, &device));
    heddle_pipeline_options how = {.batches = BATCHES, .bytes = BYTES, .work = WORK, .rounds = 2};
    assert_ok(heddle_pipeline_open(device, &how, &pipeline));
    return 0;
}

static int close_pipeline(void **state)
{
    (void)state;
    heddle_pipeline_close(pipeline);
    heddle_device_close(device);
    return 0;
}

static void every_way_gives_the_right_batches(void **state)
{
    (void)state;
    assert_ok(heddle_pipeline_compare(pipeline, 3));
    assert_true(pipeline->count >= 10);
    assert_int_equal(pipeline->runs[pipeline->shown].way.streams, 3);
    for (int i = 0; i < pipeline->count; i++) {
        const heddle_pipeline_run *run = &pipeline->runs[i];
        assert_int_equal(run->alone.work, run->way.little_work ? 1 : WORK);
        if (pipeline->timed)
            assert_true(run->low > 0 && run->low <= run->milliseconds && run->milliseconds <= run->high);
        else
            assert_true(run->milliseconds == 0 && run->alone.limit == 0);
    }
}

static void more_streams_than_batches_will_do(void **state)
{
    (void)state;
    assert_ok(heddle_pipeline_measure(pipeline, "many", &(heddle_pipeline_way){.streams = BATCHES + 2}));
    assert_ok(heddle_pipeline_measure(
        pipeline, "many", &(heddle_pipeline_way){.streams = BATCHES + 2, .callbacks = true, .pageable = true}));
    assert_ok(heddle_pipeline_measure(
        pipeline, "one", &(heddle_pipeline_way){.streams = 1, .callbacks = true, .ahead = true, .ordered = true}));
}

static void stages_and_batches_keep_their_order(void **state)
{
    (void)state;
    if (heddle_device_get_kind(device) == HEDDLE_SIM) {
        assert_false(pipeline->timed); // no time, so no timeline
        return;
    }
    const double rounding = 1e-4; // milliseconds, of differences
    for (int streams = 1; streams <= 4; streams++) {
        const bool ordered = streams % 2 == 0 || pipeline->info.kind == HEDDLE_CPU;
        assert_ok(
            heddle_pipeline_measure(pipeline, "order", &(heddle_pipeline_way){.streams = streams, .ordered = ordered}));
        const heddle_pipeline_batch *timeline = pipeline->runs[pipeline->count - 1].timeline;
        for (int b = 0; b < BATCHES; b++) {
            assert_int_equal(timeline[b].stream, b % streams);
            for (int stage = 0; stage < HEDDLE_PIPELINE_STAGES; stage++) {
                const heddle_pipeline_span *span = &timeline[b].stages[stage];
                assert_true(span->begin <= span->end);
                assert_true(stage == 0 || timeline[b].stages[stage - 1].end <= span->begin + rounding);
                assert_true(b == 0 || !ordered || timeline[b - 1].stages[stage].end <= span->begin + rounding);
            }
        }
    }
}

static void assert_wrong(int batch, const char *text)
{
    assert_int_equal(heddle_pipeline_check(pipeline, &pipeline->parts->pinned, WORK), HEDDLE_DEVICE);
    assert_non_null(strstr(heddle_last_error(), text));
    char name[32];
    snprintf(name, sizeof name, "batch %d ", batch);
    assert_non_null(strstr(heddle_last_error(), name));
}

static void a_wrong_batch_is_found(void **state)
{
    (void)state;
    const size_t elements = BYTES / sizeof(float);
    float *output = pipeline->parts->pinned.output, saved;
    assert_wrong(0, "nan"); // nothing has run yet
    assert_ok(heddle_pipeline_measure(pipeline, "right", &(heddle_pipeline_way){.streams = 2}));
    assert_ok(heddle_pipeline_check(pipeline, &pipeline->parts->pinned, WORK));

    saved = output[3 * elements + 17];
    output[3 * elements + 17] += 1e-4f;
    assert_wrong(3, "element 17 is");
    output[3 * elements + 17] = saved;
    assert_ok(heddle_pipeline_check(pipeline, &pipeline->parts->pinned, WORK));
    // Another batch in its place, and one that has not been through compute.
    memcpy(output + 4 * elements, output + 5 * elements, BYTES);
    assert_wrong(4, "element 0 is");
    memcpy(output + 4 * elements, pipeline->parts->pinned.input + 4 * elements, BYTES);
    assert_wrong(4, "is");
    assert_int_equal(heddle_pipeline_check(pipeline, &pipeline->parts->pinned, WORK + 1), HEDDLE_DEVICE);
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    const heddle_pipeline_options wrong[] = {
        {.batches = 0, .bytes = 4, .work = 1, .rounds = 1},
        {.batches = HEDDLE_PIPELINE_MOST_BATCHES + 1, .bytes = 4, .work = 1, .rounds = 1},
        {.batches = 1, .bytes = 0, .work = 1, .rounds = 1},
        {.batches = 1, .bytes = 6, .work = 1, .rounds = 1},
        {.batches = 1, .bytes = 4, .work = -1, .rounds = 1},
        {.batches = 1, .bytes = 4, .work = 1, .rounds = 0},
    };
    heddle_pipeline *made = NULL;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(heddle_pipeline_open(device, &wrong[i], &made), HEDDLE_INVALID);
        assert_null(made);
    }
    const int streams[] = {0, HEDDLE_PIPELINE_MOST_STREAMS + 1};
    for (int i = 0; i < 2; i++)
        assert_int_equal(heddle_pipeline_measure(pipeline, "no", &(heddle_pipeline_way){.streams = streams[i]}),
                         HEDDLE_INVALID);
}

static void work_is_found_where_none_is_given(void **state)
{
    (void)state;
    heddle_pipeline *made = NULL;
    assert_ok(
        heddle_pipeline_open(device, &(heddle_pipeline_options){.batches = 3, .bytes = 4096, .rounds = 1}, &made));
    assert_in_range(made->options.work, 1, HEDDLE_PIPELINE_MOST_WORK);
    assert_ok(heddle_pipeline_measure(made, "found", &(heddle_pipeline_way){.streams = 2}));
    heddle_pipeline_close(made);
}

static char *shown(heddle_status (*show)(const heddle_pipeline *, FILE *))
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assert_ok(show(pipeline, file));
    fclose(file);
    return text;
}

static void every_run_is_shown(void **state)
{
    (void)state;
    assert_ok(heddle_pipeline_measure(pipeline, "first & <only>", &(heddle_pipeline_way){.streams = 2}));
    char *text = shown(heddle_pipeline_show_text), *page = shown(heddle_pipeline_show_page);
    assert_non_null(strstr(text, "first & <only>"));
    assert_non_null(strstr(page, "</html>"));
    assert_null(strstr(page, "<only>"));
    assert_int_equal(strstr(page, "first &amp; &lt;only&gt;") != NULL, pipeline->timed);
    assert_int_equal(strstr(text, "stream 1") != NULL, pipeline->timed);
    free(text);
    free(page);
}

static void the_documents_have_every_batch(void **state)
{
    (void)state;
    assert_ok(heddle_pipeline_measure(pipeline, "one", &(heddle_pipeline_way){.streams = 2}));
    cJSON *json = heddle_pipeline_json(pipeline), *trace = heddle_pipeline_trace(pipeline), *event;
    const cJSON *run = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "runs"), 0);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(json, "format")), "heddle pipeline 1");
    assert_true(cJSON_IsTrue(cJSON_GetObjectItem(run, "checked")));
    assert_int_equal(cJSON_IsNumber(cJSON_GetObjectItem(run, "milliseconds")), pipeline->timed);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(run, "timeline")), pipeline->timed ? BATCHES : 0);
    int spans = 0, names = 0;
    cJSON_ArrayForEach(event, cJSON_GetObjectItem(trace, "traceEvents"))
    {
        bool span = strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(event, "ph")), "X") == 0;
        spans += span;
        names += !span;
    }
    assert_int_equal(spans, BATCHES * HEDDLE_PIPELINE_STAGES);
    assert_int_equal(names, 2);
    cJSON_Delete(json);
    cJSON_Delete(trace);
}

#define PIPELINE_TEST(test) cmocka_unit_test_setup_teardown(test, open_pipeline, close_pipeline)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PIPELINE_TEST(every_way_gives_the_right_batches),
        PIPELINE_TEST(more_streams_than_batches_will_do),
        PIPELINE_TEST(stages_and_batches_keep_their_order),
        PIPELINE_TEST(a_wrong_batch_is_found),
        PIPELINE_TEST(what_makes_no_sense_is_refused),
        PIPELINE_TEST(work_is_found_where_none_is_given),
        PIPELINE_TEST(every_run_is_shown),
        PIPELINE_TEST(the_documents_have_every_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
