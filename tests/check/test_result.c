// Uniting runs: the same finding is one, a value that turns out to be the same makes a warning, order and suppressions.

#include "folder.h"
#include "sample.h"

#include <string.h>

#include "check/copies.h"
#include "check/describe.h"
#include "check/finish.h"
#include "check/questions.h"

#define RACE(tier, first, second, count, more)                                                                         \
    "{\"kind\": \"race\", \"tier\": \"" tier "\", \"count\": " count ", \"kernel\": \"k\", \"places\": [{\"role\": "   \
    "\"write\", \"file\": \"@\", \"line\": " first "}, {\"role\": \"write\", \"file\": \"@\", \"line\": " second       \
    "}]" more "}"
#define REPORT(findings) "{\"findings\": [" findings "], \"copies\": [\"1\", \"2\"]}"

static heddle_check_result *unite(const char *first, const char *second)
{
    heddle_check_result *result = NULL;
    assert_ok(heddle_check_result_create(&result));
    result->built = true;
    assert_ok(heddle_check_result_add_run(result, sample_parse(folder, first)));
    if (second)
        assert_ok(heddle_check_result_add_run(result, sample_parse(folder, second)));
    return result;
}

static void test_the_same_places_in_either_order_are_one_finding(void **state)
{
    (void)state;
    heddle_check_result *result =
        unite(REPORT(RACE("error", "4", "5", "3", "")), REPORT(RACE("error", "5", "4", "9", "")));
    assert_int_equal(result->finding_count, 1);
    assert_int_equal(result->findings[0]->count, 9);
    assert_int_equal(result->findings[0]->schedules, 3);
    heddle_check_result_free(result);
}

#define RACE_OF(tier, first, first_line, second, second_line, note)                                                    \
    "{\"kind\": \"race\", \"tier\": \"" tier "\", \"count\": 1, \"kernel\": \"k\", \"note\": \"" note                  \
    "\", \"places\": [{\"role\": \"" first "\", \"file\": \"@\", \"line\": " first_line "}, {\"role\": \"" second      \
    "\", \"file\": \"@\", \"line\": " second_line "}]}"

static void test_two_lines_that_race_in_several_ways_are_one_finding(void **state)
{
    (void)state;
    heddle_check_result *result = unite(REPORT(RACE_OF("error", "read", "4", "write", "5", "no barrier")),
                                        REPORT(RACE_OF("error", "read", "5", "write", "4", "no barrier")));
    assert_int_equal(result->finding_count, 1);
    assert_string_equal(result->findings[0]->places[0].role, "read");
    assert_int_equal(result->findings[0]->places[0].frame[0].line, 4);
    assert_string_equal(result->findings[0]->note, "no barrier; also seen as read in line 5 and write in line 4");
    heddle_check_result_free(result);
    result = unite(REPORT(RACE_OF("warning", "write", "4", "write", "4", "the same value")),
                   REPORT(RACE_OF("error", "read", "4", "write", "4", "no barrier")));
    assert_int_equal(result->finding_count, 1);
    assert_int_equal(result->findings[0]->tier, HEDDLE_CHECK_ERROR);
    assert_string_equal(result->findings[0]->places[0].role, "read");
    assert_string_equal(result->findings[0]->note, "no barrier; also seen as write and write");
    heddle_check_result_free(result);
}

#define FAILING_CALL(message)                                                                                          \
    "{\"kind\": \"bad-call\", \"tier\": \"error\", \"count\": 1, \"message\": \"" message                              \
    "\", \"places\": [{\"role\": \"call\", \"file\": \"@\", \"line\": 4}]}"

static void test_calls_of_one_line_are_told_apart_by_their_names(void **state)
{
    (void)state;
    heddle_check_result *result =
        unite(REPORT(FAILING_CALL("cudaFree fails with A: b") "," FAILING_CALL("cudaFreeHost fails with A")),
              REPORT(FAILING_CALL("cudaFree fails with C")));
    assert_int_equal(result->finding_count, 2);
    assert_string_equal(result->findings[0]->message, "cudaFree fails with A: b");
    assert_string_equal(result->findings[1]->message, "cudaFreeHost fails with A");
    heddle_check_result_free(result);
}

