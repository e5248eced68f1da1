// What a browser sends, as the server must read it: paths, queries, cookies, hosts, origins, bodies.

#include "web/request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

// cmocka.h needs the headers above
#include <cmocka.h>

static void a_path_becomes_its_decoded_parts(void **state)
{
    heddle_web_path path;
    (void)state;
    assert_int_equal(heddle_web_path_read("/", &path), 0);
    assert_int_equal(path.count, 0);
    assert_int_equal(heddle_web_path_read("/read/05-first%20kernels?x=%2F..", &path), 0);
    assert_int_equal(path.count, 2);
    assert_string_equal(path.parts[0], "read");
    assert_string_equal(path.parts[1], "05-first kernels");
    assert_string_equal(path.query, "x=%2F..");
}

static void a_path_that_could_lead_elsewhere_is_refused(void **state)
{
    static const char *const bad[] = {
        "",          "read",     "*",          "http://a/b", "//etc/passwd", "/a//b",        "/a/",    "/../a",
        "/a/..",     "/a/.",     "/.git",      "/%2e%2e/a",  "/a%2fb",       "/a\\b",        "/a%5cb", "/a%00",
        "/a%0ab",    "/a%",      "/a%4",       "/a%zz",      "/%c0%af",      "/%ff",         "/a#b",   "/\x7f",
        "/a%2e%2e/", "/a%4?b=c", "/%e0%80%af", "/%ed%a0%80", "/a\tb",        "/%f5%80%80%80"};
    heddle_web_path path;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (heddle_web_path_read(bad[i], &path) != HEDDLE_WEB_BAD)
            fail_msg("'%s' was not refused", bad[i]);
}

static void a_long_or_deep_path_is_refused(void **state)
{
    heddle_web_path path;
    char target[HEDDLE_WEB_LONGEST_TARGET + 2];
    (void)state;
    memset(target, 'a', sizeof target);
    target[0] = '/';
    target[sizeof target - 1] = '\0';
    assert_int_equal(heddle_web_path_read(target, &path), HEDDLE_WEB_TOO_LONG);
    target[sizeof target - 2] = '\0';
    assert_int_equal(heddle_web_path_read(target, &path), 0);
    assert_int_equal(heddle_web_path_read("/1/2/3/4/5/6/7/8", &path), 0);
    assert_int_equal(heddle_web_path_read("/1/2/3/4/5/6/7/8/9", &path), HEDDLE_WEB_NOT_FOUND);
}

static void a_pattern_fits_whole_paths_only(void **state)
{
    static const char *const pattern = "/v1/exercises/*/source";
    const char *found[HEDDLE_WEB_MOST_PARTS];
    heddle_web_path path;
    (void)state;
    heddle_web_path_read("/v1/exercises/05.1/source", &path);
    assert_true(heddle_web_path_fits(&path, pattern, found));
    assert_string_equal(found[0], "05.1");
    assert_false(heddle_web_path_fits(&path, "/v1/exercises/*", found));
    assert_false(heddle_web_path_fits(&path, "/", found));
    heddle_web_path_read("/v1/exercises/05.1", &path);
    assert_false(heddle_web_path_fits(&path, pattern, found));
    heddle_web_path_read("/v1/exercise/05.1/source", &path);
    assert_false(heddle_web_path_fits(&path, pattern, found));
    heddle_web_path_read("/", &path);
    assert_true(heddle_web_path_fits(&path, "/", found));
    assert_false(heddle_web_path_fits(&path, "/*", found));
}

static void a_query_gives_the_first_value_decoded(void **state)
{
    char value[8];
    (void)state;
    assert_true(heddle_web_query_read("a=1&q=b+c%21&q=z", "q", value, sizeof value));
    assert_string_equal(value, "b c!");
    assert_true(heddle_web_query_read("q=", "q", value, sizeof value));
    assert_string_equal(value, "");
    assert_true(heddle_web_query_read("q=1234567", "q", value, sizeof value));
    assert_false(heddle_web_query_read("q=12345678", "q", value, sizeof value));
    assert_false(heddle_web_query_read("qq=1&xq=2&q", "q", value, sizeof value));
    assert_false(heddle_web_query_read("q=%0", "q", value, sizeof value));
    assert_false(heddle_web_query_read("", "q", value, sizeof value));
}

static void a_cookie_is_found_among_others(void **state)
{
    char value[6];
    (void)state;
    const char *rest = heddle_web_cookie_next("xheddle-1=no; heddle-1=yes;z=1", "heddle-1", value, sizeof value);
    assert_string_equal(rest, "z=1");
    assert_string_equal(value, "yes");
    assert_null(heddle_web_cookie_next(rest, "heddle-1", value, sizeof value));
    assert_null(heddle_web_cookie_next("heddle-12=no; heddle-1", "heddle-1", value, sizeof value));
    assert_null(heddle_web_cookie_next("heddle-1=toolong", "heddle-1", value, sizeof value));
    assert_non_null(heddle_web_cookie_next("heddle-1=toolong; heddle-1=b", "heddle-1", value, sizeof value));
    assert_string_equal(value, "b");
    assert_string_equal(heddle_web_bearer("bearer abc"), "abc");
    assert_null(heddle_web_bearer("Basic abc"));
}

static void a_secret_is_compared_whole(void **state)
{
    (void)state;
    assert_true(heddle_web_is_secret("0123", "0123"));
    assert_false(heddle_web_is_secret("012", "0123"));
    assert_false(heddle_web_is_secret("01234", "0123"));
    assert_false(heddle_web_is_secret("0124", "0123"));
    assert_false(heddle_web_is_secret("", "0123"));
}

