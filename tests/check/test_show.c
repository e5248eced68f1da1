// The forms a result is shown in: what the text says, that JSON, SARIF and the page are well formed, and that nothing
// of the program's text gets out of its place on the page.

#include "folder.h"
#include "sample.h"

#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "check/describe.h"
#include "check/finish.h"
#include "check/show.h"

static heddle_status show_plain(const heddle_check_result *result, FILE *file)
{
    return heddle_check_show_text(result, &(heddle_check_style){.counters = true}, file);
}

static heddle_status show_coloured(const heddle_check_result *result, FILE *file)
{
    return heddle_check_show_text(result, &(heddle_check_style){.colour = true, .utf8 = true}, file);
}

// --- text ------------------------------------------------------------------------------------------------------------

static void test_text_shows_both_places_with_their_lines(void **state)
{
    (void)state;
    heddle_check_result *result = sample_result(folder, sample_report);
    char *text = sample_shown(result, show_plain);
    assert_contains(text, "error: data race on shared memory As in kernel mm\n");
    assert_contains(text, "tile.cu:4  block (0,0,0) thread (1,0,0)\n");
    assert_contains(text, "tile.cu:5  block (0,0,0) thread (254,0,0)\n");
    assert_contains(text, "      4 |     As[threadIdx.x] = a[threadIdx.x];\n"
                          "        |     ^~~~~~~~~~~~~~~\n");
    assert_contains(text, "      5 |     float sum = As[255 - threadIdx.x];\n"
                          "        |                 ^~~~~~~~~~~~~~~~~~~~~\n");
    assert_contains(text, "  because   no barrier between\n");
    assert_contains(text, "  fix       Put __syncthreads() between line 4 and line 5.\n");
    assert_contains(text, "seen 29,696 times");
    assert_lacks(text, "\033");
    free(text);
    heddle_check_result_free(result);
}

static void test_text_says_what_would_do_instead_of_what_the_simulator_lacks(void **state)
{
    (void)state;
    heddle_check_result *result = sample_result(folder, sample_report);
    for (int i = 0; i < result->finding_count; i++)
        result->findings[i]->kind = HEDDLE_CHECK_UNSUPPORTED;
    char *text = sample_shown(result, show_plain);
    assert_contains(text, "  instead   no barrier between\n");
    free(text);
    heddle_check_result_free(result);
}

static void test_text_tells_the_allocation_in_a_sentence(void **state)
{
    (void)state;
    heddle_check_result *result = sample_result(folder, sample_report);
    char *text = sample_shown(result, show_plain);
    char sentence[1024];
    snprintf(sentence, sizeof sentence,
             "  memory    d_c, 4096 bytes of global memory, allocated at %s:11; 4 bytes past its end: index 1024 of "
             "d_c[1024]\n",
             scratch_path(folder, "tile.cu"));
    assert_contains(text, sentence);
    free(text);
    heddle_check_result_free(result);
}

static void test_text_ends_with_the_verdict(void **state)
{
    (void)state;
    heddle_check_result *result = sample_result(folder, sample_report);
    char *text = sample_shown(result, show_plain);
    const char *last = strrchr(text, '\n') - strlen("2 errors, 1 warning");
    assert_string_equal(last, "2 errors, 1 warning\n");
    free(text);
    heddle_check_result_free(result);

    result = sample_result(folder, "{\"findings\": [], \"totals\": {\"accesses\": 1200000}}");
    text = sample_shown(result, show_plain);
    assert_string_equal(text, "clean: 1 schedule, 1.2 million accesses, 0 findings\n");
    free(text);
    heddle_check_result_free(result);

    result = sample_result(folder, "{\"findings\": [{\"kind\": \"leak\", \"tier\": \"warning\"}], "
                                   "\"totals\": {\"accesses\": 7, \"launches\": 1}}");
    char verdict[256];
    assert_string_equal(heddle_check_verdict(result, verdict, sizeof verdict),
                        "no errors, 1 warning: 1 schedule, 7 accesses");
    heddle_check_result_free(result);

    result = sample_result(folder, "{\"findings\": [], \"totals\": {\"accesses\": 0, \"launches\": 0}}");
    assert_string_equal(heddle_check_verdict(result, verdict, sizeof verdict),
                        "nothing was checked: no kernel was launched");
    assert_false(heddle_check_failed(result));
    heddle_check_result_free(result);
}

static void test_counters_come_worst_first_beside_the_ideal(void **state)
{
    (void)state;
    heddle_check_result *result = sample_result(folder, sample_report);
    char *text = sample_shown(result, show_plain);
    const char *store = strstr(text, "global store 4 B"), *shared = strstr(text, "shared load 4 B"),
               *load = strstr(text, "global load 4 B");
    assert_true(store && shared && load && store < shared && shared < load);
    assert_contains(text, "32.0 sectors    4.0   700 %");
    assert_contains(text, "2.0 wavefronts    1.0   100 %");
    free(text);
    heddle_check_result_free(result);
}