static void test_other_places_are_other_findings(void **state)
{
    (void)state;
    heddle_check_result *result =
        unite(REPORT(RACE("error", "4", "5", "3", "")), REPORT(RACE("error", "4", "6", "9", "")));
    assert_int_equal(result->finding_count, 2);
    char text[HEDDLE_CHECK_SENTENCE];
    result->runs[1]->schedule = 1;
    assert_string_equal(heddle_check_schedules_text(result, result->findings[1], text, sizeof text),
                        "in schedule 1 only");
    heddle_check_result_free(result);
}

static void test_a_race_that_stored_the_same_value_becomes_a_warning(void **state)
{
    (void)state;
    const char *unknown = REPORT(RACE("error", "4", "4", "3", ", \"values\": [1, 2]"));
    heddle_check_result *result =
        unite(unknown, REPORT(RACE("warning", "4", "4", "3", ", \"note\": \"the same value\", \"settled\": [2, 1]")));
    assert_int_equal(result->findings[0]->tier, HEDDLE_CHECK_WARNING);
    assert_string_equal(result->findings[0]->note, "the same value");
    heddle_check_result_free(result);

    result = unite(unknown, REPORT(RACE("error", "4", "4", "3", "")));
    assert_int_equal(result->findings[0]->tier, HEDDLE_CHECK_ERROR);
    heddle_check_result_free(result);

    // Another store of the same line has turned up: it is asked about next.
    result = unite(unknown, REPORT(RACE("error", "4", "4", "3", ", \"values\": [7], \"settled\": [1, 2]")));
    assert_int_equal(result->findings[0]->tier, HEDDLE_CHECK_ERROR);
    assert_int_equal(result->findings[0]->value_count, 1);
    assert_int_equal(result->findings[0]->values[0], 7);
    heddle_check_result_free(result);

    result = unite(unknown, unknown);
    assert_int_equal(result->findings[0]->tier, HEDDLE_CHECK_ERROR);
    heddle_check_result_free(result);
}

#define RACE_ON(name, tier, more)                                                                                      \
    RACE(tier, "4", "4", "3", ", \"memory\": {\"space\": \"global\", \"name\": \"" name "\"}" more)

static void test_a_store_is_answered_for_by_no_other_store_of_its_line(void **state)
{
    (void)state;
    heddle_check_result *result = unite(REPORT(RACE("error", "4", "4", "3", ", \"values\": [1, 2]")),
                                        REPORT(RACE("warning", "4", "4", "3", ", \"settled\": [2]")));
    assert_int_equal(result->findings[0]->tier, HEDDLE_CHECK_ERROR);
    assert_int_equal(result->findings[0]->value_count, 1);
    assert_int_equal(result->findings[0]->values[0], 1);
    heddle_check_result_free(result);

    result =
        unite(REPORT(RACE_ON("word", "error", ", \"values\": [1]") "," RACE_ON("flag", "error", ", \"values\": [2]")),
              REPORT(RACE_ON("word", "error", "") "," RACE_ON("flag", "warning", ", \"settled\": [2]")));
    assert_int_equal(result->finding_count, 2);
    assert_string_equal(result->findings[0]->memory->name, "word");
    assert_int_equal(result->findings[0]->tier, HEDDLE_CHECK_ERROR);
    assert_int_equal(result->findings[1]->tier, HEDDLE_CHECK_WARNING);
    heddle_check_result_free(result);
}

