// Loads a server of /v1/predict on this machine from one thread, over connections that stay open, and prints what it
// saw as JSON. load.py builds and runs it:
//
//     client PORT TOKEN REQUESTS CONNECTIONS SECONDS RATE
//
// REQUESTS is a file with a line per request: the class that the answer must name, a space, and the body. They are sent
// in turn. With RATE 0 a connection sends its next request when it has its answer, which finds the peak rate. With
// another RATE requests become due at that rate whatever the server does, and wait for a free connection: a time counts
// from when the request was due, so that a server that stops for a moment cannot hide it.

#define _GNU_SOURCE // strcasestr
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_SIZE = 1 << 16, MOST_EVENTS = 64, HEAD_SIZE = 512, CLASS_SIZE = 32, PATIENCE = 5 };

typedef struct request {
    char *text; // with its head
    size_t size;
    char class[CLASS_SIZE]; // what the answer has to contain, without spaces
} request;

typedef struct connection {
    int socket;
    bool is_busy;
    const request *sent;
    size_t left; // of it to send
    double due;
    size_t held; // of the answer
    char answer[ANSWER_SIZE];
} connection;

static request *requests;
static size_t request_count, next_request;
static connection *connections;
static int connection_count, poll_set;
static double rate, first_due, *times;
static size_t time_count, time_room, due_count; // the last: how many have been sent at a rate
static uint64_t error_count;
static char first_error[256];

