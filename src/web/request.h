// What a browser sends, read by pure functions: the path and its parts, the query, cookies, Host and Origin, JSON
// bodies, and the address to listen on. Everything here may come from a stranger; nothing here touches a socket.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "heddle/status.h"

struct cJSON;

// The statuses of HTTP that we answer with.
enum {
    HEDDLE_WEB_OK = 200,
    HEDDLE_WEB_ACCEPTED = 202,
    HEDDLE_WEB_BAD = 400,
    HEDDLE_WEB_NO_TOKEN = 401,
    HEDDLE_WEB_FORBIDDEN = 403,
    HEDDLE_WEB_NOT_FOUND = 404,
    HEDDLE_WEB_WRONG_METHOD = 405,
    HEDDLE_WEB_CONFLICT = 409,
    HEDDLE_WEB_TOO_LARGE = 413,
    HEDDLE_WEB_TOO_LONG = 414,
    HEDDLE_WEB_WRONG_TYPE = 415,
    HEDDLE_WEB_WRONG_HOST = 421,
    HEDDLE_WEB_TOO_MANY = 429,
    HEDDLE_WEB_FAILED = 500,
    HEDDLE_WEB_BUSY = 503,
};

enum { HEDDLE_WEB_MOST_PARTS = 8, HEDDLE_WEB_LONGEST_TARGET = 2048, HEDDLE_WEB_NAME_SIZE = 256 };

// "/learn/05.1?x=y" as "learn" and "05.1", decoded.
typedef struct heddle_web_path {
    char text[HEDDLE_WEB_LONGEST_TARGET + 1]; // the parts, each with a zero byte behind it
    const char *parts[HEDDLE_WEB_MOST_PARTS];
    int count;         // 0: "/"
    const char *query; // in the target, not decoded; "": none
} heddle_web_path;

// Returns 0 or the status to answer with. Refused: parts that are empty, begin with a dot, or hold a slash, a backslash
// or a control character; and what is not UTF-8.
int heddle_web_path_read(const char *target, heddle_web_path *path);
// Whether the path fits "/v1/exercises/*/source"; a star stands for any one part, which becomes the next of `found`.
bool heddle_web_path_fits(const heddle_web_path *path, const char *pattern, const char *found[HEDDLE_WEB_MOST_PARTS]);

// The decoded value of the first parameter of that name. False: it is not there, is malformed or does not fit.
bool heddle_web_query_read(const char *query, const char *name, char *value, size_t size);
// The value of the next cookie of that name in a Cookie header, and what stands behind it; NULL: there is none. Those
// that do not fit are passed over. A header may have several: a page on another port can set one for its own paths,
// and browsers send that first.
const char *heddle_web_cookie_next(const char *header, const char *name, char *value, size_t size);
// The token of "Authorization: Bearer TOKEN"; NULL: another text.
const char *heddle_web_bearer(const char *header);
// Compares two secrets in a time that does not depend on where they differ.
bool heddle_web_is_secret(const char *given, const char *secret);

// The name of "name", "name:port", "1.2.3.4:port" or "[::1]:port", in lower case and without the brackets.
bool heddle_web_host_read(const char *host, char name[HEDDLE_WEB_NAME_SIZE]);
// Whether a server that listens on `address` may answer a request for this Host: the address itself, this machine's
// loopback, and, for one that listens on every address, any address in numbers. A name that is none of these may have
// been made to point here by a stranger.
bool heddle_web_host_fits(const char *host, const char *address);
// Whether Origin is the page that this Host serves.
bool heddle_web_origin_fits(const char *origin, const char *host);

// "ADDRESS", "ADDRESS:PORT", "[::1]:PORT" in numbers, or localhost. *port keeps its value where there is none.
heddle_status heddle_web_address_read(const char *text, char address[HEDDLE_WEB_NAME_SIZE], int *port);
bool heddle_web_is_loopback(const char *address);

bool heddle_web_is_utf8(const char *text, size_t size);
// A body that is one JSON object. HEDDLE_CORRUPT says what is wrong with it.
heddle_status heddle_web_json_read(const char *text, size_t size, struct cJSON **json);
