// The gate. The order matters: a stranger learns nothing about routes, and a page of another origin nothing at all.

#include "web/gate.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "web/assets.h"

static int refuse(heddle_web_entry *entry, int status, const char *why)
{
    entry->status = status;
    entry->why = why;
    return status;
}

static bool is_get(const char *method)
{
    return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

// A cookie goes to every port of a machine, so another program's page could send ours. Browsers say whose page asks.
static bool is_foreign(const heddle_web_head *head)
{
    if (head->origin && !heddle_web_origin_fits(head->origin, head->host))
        return true;
    if (!head->fetch_site || strcmp(head->fetch_site, "same-origin") == 0 || strcmp(head->fetch_site, "none") == 0)
        return false;
    // A link elsewhere may lead here, as a whole new page.
    return !(is_get(head->method) && head->fetch_mode && strcmp(head->fetch_mode, "navigate") == 0);
}

static int check_host(const heddle_web_gate *gate, const heddle_web_head *head, heddle_web_entry *entry)
{
    char name[HEDDLE_WEB_NAME_SIZE];
    if (!head->host || head->hosts != 1 || !heddle_web_host_read(head->host, name))
        return refuse(entry, HEDDLE_WEB_BAD, "the request needs one Host header, a name or an address");
    if (!heddle_web_host_fits(head->host, gate->address))
        return refuse(entry, HEDDLE_WEB_WRONG_HOST,
                      "this server does not answer under that name; open the address that the terminal shows");
    if (is_foreign(head))
        return refuse(entry, HEDDLE_WEB_FORBIDDEN, "a page of another origin may not ask this server anything");
    return 0;
}

// What the page that asks for the token itself needs.
static bool is_open(const heddle_web_path *path)
{
    static const char *const open[] = {"style.css", "icon.svg"};
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        if (path->count == 1 && strcmp(path->parts[0], open[i]) == 0)
            return true;
    return false;
}

static bool has_token(const heddle_web_gate *gate, const heddle_web_head *head, heddle_web_entry *entry)
{
    char given[HEDDLE_WEB_TOKEN_SIZE + 1];
    const char *bearer = head->authorization ? heddle_web_bearer(head->authorization) : NULL;
    if (bearer && heddle_web_is_secret(bearer, gate->token))
        return true;
    for (const char *at = head->cookie; at;) {
        at = heddle_web_cookie_next(at, gate->cookie, given, sizeof given);
        if (at && heddle_web_is_secret(given, gate->token))
            return true;
    }
    entry->by_address = is_get(head->method) &&
                        heddle_web_query_read(entry->path.query, "token", given, sizeof given) &&
                        heddle_web_is_secret(given, gate->token);
    return entry->by_address;
}

// "learn/page.js" of its parts.
static void join_parts(heddle_web_entry *entry)
{
    char *at = entry->name;
    for (int i = 0; i < entry->path.count; i++) { // together they are shorter than the target
        if (i > 0)
            *at++ = '/';
        at = stpcpy(at, entry->path.parts[i]);
    }
}

static int find_route(const heddle_web_gate *gate, const heddle_web_head *head, heddle_web_entry *entry)
{
    const char *method = is_get(head->method) ? "GET" : head->method;
    for (const heddle_web_route *route = gate->routes; route->method; route++) {
        if (!heddle_web_path_fits(&entry->path, route->path, entry->found))
            continue;
        if (strcmp(route->method, method) == 0) {
            entry->route = route;
            entry->asset = route->asset;
            return 0;
        }
        entry->allowed = route->method;
    }
    join_parts(entry);
    if (!entry->allowed && heddle_web_asset_find(entry->name)) {
        entry->asset = entry->name;
        entry->allowed = "GET";
        return is_get(head->method) ? 0 : refuse(entry, HEDDLE_WEB_WRONG_METHOD, "this can only be read, with GET");
    }
    if (entry->allowed)
        return refuse(entry, HEDDLE_WEB_WRONG_METHOD, "this address takes another method; see Allow");
    return refuse(entry, HEDDLE_WEB_NOT_FOUND, "there is nothing at this address");
}

// What is known of the body before it comes.
static int check_body(const heddle_web_gate *gate, const heddle_web_head *head, heddle_web_entry *entry)
{
    static const char json[] = "application/json";
    const char *type = head->content_type, *length = head->content_length;
    if (length && (!isdigit((unsigned char)length[0]) || strtoull(length, NULL, 10) > gate->most_body))
        return refuse(entry, HEDDLE_WEB_TOO_LARGE, "the body is too large");
    if (is_get(head->method))
        return 0;
    // A form of a foreign page cannot send this type without asking first.
    if (!type || strncasecmp(type, json, strlen(json)) != 0 ||
        (type[strlen(json)] != '\0' && !strchr("; ", type[strlen(json)])))
        return refuse(entry, HEDDLE_WEB_WRONG_TYPE, "the body must be JSON: Content-Type: application/json");
    return 0;
}

int heddle_web_enter(const heddle_web_gate *gate, const heddle_web_head *head, heddle_web_entry *entry)
{
    *entry = (heddle_web_entry){.why = ""};
    if (check_host(gate, head, entry) != 0)
        return entry->status;
    int status = heddle_web_path_read(head->target, &entry->path);
    if (status != 0)
        return refuse(entry, status,
                      status == HEDDLE_WEB_TOO_LONG ? "the address is too long" : "the address is malformed");
    entry->has_token = has_token(gate, head, entry);
    if (!entry->has_token && !(is_open(&entry->path) && is_get(head->method)))
        return refuse(entry, HEDDLE_WEB_NO_TOKEN, "open the address that the terminal shows: it has the token");
    if (find_route(gate, head, entry) != 0)
        return entry->status;
    return check_body(gate, head, entry);
}