static void test_a_race_is_asked_about_in_an_order_in_which_it_was_seen(void **state)
{
    (void)state;
    heddle_check_result *result = unite(REPORT(RACE("error", "4", "4", "3", ", \"values\": [1, 2]")), REPORT(""));
    result->runs[1]->schedule = 1;
    heddle_check_questions asked = {0};
    assert_int_equal(heddle_check_questions_gather(&asked, result), HEDDLE_OK);
    assert_int_equal(asked.count, 2);
    assert_int_equal(heddle_check_questions_write(&asked, 1, scratch_path(folder, "values")), HEDDLE_OK);
    assert_int_equal(heddle_check_questions_schedule(&asked, result), 0); // the other order did not show it
    assert_int_equal(heddle_check_questions_write(&asked, 0, scratch_path(folder, "values")), HEDDLE_OK);
    assert_int_equal(heddle_check_questions_schedule(&asked, result), -1);
    heddle_check_questions_free(&asked);
    heddle_check_result_free(result);
}

static void test_a_warning_that_another_order_shows_as_error_is_one(void **state)
{
    (void)state;
    heddle_check_result *result =
        unite(REPORT(RACE("warning", "4", "4", "3", "")), REPORT(RACE("error", "4", "4", "3", "")));
    assert_int_equal(result->findings[0]->tier, HEDDLE_CHECK_ERROR);
    heddle_check_result_free(result);
#define READ(tier, note)                                                                                               \
    "{\"kind\": \"uninitialised\", \"tier\": \"" tier "\", \"count\": 1, \"kernel\": \"k\", \"note\": \"" note         \
    "\", \"places\": [{\"role\": \"read\", \"file\": \"@\", \"line\": 4}]}"
    const char *const warning = REPORT(READ("warning", "padding")), *const error =
                                                                        REPORT(READ("error", "never written"));
    for (int first_is_error = 0; first_is_error < 2; first_is_error++) {
        result = unite(first_is_error ? error : warning, first_is_error ? warning : error);
        assert_int_equal(result->finding_count, 1);
        assert_int_equal(result->findings[0]->tier, HEDDLE_CHECK_ERROR);
        assert_string_equal(result->findings[0]->note, "never written");
        heddle_check_result_free(result);
    }
}