static void test_the_worst_access_is_drawn(void **state)
{
    (void)state;
    heddle_check_result *result = sample_result(folder, sample_report);
    char *text = sample_shown(result, show_plain);
    assert_contains(text, "global store of 4 bytes per lane: 32 sectors where about 4 would suffice\n");
    assert_contains(text, "    +0         [#.......][........][........][........]  0\n"
                          "    +128       [#.......][........][........][........]  1\n");
    assert_contains(text, "and 24 more lines of 128 bytes\n");
    free(text);
    heddle_check_result_free(result);
}

static heddle_status show_shared_request(const heddle_check_result *result, FILE *file)
{
    heddle_check_show_request(&result->runs[0]->kernels[0].lines[2], &(heddle_check_style){.utf8 = false}, file);
    return HEDDLE_OK;
}

static void test_bank_conflicts_are_drawn(void **state)
{
    (void)state;
    heddle_check_result *result = sample_result(folder, sample_report);
    char *text = sample_shown(result, show_shared_request);
    assert_contains(text, "    words  #...............................\n"
                          "           #...............................\n"
                          "    bank 0 serves 2 different words");
    free(text);
    heddle_check_result_free(result);
}

static void test_colours_only_where_asked_for(void **state)
{
    (void)state;
    heddle_check_result *result = sample_result(folder, sample_report);
    char *text = sample_shown(result, show_coloured);
    assert_contains(text, "\033[1;31merror:\033[0m");
    assert_lacks(text, "sectors");
    free(text);
    heddle_check_result_free(result);
}

static void test_a_source_that_is_gone_is_no_failure(void **state)
{
    (void)state;
    heddle_check_result *result = sample_unfinished(folder, sample_report);
    remove(scratch_path(folder, "tile.cu"));
    heddle_check_finish(result, NULL, false);
    char *text = sample_shown(result, show_plain);
    assert_contains(text, "tile.cu:4");
    assert_lacks(text, "As[threadIdx.x]");
    free(text);
    heddle_check_result_free(result);
}

static void test_compiler_messages_stand_before_the_verdict(void **state)
{
    (void)state;
    heddle_check_result *result = NULL;
    assert_ok(heddle_check_result_create(&result));
    result->messages = "a.cu:3:5: error: expected ';'\n";
    heddle_check_finish(result, NULL, false);
    char *text = sample_shown(result, show_plain);
    assert_string_equal(text, "a.cu:3:5: error: expected ';'\n\nnot built\n");
    assert_true(heddle_check_failed(result));
    free(text);
    heddle_check_result_free(result);
}

// --- JSON and SARIF --------------------------------------------------------------------------------------------------

static const cJSON *at(const cJSON *json, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, name);
    if (!item)
        fail_msg("there is no \"%s\"", name);
    return item;
}

static const char *text_at(const cJSON *json, const char *name)
{
    const cJSON *item = at(json, name);
    assert_true(cJSON_IsString(item));
    return item->valuestring;
}

static cJSON *parse_shown(const heddle_check_result *result, sample_writer *show)
{
    char *text = sample_shown(result, show);
    cJSON *json = cJSON_Parse(text);
    assert_non_null(json);
    free(text);
    return json;
}

static void test_json_has_everything(void **state)
{
    (void)state;
    heddle_check_result *result = sample_result(folder, sample_report);
    result->uses[result->use_count++] = (heddle_check_use){HEDDLE_CHECK_FAST_MATH, "__expf", "tile.cu", 6, 8, "branch"};
    result->uses[result->use_count++] = (heddle_check_use){HEDDLE_CHECK_TIMING, "clock64", "tile.cu", 7, 0, NULL};
    cJSON *json = heddle_check_json(result);
    assert_int_equal(at(json, "errors")->valueint, 2);
    assert_true(cJSON_IsFalse(at(json, "clean")));
    const cJSON *finding = cJSON_GetArrayItem(at(json, "findings"), 1);
    assert_string_equal(text_at(finding, "kind"), "race");
    assert_string_equal(text_at(finding, "headline"), "data race on shared memory As in kernel mm");
    const cJSON *place = cJSON_GetArrayItem(at(finding, "places"), 0);
    assert_string_equal(text_at(place, "source"), "    As[threadIdx.x] = a[threadIdx.x];");
    const cJSON *lines = at(cJSON_GetArrayItem(at(json, "kernels"), 0), "lines");
    assert_int_equal(cJSON_GetArraySize(lines), 3);
    assert_int_equal(at(cJSON_GetArrayItem(lines, 2), "wavefronts")->valueint, 16);
    assert_int_equal(cJSON_GetArraySize(at(at(json, "fidelity"), "not_simulated")), 1);
    const cJSON *approximate = cJSON_GetArrayItem(at(at(json, "fidelity"), "approximate"), 0);
    assert_string_equal(text_at(approximate, "why"), "fast-math");
    assert_int_equal(at(approximate, "decides_line")->valueint, 8);
    cJSON_Delete(json);
    heddle_check_result_free(result);
}