static void die(const char *what)
{
    fprintf(stderr, "client: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

// --- requests --------------------------------------------------------------------------------------------------------

static void read_requests(const char *path, const char *port, const char *token)
{
    FILE *file = fopen(path, "r");
    char *line = NULL, head[HEAD_SIZE];
    size_t room = 0;
    if (!file)
        die(path);
    for (ssize_t length; (length = getline(&line, &room, file)) > 0;) {
        char *body = strchr(line, ' ');
        if (!body)
            die("a line without a space");
        *body++ = '\0';
        body[strcspn(body, "\n")] = '\0';
        requests = realloc(requests, (request_count + 1) * sizeof *requests);
        request *one = &requests[request_count++];
        const int size = snprintf(head, sizeof head,
                                  "POST /v1/predict HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nAuthorization: Bearer %s\r\n"
                                  "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                                  port, token, strlen(body));
        one->size = (size_t)size + strlen(body);
        one->text = malloc(one->size + 1);
        if (!one->text)
            die("no memory");
        snprintf(one->text, one->size + 1, "%s%s", head, body);
        snprintf(one->class, sizeof one->class, "\"class\":%s,", line);
    }
    free(line);
    fclose(file);
    if (request_count == 0)
        die("no requests");
}

// --- connections -----------------------------------------------------------------------------------------------------

static void open_connection(connection *one, int port)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int yes = 1;
    one->socket = socket(AF_INET, SOCK_STREAM, 0);
    if (one->socket < 0 || connect(one->socket, (const struct sockaddr *)&address, sizeof address) != 0)
        die("cannot connect");
    setsockopt(one->socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = one};
    if (epoll_ctl(poll_set, EPOLL_CTL_ADD, one->socket, &event) != 0)
        die("epoll");
}

static void watch(connection *one, bool writing)
{
    struct epoll_event event = {.events = writing ? EPOLLIN | EPOLLOUT : EPOLLIN, .data.ptr = one};
    epoll_ctl(poll_set, EPOLL_CTL_MOD, one->socket, &event);
}

static void give_up(const char *why, const char *answer)
{
    if (error_count++ == 0)
        snprintf(first_error, sizeof first_error, "%s: %.160s", why, answer);
}

static void send_rest(connection *one, bool was_watched)
{
    while (one->left > 0) {
        const ssize_t sent =
            send(one->socket, one->sent->text + one->sent->size - one->left, one->left, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) {
            if (!was_watched)
                watch(one, true);
            return;
        }
        if (sent < 0)
            die("the server hung up");
        one->left -= (size_t)sent;
    }
    if (was_watched)
        watch(one, false);
}

static void send_next(connection *one, double due)
{
    one->is_busy = true;
    one->due = due;
    one->held = 0;
    one->sent = &requests[next_request];
    next_request = (next_request + 1) % request_count;
    one->left = one->sent->size;
    send_rest(one, false);
}

// --- answers ---------------------------------------------------------------------------------------------------------

static void remember(double seconds)
{
    if (time_count == time_room) {
        time_room = time_room ? 2 * time_room : 1 << 16;
        times = realloc(times, time_room * sizeof *times);
        if (!times)
            die("no memory");
    }
    times[time_count++] = seconds;
}

// Whether the answer names the class, however many spaces it is written with.
static bool names_class(const char *body, const char *class)
{
    const char *at = strstr(body, "\"class\"");
    if (!at)
        return false;
    for (; *class; at++)
        if (*at != ' ' && *at != *class ++)
            return false;
    return true;
}

// True: the answer is whole.
static bool take_answer(connection *one)
{
    one->answer[one->held] = '\0';
    char *body = strstr(one->answer, "\r\n\r\n"), *length;
    if (!body)
        return false;
    *body = '\0'; // the head ends here while we look for its length
    length = strcasestr(one->answer, "\r\nContent-Length:");
    *body = '\r';
    if (!length)
        die("an answer without a length");
    body += 4;
    if (one->held < (size_t)(body - one->answer) + strtoul(length + strlen("\r\nContent-Length:"), NULL, 10))
        return false;
    if (strncmp(one->answer, "HTTP/1.1 200 ", strlen("HTTP/1.1 200 ")) != 0)
        give_up("not 200", one->answer);
    else if (!names_class(body, one->sent->class))
        give_up(one->sent->class, body);
    remember(now() - one->due);
    one->is_busy = false;
    return true;
}

static bool receive(connection *one)
{
    const ssize_t got = recv(one->socket, one->answer + one->held, sizeof one->answer - 1 - one->held, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN)
        return false;
    if (got <= 0)
        die("the server hung up");
    one->held += (size_t)got;
    return take_answer(one);
}

// --- load ------------------------------------------------------------------------------------------------------------

static double due_time(size_t index)
{
    return first_due + (double)index / rate;
}

// Sends what is due on connections that are free, which take turns: a server may close one that is idle for long.
static void send_due(double end)
{
    static int turn;
    for (int i = 0; i < connection_count && due_time(due_count) <= now() && due_time(due_count) < end; i++) {
        turn = (turn + 1) % connection_count;
        if (!connections[turn].is_busy)
            send_next(&connections[turn], due_time(due_count++));
    }
}

static int count_busy(void)
{
    int count = 0;
    for (int i = 0; i < connection_count; i++)
        count += connections[i].is_busy;
    return count;
}

// Waits for answers; where a connection is free, until the next request is due at most.
static int wait_for_events(struct epoll_event *events, double end)
{
    struct timespec wait = {.tv_sec = PATIENCE};
    const bool is_due = rate > 0 && due_time(due_count) < end && count_busy() < connection_count;
    const double until = is_due ? due_time(due_count) - now() : PATIENCE;
    if (until < PATIENCE)
        wait = (struct timespec){.tv_nsec = until > 0 ? (long)(until * 1e9) % 1000000000L : 0};
    const int count = epoll_pwait2(poll_set, events, MOST_EVENTS, &wait, NULL);
    if (count < 0 && errno != EINTR)
        die("epoll");
    if (count == 0 && until >= PATIENCE)
        die("no answer for 5 seconds");
    return count;
}

static double run(double seconds)
{
    struct epoll_event events[MOST_EVENTS];
    const double begin = now(), end = begin + seconds;
    first_due = begin;
    if (rate <= 0)
        for (int i = 0; i < connection_count; i++)
            send_next(&connections[i], now());
    while (count_busy() > 0 || (rate > 0 && due_time(due_count) < end)) {
        if (rate > 0)
            send_due(end);
        const int count = wait_for_events(events, end);
        for (int i = 0; i < count; i++) {
            connection *one = events[i].data.ptr;
            if (events[i].events & EPOLLOUT)
                send_rest(one, true);
            if (!(events[i].events & EPOLLIN) || !receive(one))
                continue;
            if (rate <= 0 && now() < end)
                send_next(one, now());
        }
    }
    return now() - begin;
}

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double milliseconds_at(double part)
{
    size_t index = (size_t)(part * (double)time_count);
    return 1e3 * times[index < time_count ? index : time_count - 1];
}

int main(int count, char **arguments)
{
    if (count != 7) {
        fprintf(stderr, "usage: client PORT TOKEN REQUESTS CONNECTIONS SECONDS RATE\n");
        return 2;
    }
    read_requests(arguments[3], arguments[1], arguments[2]);
    connection_count = atoi(arguments[4]);
    rate = atof(arguments[6]);
    poll_set = epoll_create1(0);
    connections = calloc((size_t)connection_count, sizeof *connections);
    if (poll_set < 0 || !connections)
        die("no memory");
    for (int i = 0; i < connection_count; i++)
        open_connection(&connections[i], atoi(arguments[1]));
    const double seconds = run(atof(arguments[5]));
    qsort(times, time_count, sizeof *times, compare);
    printf(
        "{\"requests\": %zu, \"seconds\": %.3f, \"rate\": %.1f, \"errors\": %llu, \"p50_ms\": %.3f, \"p90_ms\": %.3f, "
        "\"p99_ms\": %.3f, \"p999_ms\": %.3f, \"most_ms\": %.3f}\n",
        time_count, seconds, (double)time_count / seconds, (unsigned long long)error_count, milliseconds_at(0.5),
        milliseconds_at(0.9), milliseconds_at(0.99), milliseconds_at(0.999), milliseconds_at(1));
    if (error_count)
        fprintf(stderr, "client: %s\n", first_error);
    return error_count > 0;
}
