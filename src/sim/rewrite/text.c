// The string that grows.

#include "rewrite/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool reserve(sim_text *text, size_t more)
{
    if (text->failed || more > SIZE_MAX / 4 - text->bytes) {
        text->failed = true;
        return false;
    }
    size_t needed = text->bytes + more + 1;
    if (needed <= text->room)
        return true;
    size_t room = needed < 256 ? 256 : needed + needed / 2;
    char *at = realloc(text->at, room);
    if (!at) {
        text->failed = true;
        return false;
    }
    text->at = at;
    text->room = room;
    return true;
}

void sim_text_add_bytes(sim_text *text, const char *bytes, size_t count)
{
    if (!reserve(text, count))
        return;
    if (count)
        memcpy(text->at + text->bytes, bytes, count);
    text->bytes += count;
    text->at[text->bytes] = 0;
}

void sim_text_add(sim_text *text, const char *string)
{
    sim_text_add_bytes(text, string, strlen(string));
}

void sim_text_print(sim_text *text, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int count = vsnprintf(NULL, 0, format, arguments);
    if (count >= 0 && reserve(text, (size_t)count)) {
        vsnprintf(text->at + text->bytes, (size_t)count + 1, format, again);
        text->bytes += (size_t)count;
    }
    va_end(again);
    va_end(arguments);
}

void sim_text_add_quoted(sim_text *text, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        if (byte == '"' || byte == '\\')
            sim_text_print(text, "\\%c", byte);
        else if (byte < ' ' || byte == 127)
            sim_text_print(text, "\\%03o", byte);
        else
            sim_text_add_bytes(text, bytes + i, 1);
    }
}

char *sim_text_take(sim_text *text)
{
    char *at = text->at;
    if (!at && !text->failed)
        at = calloc(1, 1);
    *text = (sim_text){0};
    return at;
}

void sim_text_free(sim_text *text)
{
    free(text->at);
    *text = (sim_text){0};
}

bool sim_text_read(sim_text *text, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    struct stat about;
    if (fstat(fileno(file), &about) == 0 && S_ISDIR(about.st_mode)) {
        fclose(file);
        errno = EISDIR;
        return false;
    }
    char buffer[16384];
    size_t count;
    while ((count = fread(buffer, 1, sizeof buffer, file)) > 0)
        sim_text_add_bytes(text, buffer, count);
    bool fine = !ferror(file) && !text->failed;
    fclose(file);
    if (fine)
        sim_text_add(text, "");
    return fine && !text->failed;
}
