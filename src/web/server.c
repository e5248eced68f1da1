// The server on libmicrohttpd: one thread that waits for all connections, and one that looks at the clock. What may
// pass is gate.c's; what is answered, the routes'.

#include "web/server.h"

#include "web/assets.h"
#include "web/connections.h"
#include "web/events.h"
#include "web/gate.h"
#include "web/listen.h"
#include "web/missing.h"

#if HEDDLE_HAVE_MICROHTTPD

#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/spawn.h"
#include "base/text.h"

enum {
    USUAL_BODY = 4 << 20,
    USUAL_CONNECTIONS = 1200,
    OTHER_FILES = 128, // that the program may have open besides
    USUAL_REQUESTS = 500,
    USUAL_SECONDS = 20,
    DISCARDED = 4,  // so many times the largest body are read and dropped before we hang up
    HEARTBEAT = 15, // seconds between comments on a stream
    CONNECTION_MEMORY = 24 << 10,
};

// Nothing foreign: no script, style, picture, frame or request of another origin, and none in the page's own text.
static const char policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// Requests that may come: a bucket that fills steadily.
typedef struct bucket {
    double allowance, counted; // how many may come now, and when that was reckoned
} bucket;

struct heddle_web_server {
    heddle_web_settings settings;
    char address[HEDDLE_WEB_NAME_SIZE], token[HEDDLE_WEB_TOKEN_SIZE], cookie[HEDDLE_WEB_COOKIE_SIZE];
    char url[HEDDLE_WEB_NAME_SIZE + 64];
    heddle_web_gate gate;
    struct MHD_Daemon *daemon;
    heddle_web_streams *streams;
    heddle_web_connections *connections;
    bucket owners, strangers; // requests with the token, and without: these must not keep those out
    pthread_mutex_t lock;     // of the rest
    pthread_cond_t stopped, finished;
    int deferred; // requests that somebody has yet to finish
    bool stopping, has_clock;
    pthread_t clock;
};

// A request that is answered later: its connection sleeps meanwhile.
struct heddle_web_later {
    heddle_web_server *server;
    struct MHD_Connection *connection;
    bool is_deferred, is_finished; // the second under the server's lock
    heddle_web_answer answer;
};

// One request, from its first line to the end of its answer.
typedef struct exchange {
    char *target;
    bool entered; // its head was looked at
    heddle_web_entry entry;
    char *body;
    size_t size, room, dropped;
    heddle_web_later later;
} exchange;

// --- answers ---------------------------------------------------------------------------------------------------------

static void add_headers(const heddle_web_server *server, const exchange *now, struct MHD_Response *response,
                        const heddle_web_answer *answer)
{
    const char *type = answer->events ? "text/event-stream" : answer->type;
    char cookie[HEDDLE_WEB_COOKIE_SIZE + HEDDLE_WEB_TOKEN_SIZE + 64];
    MHD_add_response_header(response, "Content-Security-Policy", answer->policy ? answer->policy : policy);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    MHD_add_response_header(response, "Cross-Origin-Opener-Policy", "same-origin");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    if (type)
        MHD_add_response_header(response, "Content-Type", type);
    if (now->entry.status == HEDDLE_WEB_WRONG_METHOD)
        MHD_add_response_header(response, "Allow", now->entry.allowed);
    if (now->entry.status == HEDDLE_WEB_TOO_MANY)
        MHD_add_response_header(response, "Retry-After", "1");
    if (now->entry.status == HEDDLE_WEB_NO_TOKEN)
        MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    if (!now->entry.by_address)
        return;
    snprintf(cookie, sizeof cookie, "%s=%s; Path=/; HttpOnly; SameSite=Strict", server->cookie, server->token);
    MHD_add_response_header(response, "Set-Cookie", cookie);
}

