// A small HTTP server for pages of our own: a table of routes, embedded assets, streams of events. One thread answers
// all requests, so a handler must be quick. Every request passes the same gate first: limits, Host, Origin, token.
#pragma once

#include "web/answer.h"
#include "web/request.h"

typedef struct heddle_web_server heddle_web_server;

typedef struct heddle_web_request {
    const char *found[HEDDLE_WEB_MOST_PARTS]; // what the stars of the route stand for
    const char *query;
    const char *body; // a zero byte follows it
    size_t size;
    struct heddle_web_later *later; // for heddle_web_defer
} heddle_web_request;

typedef void heddle_web_handler(void *context, const heddle_web_request *request, heddle_web_answer *answer);

typedef struct heddle_web_route {
    const char *method, *path; // "PUT", "/v1/exercises/*/source"; see heddle_web_path_fits
    heddle_web_handler *handle;
    const char *asset; // in place of a handler: the asset that answers
} heddle_web_route;

typedef struct heddle_web_settings {
    const char *address;            // in numbers; default: 127.0.0.1
    int port;                       // 0: 8765 if it is free, else any that is
    const heddle_web_route *routes; // those to search, the last with method NULL
    void *context;                  // for handlers
    size_t most_body;               // bytes; 0: 4 MiB
    int most_connections;           // at a time, the others wait; 0: 1200
    int most_requests;              // a second, with twice as many in a burst; 0: 500
    int seconds;                    // for a request to arrive whole, and for an answer to leave; 0: 20
} heddle_web_settings;

// HEDDLE_MISSING: this build has no web server; the message says what to install.
heddle_status heddle_web_start(const heddle_web_settings *settings, heddle_web_server **server);
void heddle_web_stop(heddle_web_server *server); // NULL is fine

// The address to open, with the token: "http://127.0.0.1:8765/?token=...".
const char *heddle_web_url(const heddle_web_server *server);

// For work that takes longer than a handler may: the handler calls this and returns, leaving its answer alone, and some
// thread finishes the request, exactly once. What the request points to lives until then. NULL: the server is ending,
// and the handler answers itself. heddle_web_stop waits until all are finished.
typedef struct heddle_web_later heddle_web_later;
heddle_web_later *heddle_web_defer(const heddle_web_request *request);
// Takes what is in *answer over.
void heddle_web_finish(heddle_web_later *later, heddle_web_answer *answer);

// The handler of a route on which pages listen.
heddle_web_handler heddle_web_listen_to_events;
// Sends an event to every page that listens on a stream, from any thread. `data` has no line breaks.
void heddle_web_send(heddle_web_server *server, const char *event, const char *data);
