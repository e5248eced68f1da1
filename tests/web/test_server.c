// The server on real sockets: limits of time, size, rate and number, and streams of events.

#include "web/server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

// cmocka.h needs the headers above
#include <cmocka.h>

enum { PATIENCE = 60, MOST_BODY = 1000, ANSWER_SIZE = 8192 }; // seconds; a test that waits so long has failed

static char last_body[2 * MOST_BODY];

static void echo(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    (void)context;
    snprintf(last_body, sizeof last_body, "%s", request->body);
    heddle_web_answer_bytes(answer, "text/plain", strdup(request->found[0]), strlen(request->found[0]));
}

static void events(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    (void)context;
    (void)request;
    *answer = (heddle_web_answer){.status = HEDDLE_WEB_OK, .events = true};
}

static const heddle_web_route routes[] = {
    {"GET", "/echo/*", echo, NULL}, {"PUT", "/echo/*", echo, NULL}, {"GET", "/events", events, NULL}, {0}};

typedef struct running {
    heddle_web_server *server;
    int port;
    char token[64];
} running;

static running begin(heddle_web_settings settings)
{
    running now = {0};
    settings.routes = routes;
    settings.most_body = MOST_BODY;
    assert_int_equal(heddle_web_start(&settings, &now.server), HEDDLE_OK);
    const char *url = heddle_web_url(now.server), *begin_of_port = strrchr(url, ':') + 1;
    now.port = (int)strtol(begin_of_port, NULL, 10);
    snprintf(now.token, sizeof now.token, "%s", strchr(url, '=') + 1);
    return now;
}

static int dial(const running *now)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)now->port)};
    struct timeval patience = {.tv_sec = PATIENCE};
    int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_true(made >= 0);
    setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    assert_int_equal(connect(made, (struct sockaddr *)&address, sizeof address), 0);
    return made;
}

static void say(int to, const char *text)
{
    send(to, text, strlen(text), MSG_NOSIGNAL); // the other side may have hung up
}

// Sends a head with the token; `more`: further headers, and the body.
static void ask(const running *now, int to, const char *line, const char *more)
{
    char text[2048];
    snprintf(text, sizeof text, "%s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n%s", line, now->token,
             more);
    say(to, text);
}

// Reads until `end` was read or the other side hangs up.
static void hear(int from, const char *end, char answer[ANSWER_SIZE])
{
    size_t used = 0;
    answer[0] = '\0';
    while (!(end && strstr(answer, end)) && used < ANSWER_SIZE - 1) {
        ssize_t count = recv(from, answer + used, ANSWER_SIZE - 1 - used, 0);
        if (count <= 0)
            break;
        used += (size_t)count;
        answer[used] = '\0';
    }
}

static void answers_carry_what_protects_the_page(void **state)
{
    char answer[ANSWER_SIZE];
    running now = begin((heddle_web_settings){0});
    int to = dial(&now);
    (void)state;
    ask(&now, to, "GET /echo/hello", "Connection: close\r\n\r\n");
    hear(to, NULL, answer);
    assert_non_null(strstr(answer, "HTTP/1.1 200"));
    assert_non_null(strstr(answer, "\r\n\r\nhello"));
    assert_non_null(strstr(answer, "Content-Security-Policy: default-src 'none'"));
    assert_non_null(strstr(answer, "X-Content-Type-Options: nosniff"));
    assert_null(strstr(answer, "Set-Cookie"));
    close(to);
    heddle_web_stop(now.server);
}