static void only_names_that_nobody_else_can_make_point_here_are_served(void **state)
{
    static const char *const good[] = {"127.0.0.1:8765", "127.0.0.1", "localhost:1", "LOCALHOST", "[::1]:8765"};
    static const char *const bad[] = {"evil.example",   "evil.example:8765", "127.0.0.1.evil.example", "localhost.evil",
                                      "192.168.1.5",    "[::2]:8765",        "0.0.0.0:8765",           "",
                                      "127.0.0.1:",     "127.0.0.1:0",       "127.0.0.1:65536",        "[::1",
                                      "user@127.0.0.1", "127.0.0.1/x",       "127.0.0.1:8765:1",       "::1"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!heddle_web_host_fits(good[i], "127.0.0.1"))
            fail_msg("'%s' was refused", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (heddle_web_host_fits(bad[i], "127.0.0.1"))
            fail_msg("'%s' was not refused", bad[i]);
    assert_true(heddle_web_host_fits("192.168.1.5:8765", "0.0.0.0"));
    assert_true(heddle_web_host_fits("192.168.1.5:8765", "192.168.1.5"));
    assert_true(heddle_web_host_fits("[fe80::1]", "::"));
    assert_false(heddle_web_host_fits("192.168.1.6:8765", "192.168.1.5"));
    assert_false(heddle_web_host_fits("evil.example", "0.0.0.0"));
}

static void an_origin_is_the_host_with_its_port(void **state)
{
    (void)state;
    assert_true(heddle_web_origin_fits("http://localhost:8765", "localhost:8765"));
    assert_false(heddle_web_origin_fits("http://localhost:3000", "localhost:8765"));
    assert_false(heddle_web_origin_fits("https://localhost:8765", "localhost:8765"));
    assert_false(heddle_web_origin_fits("http://127.0.0.1:8765", "localhost:8765"));
    assert_false(heddle_web_origin_fits("null", "localhost:8765"));
    assert_false(heddle_web_origin_fits("http://localhost:8765.evil", "localhost:8765"));
}

static void an_address_to_listen_on_is_in_numbers(void **state)
{
    static const char *const bad[] = {"", "example.org", "1.2.3", "1.2.3.4:0", "1.2.3.4:x", "[::1", ":80", "::1:8765x"};
    char address[HEDDLE_WEB_NAME_SIZE];
    int port = 7;
    (void)state;
    assert_int_equal(heddle_web_address_read("0.0.0.0", address, &port), HEDDLE_OK);
    assert_int_equal(port, 7);
    assert_int_equal(heddle_web_address_read("10.0.0.1:90", address, &port), HEDDLE_OK);
    assert_string_equal(address, "10.0.0.1");
    assert_int_equal(port, 90);
    assert_int_equal(heddle_web_address_read("::1", address, &port), HEDDLE_OK);
    assert_string_equal(address, "::1");
    assert_int_equal(heddle_web_address_read("[::1]:91", address, &port), HEDDLE_OK);
    assert_int_equal(port, 91);
    assert_int_equal(heddle_web_address_read("localhost:92", address, &port), HEDDLE_OK);
    assert_string_equal(address, "127.0.0.1");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (heddle_web_address_read(bad[i], address, &port) != HEDDLE_INVALID)
            fail_msg("'%s' was not refused", bad[i]);
    assert_non_null(strstr(heddle_last_error(), "is not an address to listen on"));
    assert_true(heddle_web_is_loopback("127.0.0.2"));
    assert_false(heddle_web_is_loopback("127.evil"));
}

static void check_body(const char *text, size_t size, bool good)
{
    cJSON *json = NULL;
    heddle_status status = heddle_web_json_read(text, size, &json);
    if ((status == HEDDLE_OK) != good || (json != NULL) != good)
        fail_msg("'%s' was %s", text, good ? "refused" : "not refused");
    cJSON_Delete(json);
}

static void a_body_is_one_json_object_without_zero_characters(void **state)
{
    static const char *const good[] = {"{}", "{\"text\": \"a\\n\"}", " {\"a\":\"\\\\u0000\"} "};
    static const char *const bad[] = {"",
                                      "[]",
                                      "\"a\"",
                                      "{",
                                      "{} {}",
                                      "{'a': 1}",
                                      "{\"a\": 1,}",
                                      "{\"a\":\"\\u0000\"}",
                                      "{\"a\":\"\xff\"}",
                                      "{\"a\":1,\"a\":2}"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        check_body(good[i], strlen(good[i]), true);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_body(bad[i], strlen(bad[i]), false);
    check_body("{\"a\":\"b\0\"}", 10, false);
}

static void deep_json_is_refused(void **state)
{
    enum { DEPTH = 100000 };
    char *text = malloc(DEPTH + 6);
    (void)state;
    assert_non_null(text);
    memcpy(text, "{\"a\":", 5);
    memset(text + 5, '[', DEPTH);
    text[DEPTH + 5] = '\0';
    check_body(text, DEPTH + 5, false);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_becomes_its_decoded_parts),
        cmocka_unit_test(a_path_that_could_lead_elsewhere_is_refused),
        cmocka_unit_test(a_long_or_deep_path_is_refused),
        cmocka_unit_test(a_pattern_fits_whole_paths_only),
        cmocka_unit_test(a_query_gives_the_first_value_decoded),
        cmocka_unit_test(a_cookie_is_found_among_others),
        cmocka_unit_test(a_secret_is_compared_whole),
        cmocka_unit_test(only_names_that_nobody_else_can_make_point_here_are_served),
        cmocka_unit_test(an_origin_is_the_host_with_its_port),
        cmocka_unit_test(an_address_to_listen_on_is_in_numbers),
        cmocka_unit_test(a_body_is_one_json_object_without_zero_characters),
        cmocka_unit_test(deep_json_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
