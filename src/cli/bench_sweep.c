// `heddle bench --sweep`: the shapes that differ in one or several fields.

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/bench_request.h"

typedef struct range {
    size_t names; // bytes of the text before '='
    long first, last, step;
    bool multiplies;
} range;

// Reads a whole number that is at least 1 and ends at one of `ends`; moves *at behind it, to its end.
static bool read_number(const char **at, const char *ends, long *number)
{
    size_t length = heddle_text_number(*at, true);
    char *end;
    errno = 0;
    *number = strtol(*at, &end, 10);
    if (length == 0 || end != *at + length || errno || *number < 1 || *number > INT_MAX || !strchr(ends, *end))
        return false;
    *at = end;
    return true;
}

// FIELD[,FIELD]=FROM:TO[:xFACTOR|:+STEP]
static bool read_range(const char *text, range *read)
{
    const char *at = strchr(text, '=');
    *read = (range){.names = at ? (size_t)(at - text) : 0, .step = 2, .multiplies = true};
    if (read->names == 0 || text[0] == ',' || at[-1] == ',' || strstr(text, ",,") || strpbrk(text, " \t\n"))
        return false;
    at++;
    if (!read_number(&at, ":", &read->first) || *at != ':')
        return false;
    at++;
    if (!read_number(&at, ":", &read->last))
        return false;
    if (*at == '\0')
        return true;
    at++;
    if (*at != 'x' && *at != '+')
        return false;
    read->multiplies = *at++ == 'x';
    return read_number(&at, "", &read->step) && !(read->multiplies && read->step < 2);
}

static bool is_swept(const char *names, size_t length, const char *field, size_t field_length)
{
    for (const char *at = names, *end = names + length; at < end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;
        if ((size_t)(stop - at) == field_length && memcmp(at, field, field_length) == 0)
            return true;
        at = stop + 1;
    }
    return false;
}

// The base shape without the swept fields, then each of these with the value.
static void print_shape(FILE *file, const char *base, const char *names, size_t length, long value)
{
    for (const char *at = base; *at;) {
        size_t word = strcspn(at, " "), field = strcspn(at, "=");
        if (!is_swept(names, length, at, field < word ? field : word))
            fprintf(file, "%.*s ", (int)word, at);
        at += word;
        at += strspn(at, " ");
    }
    for (const char *at = names; at < names + length;) {
        size_t field = strcspn(at, ",=");
        fprintf(file, "%.*s=%ld%s", (int)field, at, value, at + field < names + length ? " " : "");
        at += field + 1;
    }
}

heddle_status heddle_cli_bench_sweep(const char *text, const char *base, heddle_cli_shapes *shapes)
{
    range over;
    if (!read_range(text, &over))
        return heddle_fail(HEDDLE_INVALID,
                           "--sweep '%s' is not a range: give FIELD=FROM:TO, such as m=128:8192:x2, m=64:1024:+64, or "
                           "m,n,k=256:4096 for fields that are equal",
                           text);
    if (over.first > over.last)
        return heddle_fail(HEDDLE_INVALID, "--sweep '%s': %ld is larger than %ld; FROM comes first", text, over.first,
                           over.last);
    heddle_cli_shapes made = {0};
    size_t size;
    FILE *file = open_memstream(&made.text, &size);
    if (!file)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for the shapes");
    int count = 0;
    for (long value = over.first; value <= over.last && count <= HEDDLE_CLI_MOST_SHAPES; count++) {
        print_shape(file, base, text, over.names, value);
        fputc('\0', file);
        if (value > (over.multiplies ? LONG_MAX / over.step : LONG_MAX - over.step))
            break;
        value = over.multiplies ? value * over.step : value + over.step;
    }
    if (fclose(file) != 0 || count > HEDDLE_CLI_MOST_SHAPES) {
        free(made.text);
        return count > HEDDLE_CLI_MOST_SHAPES
                   ? heddle_fail(HEDDLE_INVALID, "--sweep '%s': more than %d shapes; take larger steps", text,
                                 HEDDLE_CLI_MOST_SHAPES)
                   : heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for the shapes");
    }
    for (const char *at = made.text; made.count < count; at += strlen(at) + 1)
        made.items[made.count++] = at;
    heddle_cli_shapes_free(shapes);
    *shapes = made;
    return HEDDLE_OK;
}