static void test_findings_are_ranked_and_gathered_by_kernel(void **state)
{
    (void)state;
#define SIMPLE(kind, tier, kernel) "{\"kind\": \"" kind "\", \"tier\": \"" tier "\", \"kernel\": " kernel "}"
    heddle_check_result *result =
        unite(REPORT(SIMPLE("leak", "warning", "null") "," SIMPLE("race", "error", "\"b\"") "," SIMPLE(
                  "uninitialised", "warning", "\"a\"") "," SIMPLE("out-of-bounds", "error", "\"a\"")),
              NULL);
    heddle_check_finish(result, NULL, false);
    const heddle_check_kind expected[] = {HEDDLE_CHECK_OUT_OF_BOUNDS, HEDDLE_CHECK_UNINITIALISED, HEDDLE_CHECK_RACE,
                                          HEDDLE_CHECK_LEAK};
    assert_int_equal(result->finding_count, 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(result->findings[i]->kind, expected[i]);
    assert_int_equal(result->errors, 2);
    assert_int_equal(result->warnings, 2);
    heddle_check_result_free(result);
}

static void test_strict_raises_warnings(void **state)
{
    (void)state;
    heddle_check_result *result = unite(REPORT(RACE("warning", "4", "4", "3", "")), NULL);
    assert_false(heddle_check_failed(result));
    heddle_check_finish(result, NULL, true);
    assert_int_equal(result->errors, 1);
    assert_true(heddle_check_failed(result));
    heddle_check_result_free(result);
}

#define CALL(kind, tier, line)                                                                                         \
    "{\"kind\": \"" kind "\", \"tier\": \"" tier "\", \"count\": 1, \"message\": \"it fails\", "                       \
    "\"places\": [{\"role\": \"call\", \"file\": \"@\", \"line\": " line "}]}"

static void test_a_call_that_fails_is_told_once(void **state)
{
    (void)state;
    heddle_check_result *result =
        unite(REPORT(CALL("bad-call", "error", "4") "," CALL("unchecked-error", "warning",
                                                             "4") "," CALL("unchecked-error", "warning", "6")),
              NULL);
    heddle_check_finish(result, NULL, false);
    assert_int_equal(result->errors, 1);
    assert_int_equal(result->warnings, 1);
    assert_string_equal(result->findings[0]->message, "it fails; the program never checks the error");
    assert_int_equal(result->findings[1]->places[0].frame[0].line, 6); // which nothing else tells of
    heddle_check_result_free(result);
}

#define FAILED(kind, tier, line, message)                                                                              \
    "{\"kind\": \"" kind "\", \"tier\": \"" tier "\", \"count\": 1, \"message\": \"" message                           \
    "\", \"places\": [{\"role\": \"call\", \"file\": \"@\", \"line\": " line "}]}"
#define ASKED "cudaSetDevice fails with cudaErrorInvalidDevice, which the program looks at: there is one"
#define WRONG "cudaMemset fails with cudaErrorInvalidValue: it is null"

static void test_a_failure_that_the_program_answers_for_is_a_note(void **state)
{
    (void)state;
    heddle_check_result *result =
        unite(REPORT(FAILED("bad-call", "warning", "4", ASKED) "," FAILED("bad-call", "error", "5", WRONG)), NULL);
    heddle_check_finish(result, NULL, true);
    assert_int_equal(result->errors, 1); // wrong arguments are wrong on every card
    assert_string_equal(result->findings[0]->message, WRONG);
    assert_int_equal(result->note_count, 1);
    assert_non_null(strstr(result->notes[0], "cudaSetDevice fails with cudaErrorInvalidDevice (there is one)"));
    heddle_check_result_free(result);
}

static void test_a_failure_stays_where_the_program_ends_with_a_status_of_its_own(void **state)
{
    (void)state;
    for (int any = 0; any < 2; any++) {
        heddle_check_result *result = unite(REPORT(FAILED("bad-call", "warning", "4", ASKED)), NULL);
        result->exit_status = 1;
        result->any_status = any;
        heddle_check_finish(result, NULL, false);
        assert_int_equal(result->warnings, !any);
        assert_int_equal(result->note_count, any);
        heddle_check_result_free(result);
    }
}

static void test_leaks_of_a_program_that_gave_up_are_left_out(void **state)
{
    (void)state;
    for (int status = 0; status < 2; status++) {
        heddle_check_result *result = unite(REPORT(CALL("leak", "warning", "4")), NULL);
        result->exit_status = status;
        heddle_check_finish(result, NULL, false);
        assert_int_equal(result->warnings, !status);
        assert_int_equal(result->note_count, status);
        heddle_check_result_free(result);
    }
}

static void test_what_only_follows_from_a_failure_is_left_out(void **state)
{
    (void)state;
    const char *const failures[] = {
        REPORT(FAILED("bad-launch", "error", "4", "the launch fails") "," CALL("uninitialised", "warning", "6")),
        REPORT(FAILED("bad-call", "error", "4",
                      "cudaMemcpy fails with cudaErrorInvalidValue: no") "," CALL("uninitialised", "error", "6")),
        REPORT(FAILED("bad-call", "error", "4",
                      "cublasSgemm: no\", \"note\": \"the call returns an error and does nothing") "," //
               CALL("uninitialised", "error", "6"))};
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        heddle_check_result *result = unite(failures[i], NULL);
        heddle_check_finish(result, NULL, false);
        assert_int_equal(result->finding_count, 1);
        assert_int_equal(result->findings[0]->places[0].frame[0].line, 4);
        assert_int_equal(result->note_count, 1);
        assert_non_null(strstr(result->notes[0], "left out: 1 finding about"));
        heddle_check_result_free(result);
    }
    heddle_check_result *graph =
        unite(REPORT(FAILED("bad-call", "error", "4", "x fails with cudaErrorStreamCaptureUnsupported: no") "," FAILED(
                  "bad-call", "error", "5",
                  "x fails with cudaErrorStreamCaptureInvalidated: the capture was spoilt by an "
                  "earlier error") "," FAILED("bad-call", "error", "6", "there is no such executable graph")),
              NULL);
    heddle_check_finish(graph, NULL, false);
    assert_int_equal(graph->finding_count, 1);
    assert_int_equal(graph->findings[0]->places[0].frame[0].line, 4);
    heddle_check_result_free(graph);
    heddle_check_result *other =
        unite(REPORT(FAILED("bad-call", "error", "4", "cudaSetDevice fails with cudaErrorInvalidDevice: no") "," CALL(
                  "uninitialised", "error", "6")),
              NULL);
    heddle_check_finish(other, NULL, false);
    assert_int_equal(other->finding_count, 2);
    heddle_check_result_free(other);
}