// What the schema of SARIF 2.1.0 requires, and what code hosts need to show a result.
static void test_sarif_has_what_its_schema_requires(void **state)
{
    (void)state;
    heddle_check_result *result = sample_result(folder, sample_report);
    cJSON *json = parse_shown(result, heddle_check_show_sarif);
    assert_string_equal(text_at(json, "version"), "2.1.0");
    assert_contains(text_at(json, "$schema"), "sarif-2.1.0");
    assert_int_equal(cJSON_GetArraySize(at(json, "runs")), 1);
    const cJSON *run = cJSON_GetArrayItem(at(json, "runs"), 0);
    const cJSON *driver = at(at(run, "tool"), "driver");
    assert_string_equal(text_at(driver, "name"), "heddle check");
    const cJSON *invocation = cJSON_GetArrayItem(at(run, "invocations"), 0);
    assert_true(cJSON_IsBool(at(invocation, "executionSuccessful")));
    const cJSON *found = NULL;
    int count = 0;
    cJSON_ArrayForEach(found, at(run, "results"))
    {
        count++;
        const cJSON *rule = cJSON_GetArrayItem(at(driver, "rules"), at(found, "ruleIndex")->valueint);
        assert_string_equal(text_at(rule, "id"), text_at(found, "ruleId"));
        const char *level = text_at(found, "level");
        assert_true(strcmp(level, "error") == 0 || strcmp(level, "warning") == 0);
        assert_true(strlen(text_at(at(found, "message"), "text")) > 0);
        const cJSON *physical = at(cJSON_GetArrayItem(at(found, "locations"), 0), "physicalLocation");
        assert_contains(text_at(at(physical, "artifactLocation"), "uri"), "/tile.cu");
        assert_true(at(at(physical, "region"), "startLine")->valueint >= 1);
    }
    assert_int_equal(count, 3);
    cJSON_Delete(json);
    heddle_check_result_free(result);
}

static void test_sarif_escapes_paths(void **state)
{
    (void)state;
    heddle_check_result *result = sample_result(
        folder, "{\"findings\": [{\"kind\": \"race\", \"places\": [{\"file\": \"/a b/c%d#.cu\", \"line\": 1}]}]}");
    char *text = sample_shown(result, heddle_check_show_sarif);
    assert_contains(text, "file:///a%20b/c%25d%23.cu");
    free(text);
    heddle_check_result_free(result);
}

// --- the page --------------------------------------------------------------------------------------------------------

static void test_the_page_annotates_every_line(void **state)
{
    (void)state;
    heddle_check_result *result = sample_result(folder, sample_report);
    char *page = sample_shown(result, heddle_check_show_html);
    assert_contains(page, "<!DOCTYPE html>");
    for (int line = 1; line <= 13; line++) {
        char row[32];
        snprintf(row, sizeof row, "<tr id=\"f0-%d\">", line);
        assert_contains(page, row);
    }
    assert_contains(page, "<pre>    mm&lt;&lt;&lt;1, 256&gt;&gt;&gt;(0, d_c);</pre>");
    assert_contains(page, "href=\"#finding-0\"");
    assert_contains(page, "32.0 sectors each, ideal 4.0");
    assert_contains(page, "2 errors, 1 warning");
    assert_lacks(page, "http://");
    assert_lacks(page, "https://");
    free(page);
    heddle_check_result_free(result);
}

static void test_nothing_gets_out_of_its_place_on_the_page(void **state)
{
    (void)state;
    static const char evil[] =
        "{\"findings\": [{\"kind\": \"race\", \"kernel\": \"<script>alert(1)</script>\", \"message\": "
        "\"</p><img src=x onerror='a'>\", \"note\": \"<b>\", \"cause\": \"<i>\", \"cure\": \"&\", "
        "\"places\": [{\"role\": \"<u>\", \"file\": \"@\", \"line\": 1, \"function\": \"f\"}], "
        "\"memory\": {\"space\": \"<s>\", \"name\": \"\\\"><q>\", \"bytes\": 4}}]}";
    heddle_check_result *result = sample_unfinished(folder, evil);
    static const char source[] = "</pre><script>alert(2)</script>\n";
    scratch_write(folder, "tile.cu", source, sizeof source - 1);
    heddle_check_finish(result, NULL, false);
    assert_ok(heddle_check_result_note(result, "<em>"));
    result->messages = "<strong>\n";
    char *page = sample_shown(result, heddle_check_show_html);
    static const char *const tags[] = {"<script>alert", "<img", "<b>",  "<i>",      "<u>",
                                       "<s>",           "<q>",  "<em>", "<strong>", "</pre><script>"};
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        assert_lacks(page, tags[i]);
    assert_contains(page, "&lt;/pre&gt;&lt;script&gt;alert(2)");
    free(page);
    heddle_check_result_free(result);
}

