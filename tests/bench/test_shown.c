// How results are shown: as a table, as JSON and as a page.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <cjson/cJSON.h>

#include "own_bench.h"

static void a_low_rate_is_shown_in_a_smaller_unit(void **state)
{
    (void)state;
    own_bench on;
    own_bench_open(&on, &own_bench_quick);
    own_bench_measure(&on, "right");
    static const struct {
        double rate;
        const char *text;
    } cases[] = {{5.1e6, " 5.1 MB/s "}, {2.2e3, " 2.2 kB/s "}, {4.5e8, " 0.5 GB/s "}, {3e12, " 3.00 TB/s "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int k = 0; k < on.bench->count; k++)
            on.bench->results[k].bytes_per_second = cases[i].rate;
        char shown[4096] = "";
        FILE *file = fmemopen(shown, sizeof shown, "w");
        assert_ok(heddle_bench_show_text(on.bench, 0, on.bench->count, file));
        fclose(file);
        assert_non_null(strstr(shown, cases[i].text));
    }
    own_bench_close(&on);
}

static void json_gives_figures_for_right_rungs_alone(void **state)
{
    (void)state;
    own_bench on;
    own_bench_open(&on, &own_bench_quick);
    own_bench_measure(&on, "right");
    own_bench_measure(&on, "zeros");
    cJSON *json = heddle_bench_json(on.bench);
    assert_string_equal(cJSON_GetObjectItem(json, "seed")->valuestring, "7");
    assert_true(cJSON_GetObjectItem(json, "copy_bandwidth")->valuedouble > 0);
    cJSON *results = cJSON_GetObjectItem(json, "results"), *one;
    int wrong = 0, right_ones = 0;
    cJSON_ArrayForEach(one, results)
    {
        bool timed = cJSON_IsNumber(cJSON_GetObjectItem(one, "microseconds"));
        assert_int_equal(timed, cJSON_IsTrue(cJSON_GetObjectItem(one, "checked")));
        wrong += strcmp(cJSON_GetObjectItem(one, "status")->valuestring, "wrong") == 0;
        right_ones += timed;
    }
    assert_int_equal(wrong, 1);
    assert_true(right_ones >= 2);
    cJSON_Delete(json);
    own_bench_close(&on);
}

static void text_and_page_show_the_same_rungs(void **state)
{
    (void)state;
    own_bench on;
    own_bench_open(&on, &own_bench_quick);
    own_bench_measure(&on, "right");
    own_bench_measure(&on, "zeros");
    for (int page = 0; page < 2; page++) {
        char *text = NULL;
        size_t size = 0;
        FILE *file = open_memstream(&text, &size);
        assert_non_null(file);
        if (page)
            assert_ok(heddle_bench_show_page(on.bench, NULL, file));
        else
            assert_ok(heddle_bench_show_text(on.bench, 0, heddle_bench_group_end(on.bench, 0), file));
        fclose(file);
        assert_non_null(strstr(text, "theirs"));
        assert_non_null(strstr(text, "right"));
        assert_non_null(strstr(text, "rung zeros of add_forward is wrong at n=100003"));
        free(text);
    }
    own_bench_close(&on);
}

static heddle_status print_more(void *context, FILE *file)
{
    fputs(context, file);
    return HEDDLE_OK;
}

static void the_page_takes_what_others_add(void **state)
{
    char *text = NULL;
    size_t size = 0;
    own_bench on;
    (void)state;
    const heddle_bench_more more = {".added {}", print_more, "<p>the source</p>"};
    own_bench_open(&on, &own_bench_quick);
    own_bench_measure(&on, "right");
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    assert_ok(heddle_bench_show_page(on.bench, &more, file));
    fclose(file);
    const char *style = strstr(text, ".added {}"), *added = strstr(text, "<p>the source</p>");
    assert_true(style && style < strstr(text, "</head>"));
    assert_true(added && added > strstr(text, "theirs") && added < strstr(text, "</main>"));
    free(text);
    own_bench_close(&on);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_low_rate_is_shown_in_a_smaller_unit),
        cmocka_unit_test(json_gives_figures_for_right_rungs_alone),
        cmocka_unit_test(text_and_page_show_the_same_rungs),
        cmocka_unit_test(the_page_takes_what_others_add),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