static void a_body_arrives_whole_and_one_that_is_too_large_is_answered(void **state)
{
    char answer[ANSWER_SIZE], piece[600];
    running now = begin((heddle_web_settings){0});
    int to = dial(&now);
    (void)state;
    ask(&now, to, "PUT /echo/x",
        "Content-Type: application/json\r\nContent-Length: 9\r\nConnection: close\r\n\r\n{\"a\":");
    say(to, "123}");
    hear(to, NULL, answer);
    assert_non_null(strstr(answer, "HTTP/1.1 200"));
    assert_string_equal(last_body, "{\"a\":123}");
    close(to);
    to = dial(&now); // its size is not known before it comes
    ask(&now, to, "PUT /echo/x",
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n");
    memset(piece, ' ', sizeof piece - 1);
    piece[sizeof piece - 1] = '\0';
    for (int i = 0; i < 2; i++) {
        say(to, "257\r\n");
        say(to, piece);
        say(to, "\r\n");
    }
    say(to, "0\r\n\r\n");
    hear(to, NULL, answer);
    assert_non_null(strstr(answer, "HTTP/1.1 413"));
    assert_non_null(strstr(answer, "{\"error\":\"the body is too large\"}"));
    close(to);
    heddle_web_stop(now.server);
}

// One byte a tenth of a second would keep a limit on silence from ever ending.
static bool hangs_up_on_drips(const running *now, const char *line, const char *headers)
{
    char byte;
    int to = dial(now);
    bool ended = false;
    if (line)
        ask(now, to, line, headers);
    for (int i = 0; i < 10 * PATIENCE && !ended; i++) {
        say(to, "x");
        usleep(100000);
        ended = recv(to, &byte, 1, MSG_DONTWAIT) == 0;
    }
    close(to);
    return ended;
}

static void a_slow_client_is_hung_up_on(void **state)
{
    running now = begin((heddle_web_settings){.seconds = 1});
    (void)state;
    assert_true(hangs_up_on_drips(&now, NULL, NULL));
    assert_true(
        hangs_up_on_drips(&now, "PUT /echo/x", "Content-Type: application/json\r\nContent-Length: 999\r\n\r\n"));
    heddle_web_stop(now.server);
}

static void too_many_requests_are_told_to_wait(void **state)
{
    char answer[ANSWER_SIZE] = "";
    running now = begin((heddle_web_settings){.most_requests = 1});
    (void)state;
    for (int i = 0; i < 1000 && !strstr(answer, "HTTP/1.1 429"); i++) {
        int to = dial(&now);
        ask(&now, to, "GET /echo/x", "Connection: close\r\n\r\n");
        hear(to, NULL, answer);
        close(to);
    }
    assert_non_null(strstr(answer, "HTTP/1.1 429"));
    assert_non_null(strstr(answer, "Retry-After: 1"));
    heddle_web_stop(now.server);
}

static void connections_beyond_the_limit_wait_and_the_others_are_served(void **state)
{
    enum { LIMIT = 3 };
    char answer[ANSWER_SIZE], byte;
    int held[LIMIT];
    running now = begin((heddle_web_settings){.most_connections = LIMIT});
    (void)state;
    for (int i = 0; i < LIMIT; i++) {
        held[i] = dial(&now);
        ask(&now, held[i], "GET /echo/x", "\r\n");
        hear(held[i], "\r\n\r\nx", answer);
        assert_non_null(strstr(answer, "HTTP/1.1 200"));
    }
    int further = dial(&now);
    ask(&now, further, "GET /echo/z", "\r\n");
    for (int i = 0; i < LIMIT; i++) {
        ask(&now, held[i], "GET /echo/y", "\r\n");
        hear(held[i], "\r\n\r\ny", answer);
        assert_non_null(strstr(answer, "HTTP/1.1 200"));
    }
    assert_int_equal(recv(further, &byte, 1, MSG_DONTWAIT), -1);
    close(held[0]);
    hear(further, "\r\n\r\nz", answer);
    assert_non_null(strstr(answer, "HTTP/1.1 200"));
    close(further);
    for (int i = 1; i < LIMIT; i++)
        close(held[i]);
    heddle_web_stop(now.server);
}

static void strangers_do_not_spend_what_the_owner_may_ask(void **state)
{
    char answer[ANSWER_SIZE];
    running now = begin((heddle_web_settings){.most_requests = 1});
    (void)state;
    for (int i = 0; i < 40; i++) {
        int to = dial(&now);
        say(to, "GET /echo/x HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
        hear(to, NULL, answer);
        assert_true(strstr(answer, "HTTP/1.1 401") || strstr(answer, "HTTP/1.1 429"));
        close(to);
    }
    int to = dial(&now);
    ask(&now, to, "GET /echo/x", "Connection: close\r\n\r\n");
    hear(to, NULL, answer);
    assert_non_null(strstr(answer, "HTTP/1.1 200"));
    close(to);
    heddle_web_stop(now.server);
}

static void strangers_who_only_wait_do_not_keep_the_owner_out(void **state)
{
    enum { LIMIT = 4, STRANGERS = 3 * LIMIT };
    char answer[ANSWER_SIZE];
    int strangers[STRANGERS];
    running now = begin((heddle_web_settings){.most_connections = LIMIT, .seconds = 4 * PATIENCE});
    int owner = dial(&now);
    (void)state;
    ask(&now, owner, "GET /events", "\r\n");
    hear(owner, "retry: 1000", answer);
    for (int i = 0; i < STRANGERS; i++)
        strangers[i] = dial(&now);
    int to = dial(&now);
    ask(&now, to, "GET /echo/x", "\r\n");
    hear(to, "\r\n\r\nx", answer);
    assert_non_null(strstr(answer, "HTTP/1.1 200"));
    hear(strangers[0], NULL, answer); // the oldest goes first, and with nothing said
    assert_string_equal(answer, "");
    heddle_web_send(now.server, "still", "1"); // the owner's stream, which is older, was let be
    hear(owner, "event: still\ndata: 1\n\n", answer);
    assert_non_null(strstr(answer, "event: still"));
    for (int i = 0; i < STRANGERS; i++)
        close(strangers[i]);
    close(to);
    close(owner);
    heddle_web_stop(now.server);
}

static void events_reach_every_stream_and_the_end_ends_them(void **state)
{
    enum { STREAMS = 20 };
    char answer[ANSWER_SIZE];
    int streams[STREAMS];
    running now = begin((heddle_web_settings){.seconds = 1});
    (void)state;
    for (int i = 0; i < STREAMS; i++) {
        streams[i] = dial(&now);
        ask(&now, streams[i], "GET /events", "\r\n");
        hear(streams[i], "retry: 1000", answer);
        assert_non_null(strstr(answer, "Content-Type: text/event-stream"));
    }
    sleep(3); // a stream is not a slow client
    heddle_web_send(now.server, "verdict", "{\"passed\":true}");
    heddle_web_send(now.server, "source", "{}");
    for (int i = 0; i < STREAMS; i++) {
        hear(streams[i], "event: source\ndata: {}\n\n", answer);
        assert_non_null(strstr(answer, "event: verdict\ndata: {\"passed\":true}\n\n"));
    }
    close(streams[0]); // one that went away does not disturb the others
    heddle_web_send(now.server, "third", "1");
    for (int i = 1; i < STREAMS; i++) {
        hear(streams[i], "event: third\ndata: 1\n\n", answer);
        assert_non_null(strstr(answer, "event: third"));
    }
    heddle_web_stop(now.server);
    for (int i = 1; i < STREAMS; i++) {
        hear(streams[i], NULL, answer);
        assert_true(recv(streams[i], answer, 1, 0) <= 0);
        close(streams[i]);
    }
}

static void a_port_in_use_is_named_or_avoided(void **state)
{
    heddle_web_server *second = NULL;
    running now = begin((heddle_web_settings){0});
    heddle_web_settings same = {.routes = routes, .port = now.port};
    (void)state;
    assert_int_equal(heddle_web_start(&same, &second), HEDDLE_IO);
    assert_non_null(strstr(heddle_last_error(), "--port chooses another"));
    assert_null(second);
    running other = begin((heddle_web_settings){0});
    assert_int_not_equal(other.port, now.port);
    assert_string_not_equal(other.token, now.token);
    heddle_web_stop(other.server);
    heddle_web_stop(now.server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_carry_what_protects_the_page),
        cmocka_unit_test(a_body_arrives_whole_and_one_that_is_too_large_is_answered),
        cmocka_unit_test(a_slow_client_is_hung_up_on),
        cmocka_unit_test(too_many_requests_are_told_to_wait),
        cmocka_unit_test(connections_beyond_the_limit_wait_and_the_others_are_served),
        cmocka_unit_test(strangers_do_not_spend_what_the_owner_may_ask),
        cmocka_unit_test(strangers_who_only_wait_do_not_keep_the_owner_out),
        cmocka_unit_test(events_reach_every_stream_and_the_end_ends_them),
        cmocka_unit_test(a_port_in_use_is_named_or_avoided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