static heddle_web_connection *connection_of(struct MHD_Connection *of)
{
    const union MHD_ConnectionInfo *about = MHD_get_connection_info(of, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return about ? about->socket_context : NULL;
}

static void set_state(heddle_web_server *server, struct MHD_Connection *of, heddle_web_state state)
{
    heddle_web_connection_set(server->connections, connection_of(of), state);
}

static enum MHD_Result send_answer(heddle_web_server *server, struct MHD_Connection *to, const exchange *now,
                                   heddle_web_answer *answer)
{
    struct MHD_Response *response;
    if (answer->events)
        response = heddle_web_streams_open(server->streams, to);
    else if (answer->fixed) // libmicrohttpd does not write to it
        response = MHD_create_response_from_buffer(answer->size, (void *)(uintptr_t)answer->fixed, // NOLINT
                                                   MHD_RESPMEM_PERSISTENT);
    else
        response = MHD_create_response_from_buffer(answer->size, answer->body, MHD_RESPMEM_MUST_FREE);
    if (!response) {
        heddle_web_answer_free(answer);
        return MHD_NO;
    }
    add_headers(server, now, response, answer);
    set_state(server, to, answer->events ? HEDDLE_WEB_STREAMING : HEDDLE_WEB_ANSWERING);
    enum MHD_Result result = MHD_queue_response(to, (unsigned)answer->status, response);
    MHD_destroy_response(response);
    return result;
}

static void answer_asset(heddle_web_answer *answer, const char *name)
{
    const heddle_web_asset *asset = heddle_web_asset_find(name);
    if (!asset) {
        heddle_web_answer_error(answer, HEDDLE_WEB_NOT_FOUND, "there is nothing at this address");
        return;
    }
    *answer = (heddle_web_answer){.status = HEDDLE_WEB_OK,
                                  .type = heddle_web_type(name),
                                  .fixed = asset->begin,
                                  .size = (size_t)(asset->end - asset->begin)};
}

static enum MHD_Result send_refusal(heddle_web_server *server, struct MHD_Connection *to, const exchange *now)
{
    heddle_web_answer answer = {0};
    const char *accept = MHD_lookup_connection_value(to, MHD_HEADER_KIND, "Accept");
    if (now->entry.status == HEDDLE_WEB_NO_TOKEN && accept && strstr(accept, "text/html")) {
        answer_asset(&answer, "no-token.html");
        answer.status = HEDDLE_WEB_NO_TOKEN;
    } else {
        heddle_web_answer_error(&answer, now->entry.status, "%s", now->entry.why);
    }
    return send_answer(server, to, now, &answer);
}

// --- requests --------------------------------------------------------------------------------------------------------

static enum MHD_Result count_hosts(void *context, enum MHD_ValueKind kind, const char *key, const char *value)
{
    (void)kind;
    (void)value;
    *(int *)context += strcasecmp(key, "Host") == 0;
    return MHD_YES;
}

// Whether one more request may come now.
static bool is_allowed(const heddle_web_server *server, bucket *from)
{
    double now = heddle_now(), most = 2.0 * server->settings.most_requests;
    from->allowance += (now - from->counted) * server->settings.most_requests;
    from->counted = now;
    if (from->allowance > most)
        from->allowance = most;
    if (from->allowance < 1)
        return false;
    from->allowance -= 1;
    return true;
}

static void enter(heddle_web_server *server, struct MHD_Connection *from, const char *method, exchange *now)
{
    heddle_web_head head = {.method = method, .target = now->target};
    const struct {
        const char *name, **value;
    } headers[] = {
        {"Host", &head.host},
        {"Origin", &head.origin},
        {"Cookie", &head.cookie},
        {"Authorization", &head.authorization},
        {"Content-Type", &head.content_type},
        {"Content-Length", &head.content_length},
        {"Sec-Fetch-Site", &head.fetch_site},
        {"Sec-Fetch-Mode", &head.fetch_mode},
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        *headers[i].value = MHD_lookup_connection_value(from, MHD_HEADER_KIND, headers[i].name);
    MHD_get_connection_values(from, MHD_HEADER_KIND, count_hosts, &head.hosts);
    heddle_web_enter(&server->gate, &head, &now->entry);
    if (now->entry.has_token)
        heddle_web_connection_trust(server->connections, connection_of(from));
    if (!is_allowed(server, now->entry.has_token ? &server->owners : &server->strangers)) {
        now->entry.status = HEDDLE_WEB_TOO_MANY;
        now->entry.why = "too many requests; try again in a second";
    }
}

// Keeps a piece of the body. The rest of one that is refused is read and dropped, within limits: a client that is hung
// up on while it sends does not see the answer. False: hang up.
static bool keep_body(const heddle_web_server *server, exchange *now, const char *data, size_t size)
{
    size_t most = server->settings.most_body;
    if (now->entry.status == 0 && size > most - now->size) {
        now->entry.status = HEDDLE_WEB_TOO_LARGE;
        now->entry.why = "the body is too large";
    }
    if (now->entry.status != 0) {
        now->dropped += size;
        return now->dropped <= DISCARDED * most;
    }
    if (now->size + size + 1 > now->room) {
        size_t room = 2 * (now->size + size + 1);
        char *moved = realloc(now->body, room);
        if (!moved)
            return false;
        now->body = moved;
        now->room = room;
    }
    memcpy(now->body + now->size, data, size);
    now->size += size;
    now->body[now->size] = '\0';
    return true;
}

static enum MHD_Result answer_request(heddle_web_server *server, struct MHD_Connection *to, exchange *now)
{
    heddle_web_answer answer = {0};
    if (now->entry.status != 0)
        return send_refusal(server, to, now);
    if (now->entry.asset) {
        answer_asset(&answer, now->entry.asset);
    } else if (now->later.is_deferred) {
        pthread_mutex_lock(&server->lock);
        bool is_finished = now->later.is_finished;
        answer = now->later.answer;
        pthread_mutex_unlock(&server->lock);
        if (!is_finished) // woken by something else
            return MHD_YES;
        now->later.answer = (heddle_web_answer){0};
    } else {
        now->later = (heddle_web_later){.server = server, .connection = to};
        heddle_web_request request = {
            .query = now->entry.path.query, .body = now->body ? now->body : "", .later = &now->later};
        request.size = now->size;
        memcpy(request.found, now->entry.found, sizeof request.found);
        now->entry.route->handle(server->settings.context, &request, &answer);
        if (now->later.is_deferred)
            return MHD_YES;
    }
    return send_answer(server, to, now, &answer);
}

heddle_web_later *heddle_web_defer(const heddle_web_request *request)
{
    heddle_web_later *later = request->later;
    heddle_web_server *server = later->server;
    pthread_mutex_lock(&server->lock);
    later->is_deferred = !server->stopping;
    server->deferred += later->is_deferred;
    pthread_mutex_unlock(&server->lock);
    if (!later->is_deferred)
        return NULL;
    set_state(server, later->connection, HEDDLE_WEB_WORKING);
    MHD_suspend_connection(later->connection); // before anybody can finish it
    return later;
}

void heddle_web_finish(heddle_web_later *later, heddle_web_answer *answer)
{
    heddle_web_server *server = later->server;
    struct MHD_Connection *sleeping = later->connection;
    pthread_mutex_lock(&server->lock);
    later->answer = *answer;
    later->is_finished = true;
    *answer = (heddle_web_answer){0};
    pthread_mutex_unlock(&server->lock);
    MHD_resume_connection(sleeping); // from here on the request may be gone
    pthread_mutex_lock(&server->lock);
    server->deferred--;
    pthread_cond_signal(&server->finished);
    pthread_mutex_unlock(&server->lock);
}

// Called once when the head is there, once per piece of the body, and once at its end.
static enum MHD_Result on_request(void *context, struct MHD_Connection *from, const char *url, const char *method,
                                  const char *version, const char *data, size_t *size, void **state)
{
    heddle_web_server *server = context;
    exchange *now = *state;
    (void)url;
    (void)version;
    if (!now)
        return MHD_NO;
    if (!now->entered) {
        now->entered = true;
        enter(server, from, method, now);
        return MHD_YES;
    }
    if (*size == 0)
        return answer_request(server, from, now);
    bool kept = keep_body(server, now, data, *size);
    *size = 0;
    return kept ? MHD_YES : MHD_NO;
}

static void *on_target(void *context, const char *target, struct MHD_Connection *from)
{
    exchange *now = calloc(1, sizeof *now);
    (void)context;
    (void)from;
    if (now)
        now->target = strdup(target);
    if (now && now->target)
        return now;
    free(now);
    return NULL;
}

static void on_end(void *context, struct MHD_Connection *of, void **state, enum MHD_RequestTerminationCode code)
{
    exchange *now = *state;
    (void)code;
    set_state(context, of, HEDDLE_WEB_WAITING);
    *state = NULL;
    if (!now)
        return;
    heddle_web_answer_free(&now->later.answer);
    free(now->target);
    free(now->body);
    free(now);
}

// --- connections and the clock ---------------------------------------------------------------------------------------

static void on_connection(void *context, struct MHD_Connection *of, void **kept,
                          enum MHD_ConnectionNotificationCode code)
{
    heddle_web_server *server = context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *about = MHD_get_connection_info(of, MHD_CONNECTION_INFO_CONNECTION_FD);
        *kept = about ? heddle_web_connection_add(server->connections, about->connect_fd) : NULL;
    } else {
        heddle_web_connection_remove(server->connections, *kept);
        *kept = NULL;
    }
}

// Hangs up on whoever takes too long: libmicrohttpd's own limit starts anew with every byte.
static void *watch_clock(void *context)
{
    heddle_web_server *server = context;
    int ticks = 0;
    pthread_mutex_lock(&server->lock);
    while (!server->stopping) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until); // the other may be set back by hours
        until.tv_sec++;
        pthread_cond_timedwait(&server->stopped, &server->lock, &until);
        pthread_mutex_unlock(&server->lock);
        heddle_web_connections_end_slow(server->connections, server->settings.seconds);
        if (++ticks % HEARTBEAT == 0)
            heddle_web_streams_send(server->streams, NULL, NULL);
        pthread_mutex_lock(&server->lock);
    }
    pthread_mutex_unlock(&server->lock);
    return NULL;
}

