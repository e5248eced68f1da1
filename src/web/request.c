// Readers of what a browser sends. Each looks at every byte before it uses it, and writes only into the room it was
// given.

#include "web/request.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <cjson/cJSON.h>

#include "base/json.h"

enum { LARGEST_PORT = 65535, PORT_DIGITS = 5 };

// --- text ------------------------------------------------------------------------------------------------------------

// Bytes of the character at `text`, of which `left` are there; 0: not UTF-8.
static size_t character_bytes(const unsigned char *text, size_t left)
{
    size_t count = text[0] < 0x80   ? 1
                   : text[0] < 0xc2 ? 0
                   : text[0] < 0xe0 ? 2
                   : text[0] < 0xf0 ? 3
                   : text[0] < 0xf5 ? 4
                                    : 0;
    if (count > left)
        return 0;
    for (size_t i = 1; i < count; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
    bool outside = (text[0] == 0xed && text[1] >= 0xa0) || (text[0] == 0xf4 && text[1] >= 0x90);
    return overlong || outside ? 0 : count;
}

bool heddle_web_is_utf8(const char *text, size_t size)
{
    for (size_t i = 0; i < size;) {
        size_t count = character_bytes((const unsigned char *)text + i, size - i);
        if (count == 0)
            return false;
        i += count;
    }
    return true;
}

static int digit_value(char c)
{
    if (!isxdigit((unsigned char)c))
        return -1;
    return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

// Decodes %41, and, in a query, + for a blank. False: malformed, not UTF-8, a control character, or no room.
static bool decode(const char *text, size_t length, bool in_query, char *decoded, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (c == '%') {
            int high = i + 2 < length ? digit_value(text[i + 1]) : -1;
            int low = i + 2 < length ? digit_value(text[i + 2]) : -1;
            if (high < 0 || low < 0)
                return false;
            c = (char)(high * 16 + low);
            i += 2;
        } else if (in_query && c == '+') {
            c = ' ';
        }
        if ((unsigned char)c < ' ' || (unsigned char)c == 0x7f || used + 1 >= size)
            return false;
        decoded[used++] = c;
    }
    if (size == 0)
        return false;
    decoded[used] = '\0';
    return heddle_web_is_utf8(decoded, used);
}

bool heddle_web_is_secret(const char *given, const char *secret)
{
    size_t length = strlen(secret), given_length = strlen(given);
    unsigned difference = given_length != length;
    for (size_t i = 0; i < length; i++)
        difference |= (unsigned)(unsigned char)secret[i] ^ (unsigned char)(i < given_length ? given[i] : 0);
    return difference == 0;
}

// --- paths -----------------------------------------------------------------------------------------------------------

int heddle_web_path_read(const char *target, heddle_web_path *path)
{
    size_t used = 0, length = strnlen(target, HEDDLE_WEB_LONGEST_TARGET + 1);
    *path = (heddle_web_path){.query = ""};
    if (length > HEDDLE_WEB_LONGEST_TARGET)
        return HEDDLE_WEB_TOO_LONG;
    if (target[0] != '/')
        return HEDDLE_WEB_BAD;
    const char *end = target + strcspn(target, "?#");
    if (*end == '#')
        return HEDDLE_WEB_BAD; // a browser keeps it for itself
    if (*end == '?')
        path->query = end + 1;
    for (const char *at = target + 1; at < end;) {
        size_t part = strcspn(at, "/?");
        char *text = path->text + used;
        if (path->count == HEDDLE_WEB_MOST_PARTS)
            return HEDDLE_WEB_NOT_FOUND;
        if (!decode(at, part, false, text, sizeof path->text - used) || text[0] == '\0' || text[0] == '.' ||
            strpbrk(text, "/\\"))
            return HEDDLE_WEB_BAD;
        path->parts[path->count++] = text;
        used += strlen(text) + 1;
        at += part;
        if (at < end && at + 1 == end) // "/learn/" has an empty part at its end
            return HEDDLE_WEB_BAD;
        at += at < end;
    }
    return 0;
}

bool heddle_web_path_fits(const heddle_web_path *path, const char *pattern, const char *found[HEDDLE_WEB_MOST_PARTS])
{
    int stars = 0, index = 0;
    const char *at = pattern + 1;
    for (; *at && index < path->count; index++) {
        size_t length = strcspn(at, "/");
        if (length == 1 && at[0] == '*')
            found[stars++] = path->parts[index];
        else if (strlen(path->parts[index]) != length || memcmp(path->parts[index], at, length) != 0)
            return false;
        at += length + (at[length] == '/');
    }
    return *at == '\0' && index == path->count;
}

// --- headers ---------------------------------------------------------------------------------------------------------

bool heddle_web_query_read(const char *query, const char *name, char *value, size_t size)
{
    size_t wanted = strlen(name);
    for (const char *at = query; *at;) {
        size_t length = strcspn(at, "&");
        if (length > wanted && strncmp(at, name, wanted) == 0 && at[wanted] == '=')
            return decode(at + wanted + 1, length - wanted - 1, true, value, size);
        at += length + (at[length] == '&');
    }
    return false;
}

const char *heddle_web_cookie_next(const char *header, const char *name, char *value, size_t size)
{
    size_t wanted = strlen(name);
    for (const char *at = header; *at;) {
        at += strspn(at, " \t");
        size_t length = strcspn(at, ";");
        const char *cookie = at;
        at += length + (at[length] == ';');
        if (length <= wanted || strncmp(cookie, name, wanted) != 0 || cookie[wanted] != '=' ||
            length - wanted - 1 >= size)
            continue;
        memcpy(value, cookie + wanted + 1, length - wanted - 1);
        value[length - wanted - 1] = '\0';
        return at;
    }
    return NULL;
}

const char *heddle_web_bearer(const char *header)
{
    static const char scheme[] = "Bearer ";
    return strncasecmp(header, scheme, strlen(scheme)) == 0 ? header + strlen(scheme) : NULL;
}

static bool is_address(const char *text)
{
    struct in6_addr address;
    return inet_pton(AF_INET, text, &address) == 1 || inet_pton(AF_INET6, text, &address) == 1;
}

// A port of 1 to 65535 and nothing else.
static bool port_read(const char *text, int *port)
{
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > PORT_DIGITS || text[digits] != '\0')
        return false;
    long value = strtol(text, NULL, 10);
    *port = (int)value;
    return value >= 1 && value <= LARGEST_PORT;
}

