// Any bytes as a request to the web server: a line per header, then the body. Nobody comes in without the token, no
// part of a path leads elsewhere, and what is read fits where it is put.

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "fuzz.h"
#include "web/gate.h"
#include "web/markdown.h"

static const char token[] = "0123456789abcdef";

static void handle(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    (void)context;
    (void)request;
    (void)answer;
}

static const heddle_web_route routes[] = {{"GET", "/", NULL, "learn.html"},
                                          {"GET", "/course/*/*", handle, NULL},
                                          {"PUT", "/v1/learn/exercises/*/source", handle, NULL},
                                          {0}};

// The next line; NULL where there is none, or it is empty.
static const char *next_line(char **text)
{
    char *line = *text;
    if (!line)
        return NULL;
    *text = strchr(line, '\n');
    if (*text)
        *(*text)++ = '\0';
    return line[0] ? line : NULL;
}

static void check_path(const heddle_web_path *path)
{
    FUZZ_CHECK(path->count >= 0 && path->count <= HEDDLE_WEB_MOST_PARTS);
    for (int i = 0; i < path->count; i++) {
        const char *part = path->parts[i];
        FUZZ_CHECK(part[0] && part[0] != '.' && !strpbrk(part, "/\\\n\r"));
        FUZZ_CHECK(part >= path->text && part + strlen(part) < path->text + sizeof path->text);
        FUZZ_CHECK(heddle_web_is_utf8(part, strlen(part)));
    }
}

static void check_entry(const heddle_web_head *head, const heddle_web_entry *entry, bool has_token)
{
    if (entry->status != 0) {
        FUZZ_CHECK(entry->status >= HEDDLE_WEB_BAD && entry->why[0]);
        return;
    }
    check_path(&entry->path);
    bool open = entry->asset && (strcmp(entry->asset, "style.css") == 0 || strcmp(entry->asset, "icon.svg") == 0);
    FUZZ_CHECK(has_token || open);
    FUZZ_CHECK(entry->asset || entry->route);
    FUZZ_CHECK(head->host && head->hosts == 1 && heddle_web_host_fits(head->host, "127.0.0.1"));
    FUZZ_CHECK(!head->origin || heddle_web_origin_fits(head->origin, head->host));
}

static void read_rest(const char *text)
{
    char value[16], address[HEDDLE_WEB_NAME_SIZE], anchor[24];
    int port = 1;
    cJSON *json = NULL;
    if (heddle_web_query_read(text, "q", value, sizeof value) || heddle_web_cookie_next(text, "a", value, sizeof value))
        FUZZ_CHECK(strlen(value) < sizeof value);
    if (heddle_web_address_read(text, address, &port) == HEDDLE_OK)
        FUZZ_CHECK(port >= 1 && port <= 65535 && address[0]);
    heddle_web_anchor(text, anchor, sizeof anchor);
    FUZZ_CHECK(strlen(anchor) < sizeof anchor && !strpbrk(anchor, "\"<>& "));
    if (heddle_web_json_read(text, strlen(text), &json) == HEDDLE_OK)
        FUZZ_CHECK(cJSON_IsObject(json));
    cJSON_Delete(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static heddle_web_entry entry;
    const heddle_web_gate gate = {
        .address = "127.0.0.1", .token = token, .cookie = "heddle-1", .routes = routes, .most_body = 100};
    char *text = calloc(size + 1, 1), *rest = text;
    if (!text)
        return 0;
    memcpy(text, data, size);
    for (size_t i = 0; i < size; i++) // a header has no zero byte
        text[i] = text[i] ? text[i] : '0';
    bool has_token = memmem(data, size, token, strlen(token)) || strchr(text, '%'); // which may hide it
    const char *method = next_line(&rest), *target = next_line(&rest);
    heddle_web_head head = {.method = method ? method : "", .target = target ? target : ""};
    head.host = next_line(&rest);
    head.hosts = head.host != NULL;
    head.cookie = next_line(&rest);
    head.authorization = next_line(&rest);
    head.origin = next_line(&rest);
    head.content_type = next_line(&rest);
    head.content_length = next_line(&rest);
    head.fetch_site = next_line(&rest);
    head.fetch_mode = next_line(&rest);
    heddle_web_enter(&gate, &head, &entry);
    check_entry(&head, &entry, has_token);
    read_rest(rest ? rest : "");
    read_rest(head.target);
    free(text);
    return 0;
}