// --- starting --------------------------------------------------------------------------------------------------------

static heddle_status choose_token(heddle_web_server *server)
{
    unsigned char bytes[(HEDDLE_WEB_TOKEN_SIZE - 1) / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return heddle_fail(HEDDLE_IO, "no random numbers from the system: %s", strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(server->token + 2 * i, 3, "%02x", bytes[i]);
    return HEDDLE_OK;
}

// Each connection is an open file, of which most systems let a program have 1024 until it asks for more.
static void allow_connections(int count)
{
    struct rlimit limit;
    rlim_t wanted = (rlim_t)count + OTHER_FILES;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    setrlimit(RLIMIT_NOFILE, &limit); // with fewer, some wait
}

static heddle_status open_socket(heddle_web_server *server, int *made)
{
    int port = 0;
    HEDDLE_TRY(heddle_web_listen(server->address, server->settings.port, made, &port));
    bool six = strchr(server->address, ':') != NULL;
    // A browser keeps one set of cookies for all ports of a machine.
    snprintf(server->cookie, sizeof server->cookie, "heddle-%d", port);
    const char *name = strcmp(server->address, "0.0.0.0") == 0 ? "127.0.0.1"
                       : strcmp(server->address, "::") == 0    ? "::1"
                                                               : server->address;
    snprintf(server->url, sizeof server->url, six ? "http://[%s]:%d/?token=%s" : "http://%s:%d/?token=%s", name, port,
             server->token);
    return HEDDLE_OK;
}

static heddle_status start_daemon(heddle_web_server *server, int socket)
{
    allow_connections(server->settings.most_connections);
    server->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC, 0, NULL, NULL, on_request, server,
        MHD_OPTION_LISTEN_SOCKET, socket, MHD_OPTION_CONNECTION_LIMIT, (unsigned)server->settings.most_connections,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)server->settings.seconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY, MHD_OPTION_URI_LOG_CALLBACK, on_target, server, MHD_OPTION_NOTIFY_COMPLETED, on_end,
        server, MHD_OPTION_NOTIFY_CONNECTION, on_connection, server, MHD_OPTION_END);
    if (server->daemon)
        return heddle_thread_start(&server->clock, "web clock", watch_clock, server);
    close(socket);
    return heddle_fail(HEDDLE_IO, "cannot start the web server: %s", strerror(errno));
}