// Splits "name:port" and "[name]:port". *port keeps its value where there is none.
static bool split(const char *text, char name[HEDDLE_WEB_NAME_SIZE], int *port)
{
    bool brackets = text[0] == '[';
    const char *begin = text + brackets;
    size_t length = strcspn(begin, brackets ? "]" : ":");
    const char *rest = begin + length;
    if (length == 0 || length >= HEDDLE_WEB_NAME_SIZE || (brackets && *rest != ']'))
        return false;
    rest += brackets;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)begin[i];
        if (!isalnum(c) && c != '.' && c != '-' && c != '_' && !(brackets && c == ':'))
            return false;
        name[i] = (char)tolower(c);
    }
    name[length] = '\0';
    if (brackets && !is_address(name))
        return false;
    return *rest == '\0' || (*rest == ':' && port_read(rest + 1, port));
}

bool heddle_web_host_read(const char *host, char name[HEDDLE_WEB_NAME_SIZE])
{
    int port = 0;
    return split(host, name, &port);
}

bool heddle_web_is_loopback(const char *address)
{
    return strcmp(address, "localhost") == 0 || strcmp(address, "::1") == 0 ||
           (strncmp(address, "127.", 4) == 0 && is_address(address));
}

bool heddle_web_host_fits(const char *host, const char *address)
{
    char name[HEDDLE_WEB_NAME_SIZE];
    bool everywhere = strcmp(address, "0.0.0.0") == 0 || strcmp(address, "::") == 0;
    if (!heddle_web_host_read(host, name))
        return false;
    return heddle_web_is_loopback(name) || strcmp(name, address) == 0 || (everywhere && is_address(name));
}

bool heddle_web_origin_fits(const char *origin, const char *host)
{
    static const char scheme[] = "http://";
    return strncasecmp(origin, scheme, strlen(scheme)) == 0 && strcasecmp(origin + strlen(scheme), host) == 0;
}

heddle_status heddle_web_address_read(const char *text, char address[HEDDLE_WEB_NAME_SIZE], int *port)
{
    bool bare = text[0] != '[' && strchr(text, ':') != strrchr(text, ':'); // ::1 needs no brackets without a port
    if (bare && strlen(text) < HEDDLE_WEB_NAME_SIZE && is_address(text)) {
        snprintf(address, HEDDLE_WEB_NAME_SIZE, "%s", text);
        return HEDDLE_OK;
    }
    if (bare || !split(text, address, port) || (!is_address(address) && strcmp(address, "localhost") != 0))
        return heddle_fail(HEDDLE_INVALID,
                           "'%.80s' is not an address to listen on; give one in numbers, such as 127.0.0.1, "
                           "0.0.0.0:8765 or [::1]:8765",
                           text);
    if (strcmp(address, "localhost") == 0)
        snprintf(address, HEDDLE_WEB_NAME_SIZE, "127.0.0.1");
    return HEDDLE_OK;
}

// --- bodies ----------------------------------------------------------------------------------------------------------

// Whether a text in the JSON holds \u0000, which would end it for us before its end. A backslash that is itself escaped
// begins nothing.
static bool has_zero(const char *text, size_t size)
{
    static const char zero[] = "\\u0000";
    for (size_t i = 0; i + strlen(zero) <= size; i++) {
        if (text[i] != '\\')
            continue;
        if (memcmp(text + i, zero, strlen(zero)) == 0)
            return true;
        i++;
    }
    return memchr(text, '\0', size) != NULL;
}

heddle_status heddle_web_json_read(const char *text, size_t size, cJSON **json)
{
    *json = NULL;
    if (size == 0)
        return heddle_fail(HEDDLE_CORRUPT, "the body is empty, not a JSON object");
    if (!heddle_web_is_utf8(text, size) || has_zero(text, size))
        return heddle_fail(HEDDLE_CORRUPT, "the body is not UTF-8 text, or has a zero character");
    HEDDLE_TRY(heddle_json_parse("body", text, size, json));
    if (cJSON_IsObject(*json))
        return HEDDLE_OK;
    cJSON_Delete(*json);
    *json = NULL;
    return heddle_fail(HEDDLE_CORRUPT, "the body is not a JSON object");
}