// A warning may be left as it is, so that nothing else would be told of the memory.
static void test_what_follows_from_a_warning_is_told(void **state)
{
    (void)state;
    heddle_check_result *result =
        unite(REPORT(FAILED("bad-call", "warning", "4", "cudaMalloc fails with cudaErrorMemoryAllocation: no") "," CALL(
                  "uninitialised", "error", "6")),
              NULL);
    heddle_check_finish(result, NULL, false);
    assert_int_equal(result->finding_count, 2);
    assert_int_equal(result->errors, 1);
    heddle_check_result_free(result);
}

static void test_a_comment_with_an_unknown_kind_is_told(void **state)
{
    (void)state;
    heddle_check_result *result = NULL;
    static const char content[] = "x = 1; // heddle: allow race, leek\n"
                                  "// heddle: allow race, leak because both are meant\n"
                                  "/* heddle: allow all */ puts(\"// heddle: allow\");\n"
                                  "y = 2; /* heddle:\n allow, heddle: allow rase */\n"
                                  "puts(R\"(\n// heddle: allow rice)\");\n";
    scratch_write(folder, "comments.cu", content, sizeof content - 1);
    const char *files[] = {scratch_path(folder, "comments.cu"), NULL};
    assert_ok(heddle_check_result_create(&result));
    assert_ok(heddle_check_comments_look(files, result));
    assert_int_equal(result->note_count, 2);
    assert_contains(result->notes[0], "comments.cu:1: this comment suppresses nothing: there is no kind of finding "
                                      "called 'leek' (did you mean leak?); there are ");
    assert_contains(result->notes[1], "comments.cu:5:");
    assert_contains(result->notes[1], "out-of-bounds, ");
    heddle_check_result_free(result);
}

static int first_difference(const heddle_check_report *a, const heddle_check_report *b)
{
    heddle_check_difference found;
    return heddle_check_copies_differ(a, b, NULL, &found) ? found.first : -1;
}

static void test_copies_that_differ_are_found(void **state)
{
    (void)state;
    heddle_check_report *one = sample_parse(folder, "{\"findings\": [], \"copies\": [\"1\", \"2\"]}");
    heddle_check_report *other = sample_parse(folder, "{\"findings\": [], \"copies\": [\"1\", \"3\"]}");
    heddle_check_report *longer = sample_parse(folder, "{\"findings\": [], \"copies\": [\"1\", \"2\", \"3\"]}");
    assert_int_equal(first_difference(one, one), -1);
    assert_int_equal(first_difference(one, other), 1);
    assert_int_equal(first_difference(one, longer), 2);
    heddle_check_report_free(one);
    heddle_check_report_free(other);
    heddle_check_report_free(longer);
}