static void fill_settings(heddle_web_server *server)
{
    heddle_web_settings *settings = &server->settings;
    snprintf(server->address, sizeof server->address, "%s", settings->address ? settings->address : "127.0.0.1");
    settings->address = server->address;
    settings->most_body = settings->most_body ? settings->most_body : USUAL_BODY;
    settings->most_connections = settings->most_connections ? settings->most_connections : USUAL_CONNECTIONS;
    settings->most_requests = settings->most_requests ? settings->most_requests : USUAL_REQUESTS;
    settings->seconds = settings->seconds ? settings->seconds : USUAL_SECONDS;
    server->owners.allowance = server->strangers.allowance = 2.0 * settings->most_requests;
    server->owners.counted = server->strangers.counted = heddle_now();
    server->gate = (heddle_web_gate){.address = server->address,
                                     .token = server->token,
                                     .cookie = server->cookie,
                                     .routes = settings->routes,
                                     .most_body = settings->most_body};
}

heddle_status heddle_web_start(const heddle_web_settings *settings, heddle_web_server **server)
{
    int socket = -1;
    pthread_condattr_t steady;
    heddle_web_server *made = calloc(1, sizeof *made);
    *server = NULL;
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the web server");
    made->settings = *settings;
    pthread_mutex_init(&made->lock, NULL);
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&made->stopped, &steady);
    pthread_condattr_destroy(&steady);
    pthread_cond_init(&made->finished, NULL);
    fill_settings(made);
    heddle_status status = heddle_web_streams_create(&made->streams);
    if (status == HEDDLE_OK)
        status = heddle_web_connections_create(made->settings.most_connections, &made->connections);
    if (status == HEDDLE_OK)
        status = choose_token(made);
    if (status == HEDDLE_OK)
        status = open_socket(made, &socket);
    if (status == HEDDLE_OK)
        status = start_daemon(made, socket);
    made->has_clock = status == HEDDLE_OK;
    if (status == HEDDLE_OK)
        *server = made;
    else
        heddle_web_stop(made);
    return status;
}

