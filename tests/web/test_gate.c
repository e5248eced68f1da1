// Who may pass the gate of the web server, and what those who may not are told.

#include "web/gate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

// cmocka.h needs the headers above
#include <cmocka.h>

static void nothing(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    (void)context;
    (void)request;
    (void)answer;
}

static const heddle_web_route routes[] = {{"GET", "/", NULL, "learn.html"},
                                          {"GET", "/v1/thing/*", nothing, NULL},
                                          {"PUT", "/v1/thing/*/text", nothing, NULL},
                                          {"POST", "/v1/thing/*/go", nothing, NULL},
                                          {0}};
static const heddle_web_gate gate = {
    .address = "127.0.0.1", .token = "secret", .cookie = "heddle-8765", .routes = routes, .most_body = 1000};
static heddle_web_entry entry;

// A request of our own page, to be made worse.
static heddle_web_head own(const char *method, const char *target)
{
    return (heddle_web_head){.method = method,
                             .target = target,
                             .host = "localhost:8765",
                             .hosts = 1,
                             .origin = "http://localhost:8765",
                             .fetch_site = "same-origin",
                             .fetch_mode = "cors",
                             .content_type = strcmp(method, "GET") == 0 ? NULL : "application/json",
                             .cookie = "heddle-8765=secret"};
}

static int enter(heddle_web_head head)
{
    return heddle_web_enter(&gate, &head, &entry);
}

static void our_own_page_may_read_and_change(void **state)
{
    (void)state;
    assert_int_equal(enter(own("GET", "/v1/thing/7")), 0);
    assert_ptr_equal(entry.route, &routes[1]);
    assert_string_equal(entry.found[0], "7");
    assert_int_equal(enter(own("HEAD", "/v1/thing/7")), 0);
    assert_int_equal(enter(own("PUT", "/v1/thing/7/text")), 0);
    assert_ptr_equal(entry.route, &routes[2]);
    assert_int_equal(enter(own("GET", "/")), 0);
    assert_string_equal(entry.asset, "learn.html");
    assert_int_equal(enter(own("GET", "/style.css")), 0);
    assert_string_equal(entry.asset, "style.css");
}

static void a_request_without_the_token_learns_nothing(void **state)
{
    static const char *const cookies[] = {NULL, "", "heddle-8765=", "heddle-8765=secre", "heddle-8766=secret"};
    static const char *const targets[] = {"/", "/v1/thing/7", "/nothing/there", "/?token=wrong", "/?token="};
    (void)state;
    for (size_t i = 0; i < sizeof cookies / sizeof *cookies; i++)
        for (size_t k = 0; k < sizeof targets / sizeof *targets; k++) {
            heddle_web_head head = own("GET", targets[k]);
            head.cookie = cookies[i];
            assert_int_equal(enter(head), HEDDLE_WEB_NO_TOKEN);
        }
    heddle_web_head head = own("POST", "/v1/thing/7/go?token=secret"); // in an address only to open a page
    head.cookie = NULL;
    assert_int_equal(enter(head), HEDDLE_WEB_NO_TOKEN);
    head = own("GET", "/style.css"); // of the page that says so
    head.cookie = NULL;
    assert_int_equal(enter(head), 0);
}

static void the_token_comes_by_address_cookie_or_header(void **state)
{
    heddle_web_head head = own("GET", "/?token=secret");
    (void)state;
    head.cookie = NULL;
    assert_int_equal(enter(head), 0);
    assert_true(entry.by_address);
    assert_int_equal(enter(own("GET", "/")), 0);
    assert_false(entry.by_address);
    head = own("GET", "/"); // a page on another port may have set one of the same name
    head.cookie = "heddle-8765=other; heddle-8765="
                  "0123456789012345678901234567890123456789; heddle-8765=secret";
    assert_int_equal(enter(head), 0);
    head = own("GET", "/v1/thing/7");
    head.cookie = NULL;
    head.authorization = "Bearer secret";
    assert_int_equal(enter(head), 0);
}