static int difference_of(const char *a, const char *b)
{
    static const char form[] = "{\"findings\": [], \"copies\": [\"%c\"], \"copied_floats\": [\"%s\"]}";
    char text[2][256];
    snprintf(text[0], sizeof text[0], form, '1', a);
    snprintf(text[1], sizeof text[1], form, '2', b);
    heddle_check_report *one = sample_parse(folder, text[0]), *other = sample_parse(folder, text[1]);
    int difference = first_difference(one, other);
    heddle_check_report_free(one);
    heddle_check_report_free(other);
    return difference;
}

static void test_floats_that_differ_by_rounding_are_the_same(void **state)
{
    (void)state;
    assert_int_equal(difference_of("100.00001 100 0 -1", "100 100 0 -1"), -1);
    assert_int_equal(difference_of("101 100 0 -1", "100 100 0 -1"), 0);
    assert_int_equal(difference_of("0 -1 1 1", "0 -1 1.00000000001 1"), -1);
    assert_int_equal(difference_of("0 -1 1 1", "0 -1 1.00001 1"), 0);
    assert_int_equal(difference_of("0 -1 0 -1", "0 -1 0 -1"), 0);
    assert_int_equal(difference_of("damaged", "damaged"), 0);
}

// --- suppressions ----------------------------------------------------------------------------------------------------

static int left_with(const char *rules)
{
    heddle_check_suppressions *suppressions = NULL;
    scratch_write(folder, "rules", rules, strlen(rules));
    assert_ok(heddle_check_suppressions_read(scratch_path(folder, "rules"), &suppressions));
    heddle_check_result *result = unite(sample_report, NULL);
    heddle_check_finish(result, suppressions, false);
    int left = result->finding_count;
    assert_int_equal(left + result->suppressed, 3);
    heddle_check_result_free(result);
    heddle_check_suppressions_free(suppressions);
    return left;
}

static void test_a_file_suppresses_by_kind_file_line_and_kernel(void **state)
{
    (void)state;
    assert_int_equal(left_with(""), 3);
    assert_int_equal(left_with("race"), 2);
    assert_int_equal(left_with("race tile.cu:4 # the first place\n"), 2);
    assert_int_equal(left_with("race tile.cu:5"), 2);
    assert_int_equal(left_with("race tile.cu:6"), 3);
    assert_int_equal(left_with("* tile.cu"), 0);
    assert_int_equal(left_with("* other.cu"), 3);
    assert_int_equal(left_with("*\tkernel:m*"), 1);
    assert_int_equal(left_with("* kernel:other"), 3);
    assert_int_equal(left_with("\n# nothing\n\nleak *\nrace *\n"), 1);
}

// Copies of several threads of the host: a hash, sums and the place of the call for each.
static int difference_of_threads(const char *first, const char *second)
{
    heddle_check_result *result = unite(first, second);
    int difference = first_difference(result->runs[0], result->runs[1]);
    heddle_check_result_free(result);
    return difference;
}

static void test_copies_of_several_threads_have_no_order(void **state)
{
    (void)state;
#define COPIES(hashes, sums, places)                                                                                   \
    "{\"findings\": [], \"copies\": [" hashes "], \"copied_floats\": [" sums "], \"copied_at\": [" places "]}"
#define NUMBERS "\"3 3 0 -1\", \"5 5 0 -1\", \"7 7 0 -1\""
    const char *first = COPIES("\"a\", \"b\", \"c\"", NUMBERS, "1, 1, 2");
    assert_int_equal(difference_of_threads(first, COPIES("\"b\", \"c\", \"a\"", NUMBERS, "1, 2, 1")), -1);
    // Rounded otherwise, and in another order.
    const char *rounded =
        COPIES("\"d\", \"e\", \"c\"", "\"5.00001 5 0 -1\", \"3.00001 3 0 -1\", \"7 7 0 -1\"", "1, 1, 2");
    assert_int_equal(difference_of_threads(first, rounded), -1);
    // Another value, one from another call, and one too few.
    const char *other = COPIES("\"a\", \"d\", \"c\"", "\"3 3 0 -1\", \"6 6 0 -1\", \"7 7 0 -1\"", "1, 1, 2");
    assert_int_equal(difference_of_threads(first, other), 1);
    assert_int_not_equal(difference_of_threads(first, COPIES("\"a\", \"b\", \"c\"", NUMBERS, "1, 2, 2")), -1);
    assert_int_not_equal(difference_of_threads(first, COPIES("\"a\", \"b\"", NUMBERS, "1, 1")), -1);
}