void heddle_web_stop(heddle_web_server *server)
{
    if (!server)
        return;
    if (server->streams)
        heddle_web_streams_end(server->streams);
    pthread_mutex_lock(&server->lock);
    server->stopping = true;
    pthread_cond_signal(&server->stopped);
    while (server->deferred > 0)
        pthread_cond_wait(&server->finished, &server->lock);
    pthread_mutex_unlock(&server->lock);
    if (server->has_clock)
        pthread_join(server->clock, NULL);
    if (server->daemon)
        MHD_stop_daemon(server->daemon);
    heddle_web_streams_destroy(server->streams);
    heddle_web_connections_destroy(server->connections);
    pthread_cond_destroy(&server->stopped);
    pthread_cond_destroy(&server->finished);
    pthread_mutex_destroy(&server->lock);
    free(server);
}

const char *heddle_web_url(const heddle_web_server *server)
{
    return server->url;
}

void heddle_web_send(heddle_web_server *server, const char *event, const char *data)
{
    heddle_web_streams_send(server->streams, event, data);
}

#else

heddle_status heddle_web_start(const heddle_web_settings *settings, heddle_web_server **server)
{
    (void)settings;
    *server = NULL;
    return heddle_fail(HEDDLE_MISSING, HEDDLE_WEB_MISSING);
}

void heddle_web_stop(heddle_web_server *server)
{
    (void)server;
}

const char *heddle_web_url(const heddle_web_server *server)
{
    (void)server;
    return "";
}

heddle_web_later *heddle_web_defer(const heddle_web_request *request)
{
    (void)request;
    return NULL;
}

void heddle_web_finish(heddle_web_later *later, heddle_web_answer *answer)
{
    (void)later;
    heddle_web_answer_free(answer);
}

void heddle_web_send(heddle_web_server *server, const char *event, const char *data)
{
    (void)server;
    (void)event;
    (void)data;
}

#endif
