// Who may pass: decides by a request's head alone, before its body is read, and finds its route. Pure functions.
#pragma once

#include "web/server.h"

enum { HEDDLE_WEB_TOKEN_SIZE = 33, HEDDLE_WEB_COOKIE_SIZE = 24 };

// Headers that are not there are NULL.
typedef struct heddle_web_head {
    const char *method, *target;
    const char *host, *origin, *cookie, *authorization, *content_type, *content_length;
    const char *fetch_site, *fetch_mode; // Sec-Fetch-Site, Sec-Fetch-Mode
    int hosts;                           // how many Host headers there are
} heddle_web_head;

typedef struct heddle_web_gate {
    const char *address;        // that the server listens on
    const char *token, *cookie; // the secret, and the name of the cookie that keeps it
    const heddle_web_route *routes;
    size_t most_body;
} heddle_web_gate;

typedef struct heddle_web_entry {
    int status;      // 0: come in
    const char *why; // what the answer says where it is refused
    heddle_web_path path;
    const heddle_web_route *route; // NULL: an asset
    const char *asset;             // its name; NULL: the route has a handler
    const char *allowed;           // with 405: the method that would do
    bool has_token;
    bool by_address; // the token was in the address: the answer sets the cookie
    const char *found[HEDDLE_WEB_MOST_PARTS];
    char name[HEDDLE_WEB_LONGEST_TARGET + 1]; // of an asset without a route
} heddle_web_entry;

// Fills *entry and returns its status.
int heddle_web_enter(const heddle_web_gate *gate, const heddle_web_head *head, heddle_web_entry *entry);
