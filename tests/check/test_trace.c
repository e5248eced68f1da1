// The trace that a run left: what is taken over from it, and what is refused. The program could have written it.

#include "folder.h"
#include "sample.h"

#include <stdlib.h>
#include <string.h>

#include "check/sources.h"
#include "check/trace.h"

enum { PATH = 256, MOST_EVENTS = 58192, MOST_BUFFERS = 4096, MOST_VALUES = 10000000 }; // of one trace

static const char *trace_path(void)
{
    static char path[PATH];
    snprintf(path, sizeof path, "%s/trace.json", folder);
    return path;
}

// A trace of one block with that many events and buffers; `extra` follows them. The last buffer is used by the last
// event only.
static void write_trace(int events, int buffers, const char *extra)
{
    FILE *file = fopen(trace_path(), "w");
    assert_non_null(file);
    fprintf(file,
            "{\"places\": [{}, {\"file\": \"%s/dynamic.cu\", \"line\": 4, \"function\": \"mm\"}], \"launches\": [{"
            "\"kernel\": \"mm\", \"block\": [1, 1, 1], \"blocks\": [{\"block\": [0, 0, 0], \"events\": [{}",
            folder);
    for (int i = 2; i < events; i++)
        fputs(",{}", file);
    fprintf(file, ",{\"buffer\": %d, \"place\": 1}]}]}], \"buffers\": [{}", buffers - 1);
    for (int i = 1; i < buffers; i++)
        fputs(",{\"name\":\"\",\"space\":\"shared\",\"dynamic\":true}", file);
    fprintf(file, "]%s}", extra);
    assert_int_equal(fclose(file), 0);
}

static const volatile int go_on = 0;

static heddle_check_result *read_after(const char *report)
{
    heddle_check_result *result = NULL;
    assert_ok(heddle_check_result_create(&result));
    if (report)
        assert_ok(heddle_check_result_add_run(result, sample_parse(folder, report)));
    assert_ok(heddle_check_trace_read(result, trace_path(), &go_on));
    return result;
}

static void assert_refused(const char *note)
{
    heddle_check_result *result = read_after("{\"findings\": []}");
    assert_null(result->trace);
    assert_int_equal(result->note_count, 1);
    assert_contains(result->notes[0], note);
    heddle_check_result_free(result);
}

static void test_a_trace_at_the_limits_is_taken_over(void **state)
{
    (void)state;
    char source[PATH];
    snprintf(source, sizeof source, "%s/dynamic.cu", folder);
    FILE *file = fopen(source, "w");
    assert_non_null(file);
    fputs("__global__ void mm(const float *a)\n{\n    extern __shared__ float As[];\n    As[0] = a[0];\n}\n", file);
    assert_int_equal(fclose(file), 0);
    write_trace(MOST_EVENTS, MOST_BUFFERS, "");
    heddle_check_result *result = read_after("{\"findings\": []}");
    assert_int_equal(result->note_count, 0);
    const cJSON *buffers = cJSON_GetObjectItem(result->trace, "buffers");
    assert_int_equal(cJSON_GetArraySize(buffers), MOST_BUFFERS);
    // Named by the line of its only user; buffers that no event uses have no name.
    assert_string_equal(cJSON_GetObjectItem(buffers->child->prev, "name")->valuestring, "As");
    assert_string_equal(cJSON_GetObjectItem(buffers->child->next, "name")->valuestring, "");
    heddle_check_result_free(result);
}

static void test_a_trace_beyond_the_limits_is_left_out(void **state)
{
    (void)state;
    static const char said[] = "the trace was left out: the trace holds more than the simulator records";
    write_trace(MOST_EVENTS + 1, 1, "");
    assert_refused(said);
    write_trace(2, MOST_BUFFERS + 1, "");
    assert_refused(said);
    char *many = malloc(2 * (size_t)MOST_VALUES + 32);
    assert_non_null(many);
    char *end = many + sprintf(many, ", \"more\": [1");
    for (int i = 0; i < MOST_VALUES; i++, end += 2)
        memcpy(end, ",1", 2);
    memcpy(end, "]", 2);
    write_trace(2, 1, many);
    free(many);
    assert_refused(said);
    write_trace(2, 1, ",");
    assert_refused("the trace was left out: the trace: line 1");
}

static void test_a_trace_without_a_report_is_left_out(void **state)
{
    (void)state;
    write_trace(2, 1, "");
    heddle_check_result *result = read_after(NULL);
    assert_null(result->trace);
    assert_int_equal(result->note_count, 1);
    assert_contains(result->notes[0], "there is no trace");
    heddle_check_result_free(result);
}

static void test_an_interrupt_ends_the_reading(void **state)
{
    (void)state;
    static const volatile int stop = 1;
    heddle_check_result *result = NULL;
    assert_ok(heddle_check_result_create(&result));
    assert_ok(heddle_check_result_add_run(result, sample_parse(folder, "{\"findings\": []}")));
    write_trace(2, 1, "");
    assert_fails(heddle_check_trace_read(result, trace_path(), &stop), HEDDLE_INTERRUPTED, "interrupted");
    assert_int_equal(result->note_count, 0); // nothing is wrong with the trace
    heddle_check_result_free(result);
}

// The program wrote the trace, and could name every file there is.
static void test_only_so_many_files_are_read(void **state)
{
    enum { MOST_FILES = 1000 };
    (void)state;
    char path[2 * PATH];
    heddle_check_sources *sources = heddle_check_sources_create();
    assert_non_null(sources);
    write_trace(2, 1, "");
    assert_int_equal(heddle_check_sources_get(sources, trace_path())->count, 1);
    for (int i = 1; i < MOST_FILES; i++) {
        snprintf(path, sizeof path, "%s/none-%d.cu", folder, i);
        assert_int_equal(heddle_check_sources_get(sources, path)->count, 0);
    }
    snprintf(path, sizeof path, "%s/./trace.json", folder); // another name
    assert_int_equal(heddle_check_sources_get(sources, path)->count, 0);
    assert_int_equal(heddle_check_sources_get(sources, trace_path())->count, 1);
    heddle_check_sources_free(sources);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_trace_at_the_limits_is_taken_over),
        cmocka_unit_test(test_a_trace_beyond_the_limits_is_left_out),
        cmocka_unit_test(test_a_trace_without_a_report_is_left_out),
        cmocka_unit_test(test_an_interrupt_ends_the_reading),
        cmocka_unit_test(test_only_so_many_files_are_read),
    };
    return cmocka_run_group_tests(tests, create_folder, remove_folder);
}