// One letter a copy: lower case for single numbers, 0 for zero, upper case for arrays. Numbers go to one place, arrays
// to another.
static heddle_check_report *series_of(const char *letters)
{
    char text[1024], hashes[256] = "", places[512] = "";
    for (const char *at = letters; *at; at++) {
        bool array = *at >= 'A' && *at <= 'Z';
        size_t used = strlen(hashes), told = strlen(places);
        snprintf(hashes + used, sizeof hashes - used, "%s\"%c\"", used ? ", " : "", *at);
        snprintf(places + told, sizeof places - told, "%s\"%s%s\"", told ? ", " : "", array ? "7 4096" : "5 8192",
                 array        ? ""
                 : *at == '0' ? " zero"
                              : " number");
    }
    snprintf(text, sizeof text, "{\"findings\": [], \"copies\": [%s], \"copied_into\": [%s]}", hashes, places);
    return sample_parse(folder, text);
}

static int difference_of_series(const char *a, const char *b)
{
    heddle_check_report *one = series_of(a), *other = series_of(b);
    int difference = first_difference(one, other);
    heddle_check_report_free(one);
    heddle_check_report_free(other);
    return difference;
}

static void test_what_a_loop_of_the_host_looks_at_to_go_on_is_no_result(void **state)
{
    (void)state;
    assert_int_equal(difference_of_series("aa0R", "a0R"), -1);  // more rounds
    assert_int_equal(difference_of_series("xy0R", "xz0R"), -1); // as many, of other sizes
    assert_int_equal(difference_of_series("aa0R", "a0S"), 3);   // the result is another one
    assert_int_equal(difference_of_series("aa0R", "abR"), 2);   // it was not the loop's condition that ended it
    assert_int_equal(difference_of_series("abc", "abd"), 2);    // numbers that nothing ends are results
    assert_int_equal(difference_of_series("abc", "adc"), 1);
    assert_int_equal(difference_of_series("ABC", "ADC"), 1); // so are arrays of as many rounds
    assert_int_equal(difference_of_series("ABC", "AC"), -1);
    assert_int_equal(difference_of_series("A0B0C", "A0D0C"), 2);
}

static void test_equal_copies_into_reused_and_into_new_memory_do_not_differ(void **state)
{
    (void)state;
    heddle_check_report *reused = sample_parse(folder, "{\"findings\": [], \"copies\": [\"1\", \"2\", \"3\"], "
                                                       "\"copied_into\": [\"5 64\", \"5 64\", \"5 64\"]}");
    heddle_check_report *separate = sample_parse(folder, "{\"findings\": [], \"copies\": [\"1\", \"2\", \"3\"], "
                                                         "\"copied_into\": [\"5 64\", \"5 128\", \"5 128\"]}");
    assert_int_equal(first_difference(reused, separate), -1);
    heddle_check_report_free(reused);
    heddle_check_report_free(separate);
}

static void test_a_copy_that_changes_in_the_same_order_is_passed_over(void **state)
{
    (void)state;
    heddle_check_report *first = series_of("TR"), *again = series_of("UR"), *same = series_of("VR"),
                        *other = series_of("VS");
    heddle_check_difference found;
    assert_true(heddle_check_copies_differ(first, same, NULL, &found));
    assert_false(heddle_check_copies_differ(first, same, again, &found));
    assert_true(heddle_check_copies_differ(first, other, again, &found));
    assert_int_equal(found.first, 1);
    assert_int_equal(found.other, 1);
    heddle_check_report_free(first);
    heddle_check_report_free(again);
    heddle_check_report_free(same);
    heddle_check_report_free(other);
}

