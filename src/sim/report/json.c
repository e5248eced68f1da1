// The JSON writer. Text that is no valid UTF-8 is passed on as Latin-1, so that the report can always be read.
#include "report/json.h"

#include <stdio.h>
#include <string.h>

#include "report/internal.h"

enum { FIRST_ROOM = 64 * 1024 };

static void put(sim_json *out, const char *text, size_t length)
{
    if (out->used + length > out->room) {
        size_t room = out->room ? out->room : FIRST_ROOM;
        while (room < out->used + length)
            room *= 2;
        char *larger = sim_arena_take(room);
        if (!larger) {
            out->failed = true;
            return;
        }
        if (out->used)
            memcpy(larger, out->text, out->used);
        out->text = larger;
        out->room = room;
    }
    memcpy(out->text + out->used, text, length);
    out->used += length;
}

static void put_text(sim_json *out, const char *text)
{
    put(out, text, strlen(text));
}

// Bytes of the UTF-8 character at `text`; 0: it is none.
static size_t character_bytes(const unsigned char *text)
{
    size_t bytes = text[0] < 0x80 ? 1 : text[0] >= 0xc2 && text[0] < 0xe0 ? 2 : (text[0] & 0xf0) == 0xe0 ? 3 : 4;
    if (bytes == 4 && (text[0] < 0xf0 || text[0] > 0xf4))
        return 0;
    for (size_t i = 1; i < bytes; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
    bool outside = (text[0] == 0xed && text[1] > 0x9f) || (text[0] == 0xf4 && text[1] > 0x8f);
    return bytes > 1 && (overlong || outside) ? 0 : bytes;
}

static void put_quoted(sim_json *out, const char *value)
{
    put_text(out, "\"");
    for (const unsigned char *at = (const unsigned char *)value; *at;) {
        size_t bytes = character_bytes(at);
        char escape[8];
        if (*at == '"' || *at == '\\') {
            snprintf(escape, sizeof escape, "\\%c", *at);
            put_text(out, escape);
        } else if (*at < ' ' || bytes == 0) {
            snprintf(escape, sizeof escape, "\\u%04x", *at);
            put_text(out, escape);
            bytes = 1;
        } else {
            put(out, (const char *)at, bytes);
        }
        at += bytes;
    }
    put_text(out, "\"");
}

static void start_value(sim_json *out, const char *name)
{
    if (out->comma)
        put_text(out, ",");
    out->comma = true;
    if (name) {
        put_quoted(out, name);
        put_text(out, ":");
    }
}

void sim_json_open(sim_json *out, const char *name, char bracket)
{
    start_value(out, name);
    put(out, &bracket, 1);
    out->comma = false;
}

void sim_json_close(sim_json *out, char bracket)
{
    put(out, &bracket, 1);
    out->comma = true;
}

void sim_json_string(sim_json *out, const char *name, const char *value)
{
    start_value(out, name);
    if (value)
        put_quoted(out, value);
    else
        put_text(out, "null");
}

void sim_json_unsigned(sim_json *out, const char *name, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    start_value(out, name);
    put_text(out, text);
}

void sim_json_signed(sim_json *out, const char *name, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    start_value(out, name);
    put_text(out, text);
}

void sim_json_bool(sim_json *out, const char *name, bool value)
{
    start_value(out, name);
    put_text(out, value ? "true" : "false");
}

// In whole microseconds: printf's own decimals follow the program's locale, and may write a comma.
void sim_json_seconds(sim_json *out, const char *name, double seconds)
{
    char text[48];
    unsigned long long microseconds = seconds > 0 ? (unsigned long long)(seconds * 1e6 + 0.5) : 0;
    snprintf(text, sizeof text, "%llu.%06llu", microseconds / 1000000, microseconds % 1000000);
    start_value(out, name);
    put_text(out, text);
}

void sim_json_triple(sim_json *out, const char *name, const unsigned value[3])
{
    sim_json_open(out, name, '[');
    for (int i = 0; i < 3; i++)
        sim_json_unsigned(out, NULL, value[i]);
    sim_json_close(out, ']');
}