static void another_origin_may_not_ask_even_with_the_cookie(void **state)
{
    static const char *const sites[] = {"cross-site", "same-site", "anything"};
    static const char *const origins[] = {"http://evil.example", "null", "http://localhost:3000", ""};
    (void)state;
    for (size_t i = 0; i < sizeof sites / sizeof *sites; i++) {
        heddle_web_head head = own("GET", "/v1/thing/7");
        head.origin = NULL;
        head.fetch_site = sites[i];
        assert_int_equal(enter(head), HEDDLE_WEB_FORBIDDEN);
    }
    for (size_t i = 0; i < sizeof origins / sizeof *origins; i++) {
        heddle_web_head head = own("POST", "/v1/thing/7/go");
        head.origin = origins[i];
        head.fetch_site = NULL;
        assert_int_equal(enter(head), HEDDLE_WEB_FORBIDDEN);
    }
}

static void a_link_elsewhere_may_open_the_page(void **state)
{
    heddle_web_head head = own("GET", "/?token=secret");
    (void)state;
    head.origin = NULL;
    head.cookie = NULL;
    head.fetch_site = "cross-site";
    head.fetch_mode = "navigate";
    assert_int_equal(enter(head), 0);
    head.method = "POST";
    assert_int_equal(enter(head), HEDDLE_WEB_FORBIDDEN);
}

static void a_host_that_is_not_ours_is_refused_first(void **state)
{
    heddle_web_head head = own("GET", "/../x");
    (void)state;
    head.host = "evil.example:8765";
    head.origin = "http://evil.example:8765"; // as with a name that was made to point here
    assert_int_equal(enter(head), HEDDLE_WEB_WRONG_HOST);
    head = own("GET", "/");
    head.hosts = 2;
    assert_int_equal(enter(head), HEDDLE_WEB_BAD);
    head.hosts = 0;
    head.host = NULL;
    assert_int_equal(enter(head), HEDDLE_WEB_BAD);
}

static void a_wrong_address_or_method_is_named(void **state)
{
    (void)state;
    assert_int_equal(enter(own("GET", "/nothing")), HEDDLE_WEB_NOT_FOUND);
    assert_int_equal(enter(own("GET", "/web/../learn.html")), HEDDLE_WEB_BAD);
    assert_int_equal(enter(own("DELETE", "/v1/thing/7")), HEDDLE_WEB_WRONG_METHOD);
    assert_string_equal(entry.allowed, "GET");
    assert_int_equal(enter(own("GET", "/v1/thing/7/text")), HEDDLE_WEB_WRONG_METHOD);
    assert_string_equal(entry.allowed, "PUT");
    assert_int_equal(enter(own("PUT", "/style.css")), HEDDLE_WEB_WRONG_METHOD);
}

static void a_body_must_be_json_and_not_too_large(void **state)
{
    static const char *const types[] = {NULL, "text/plain", "application/x-www-form-urlencoded", "application/jsonp"};
    static const char *const lengths[] = {"1001", "99999999999999999999999", "-1", "x"};
    heddle_web_head head;
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        head = own("PUT", "/v1/thing/7/text");
        head.content_type = types[i];
        assert_int_equal(enter(head), HEDDLE_WEB_WRONG_TYPE);
    }
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        head = own("PUT", "/v1/thing/7/text");
        head.content_length = lengths[i];
        assert_int_equal(enter(head), HEDDLE_WEB_TOO_LARGE);
    }
    head = own("PUT", "/v1/thing/7/text");
    head.content_type = "Application/JSON; charset=utf-8";
    head.content_length = "1000";
    assert_int_equal(enter(head), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(our_own_page_may_read_and_change),
        cmocka_unit_test(a_request_without_the_token_learns_nothing),
        cmocka_unit_test(the_token_comes_by_address_cookie_or_header),
        cmocka_unit_test(another_origin_may_not_ask_even_with_the_cookie),
        cmocka_unit_test(a_link_elsewhere_may_open_the_page),
        cmocka_unit_test(a_host_that_is_not_ours_is_refused_first),
        cmocka_unit_test(a_wrong_address_or_method_is_named),
        cmocka_unit_test(a_body_must_be_json_and_not_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