static int left_with_comment(const char *line, const char *before)
{
    char source[256];
    snprintf(source, sizeof source, "\n\n%s\nx = 1; %s\n", before, line);
    heddle_check_result *result = unite(REPORT(RACE("error", "4", "4", "1", "")), NULL);
    scratch_write(folder, "tile.cu", source, strlen(source));
    heddle_check_finish(result, NULL, false);
    int left = result->finding_count;
    heddle_check_result_free(result);
    return left;
}

static void test_a_comment_suppresses_at_its_line(void **state)
{
    (void)state;
    assert_int_equal(left_with_comment("", ""), 1);
    assert_int_equal(left_with_comment("// heddle: allow race", ""), 0);
    assert_int_equal(left_with_comment("// heddle: allow leak, race  because it is meant", ""), 0);
    assert_int_equal(left_with_comment("/* heddle: allow all */", ""), 0);
    assert_int_equal(left_with_comment("", "// heddle: allow race: both write 1"), 0);
    assert_int_equal(left_with_comment("// heddle: allow leak", ""), 1);
    assert_int_equal(left_with_comment("// heddle: allow leak not race", ""), 1);
    assert_int_equal(left_with_comment("// heddle: allow races", ""), 1);
    // What the lexer reads as a comment is one, and nothing else.
    assert_int_equal(left_with_comment("puts(\"// heddle: allow race\");", ""), 1);
    assert_int_equal(left_with_comment("", "puts(R\"(\n// heddle: allow race)\");"), 1);
    assert_int_equal(left_with_comment("", "/* Both write 1:\nheddle: allow race */"), 0); // its second line
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_places_in_either_order_are_one_finding),
        cmocka_unit_test(test_two_lines_that_race_in_several_ways_are_one_finding),
        cmocka_unit_test(test_calls_of_one_line_are_told_apart_by_their_names),
        cmocka_unit_test(test_other_places_are_other_findings),
        cmocka_unit_test(test_a_race_that_stored_the_same_value_becomes_a_warning),
        cmocka_unit_test(test_a_store_is_answered_for_by_no_other_store_of_its_line),
        cmocka_unit_test(test_a_race_is_asked_about_in_an_order_in_which_it_was_seen),
        cmocka_unit_test(test_a_warning_that_another_order_shows_as_error_is_one),
        cmocka_unit_test(test_findings_are_ranked_and_gathered_by_kernel),
        cmocka_unit_test(test_strict_raises_warnings),
        cmocka_unit_test(test_a_call_that_fails_is_told_once),
        cmocka_unit_test(test_a_failure_that_the_program_answers_for_is_a_note),
        cmocka_unit_test(test_a_failure_stays_where_the_program_ends_with_a_status_of_its_own),
        cmocka_unit_test(test_what_only_follows_from_a_failure_is_left_out),
        cmocka_unit_test(test_what_follows_from_a_warning_is_told),
        cmocka_unit_test(test_leaks_of_a_program_that_gave_up_are_left_out),
        cmocka_unit_test(test_a_comment_with_an_unknown_kind_is_told),
        cmocka_unit_test(test_copies_that_differ_are_found),
        cmocka_unit_test(test_floats_that_differ_by_rounding_are_the_same),
        cmocka_unit_test(test_copies_of_several_threads_have_no_order),
        cmocka_unit_test(test_what_a_loop_of_the_host_looks_at_to_go_on_is_no_result),
        cmocka_unit_test(test_equal_copies_into_reused_and_into_new_memory_do_not_differ),
        cmocka_unit_test(test_a_copy_that_changes_in_the_same_order_is_passed_over),
        cmocka_unit_test(test_a_file_suppresses_by_kind_file_line_and_kernel),
        cmocka_unit_test(test_a_comment_suppresses_at_its_line),
    };
    return cmocka_run_group_tests(tests, create_folder, remove_folder);
}