static heddle_check_result *result_with_branches(const char *branches)
{
    char report[512];
    heddle_check_result *result = sample_result(folder, sample_report);
    snprintf(report, sizeof report,
             "{\"status\": \"finished\", \"findings\": [], \"kernels\": [{\"kernel\": \"mm\", \"branches\": [%s]}]}",
             branches);
    result->branches = sample_parse(folder, report);
    return result;
}

static const char some_branches[] = "{\"file\": \"@\", \"line\": 4, \"executions\": 8, \"divergent\": 1},"
                                    "{\"file\": \"@\", \"line\": 5, \"executions\": 2000, \"divergent\": 1500},"
                                    "{\"file\": \"@\", \"line\": 6, \"executions\": 16, \"divergent\": 0}";

static void test_branches_that_diverge_most_come_first(void **state)
{
    (void)state;
    heddle_check_result *result = result_with_branches(some_branches);
    char *text = sample_shown(result, heddle_check_show_branches);
    assert_string_equal(text, "kernel  branch     executions  divergent\n"
                              "mm      tile.cu:5       2,000      1,500\n"
                              "mm      tile.cu:4           8          1\n\n");
    free(text);
    heddle_check_result_free(result);
    result = result_with_branches("{\"file\": \"@\", \"line\": 6, \"executions\": 16, \"divergent\": 0}");
    text = sample_shown(result, heddle_check_show_branches);
    assert_string_equal(text, "no divergent branches (1 line with branches)\n\n");
    free(text);
    heddle_check_result_free(result);
}

static void test_json_and_page_have_all_branches(void **state)
{
    (void)state;
    heddle_check_result *result = result_with_branches(some_branches);
    cJSON *json = heddle_check_json(result);
    const cJSON *branches =
        cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(json, "kernels"), 0), "branches");
    assert_int_equal(cJSON_GetArraySize(branches), 3);
    const cJSON *last = cJSON_GetArrayItem(branches, 2);
    assert_int_equal(cJSON_GetObjectItem(last, "line")->valueint, 6);
    assert_int_equal(cJSON_GetObjectItem(last, "executions")->valueint, 16);
    assert_int_equal(cJSON_GetObjectItem(last, "divergent")->valueint, 0);
    cJSON_Delete(json);
    char *page = sample_shown(result, heddle_check_show_html);
    assert_contains(page, "<span class=\"counter excess\">branch: 2000 executions, 1500 divergent</span>");
    assert_contains(page, "<span class=\"counter\">branch: 16 executions, 0 divergent</span>");
    free(page);
    heddle_check_result_free(result);
}

static void test_branches_that_were_not_counted_are_not_mentioned(void **state)
{
    (void)state;
    heddle_check_result *result = sample_result(folder, sample_report);
    char *text = sample_shown(result, show_plain), *page = sample_shown(result, heddle_check_show_html);
    assert_lacks(text, "branch");
    assert_lacks(page, "branch:");
    free(text);
    free(page);
    heddle_check_result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_shows_both_places_with_their_lines),
        cmocka_unit_test(test_text_says_what_would_do_instead_of_what_the_simulator_lacks),
        cmocka_unit_test(test_text_tells_the_allocation_in_a_sentence),
        cmocka_unit_test(test_text_ends_with_the_verdict),
        cmocka_unit_test(test_counters_come_worst_first_beside_the_ideal),
        cmocka_unit_test(test_the_worst_access_is_drawn),
        cmocka_unit_test(test_bank_conflicts_are_drawn),
        cmocka_unit_test(test_colours_only_where_asked_for),
        cmocka_unit_test(test_a_source_that_is_gone_is_no_failure),
        cmocka_unit_test(test_compiler_messages_stand_before_the_verdict),
        cmocka_unit_test(test_json_has_everything),
        cmocka_unit_test(test_sarif_has_what_its_schema_requires),
        cmocka_unit_test(test_sarif_escapes_paths),
        cmocka_unit_test(test_the_page_annotates_every_line),
        cmocka_unit_test(test_branches_that_diverge_most_come_first),
        cmocka_unit_test(test_json_and_page_have_all_branches),
        cmocka_unit_test(test_branches_that_were_not_counted_are_not_mentioned),
        cmocka_unit_test(test_nothing_gets_out_of_its_place_on_the_page),
    };
    return cmocka_run_group_tests(tests, create_folder, remove_folder);
}
