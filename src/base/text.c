// Nearest names, sizes, durations and single lines for people, and the clock.

#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LONGEST_NAME = 63 }; // longer names get no suggestion, and the distance needs no allocation

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

// Edits (insert, delete, replace, swap neighbours) that turn one name into the other; both at most LONGEST_NAME long.
static size_t edit_distance(const char *from, const char *to)
{
    size_t from_length = strlen(from);
    size_t to_length = strlen(to);
    size_t rows[3][LONGEST_NAME + 1];
    size_t *before = rows[0]; // row i - 2
    size_t *above = rows[1];  // row i - 1
    size_t *row = rows[2];
    for (size_t j = 0; j <= to_length; j++)
        above[j] = before[j] = j;
    for (size_t i = 1; i <= from_length; i++) {
        row[0] = i;
        for (size_t j = 1; j <= to_length; j++) {
            row[j] = above[j - 1] + (from[i - 1] != to[j - 1]);
            row[j] = least(row[j], least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
        size_t *spare = before;
        before = above;
        above = row;
        row = spare;
    }
    return above[to_length];
}

const char *heddle_text_nearest(const char *name, const char *const *candidates, int count)
{
    size_t length = strlen(name);
    if (length > LONGEST_NAME)
        return NULL;
    // A third of the name may be wrong; more, and the suggestion is a guess.
    size_t best_distance = (length + 1) / 3 + 1;
    const char *best = NULL;
    for (int i = 0; i < count; i++) {
        if (!candidates[i] || strlen(candidates[i]) > LONGEST_NAME)
            continue;
        size_t distance = edit_distance(name, candidates[i]);
        if (distance < best_distance && distance < strlen(candidates[i])) {
            best_distance = distance;
            best = candidates[i];
        }
    }
    return best;
}

bool heddle_text_ends(const char *text, const char *end)
{
    const size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

const char *heddle_text_bytes(double bytes, char *text, size_t size)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
    enum { UNIT_COUNT = sizeof units / sizeof *units };
    const double step = 1024;

    if (!(fabs(bytes) < step)) {
        double value = bytes / step;
        int unit = 0;
        // Just below a step counts as the next unit: "1 MiB", not "1024 KiB".
        while (fabs(value) >= step - 0.5 && unit < UNIT_COUNT - 1) {
            value /= step;
            unit++;
        }
        double tenths = round(value * 10);
        int decimals = fabs(tenths) < 1000 && fmod(tenths, 10) != 0;
        snprintf(text, size, "%.*f %s", decimals, value, units[unit]);
        return text;
    }
    snprintf(text, size, "%.0f %s", bytes, round(bytes) == 1 ? "byte" : "bytes");
    return text;
}

static void print_short(double seconds, char *text, size_t size)
{
    static const struct {
        double seconds;
        const char *name;
    } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}};
    enum { UNIT_COUNT = sizeof units / sizeof *units };

    int unit = 0;
    // Up to half a last shown digit below the unit still rounds up into it: "1 ms", not "1000 µs".
    while (unit < UNIT_COUNT - 1 && fabs(seconds) < 0.9995 * units[unit].seconds)
        unit++;
    double value = seconds / units[unit].seconds;
    double tenths = round(value * 10);
    int decimals = fabs(tenths) < 100 && fmod(tenths, 10) != 0;
    snprintf(text, size, "%.*f %s", decimals, value, units[unit].name);
}

const char *heddle_text_seconds(double seconds, char *text, size_t size)
{
    const double minute = 60;
    const double hour = 60 * minute;
    const double day = 24 * hour;

    if (!isfinite(seconds)) {
        snprintf(text, size, "?");
    } else if (seconds == 0) {
        snprintf(text, size, "0 s");
    } else if (round(seconds) < minute) {
        print_short(seconds, text, size);
    } else if (round(seconds) < hour) {
        double whole = round(seconds);
        snprintf(text, size, "%.0f min %.0f s", floor(whole / minute), fmod(whole, minute));
    } else if (round(seconds / minute) * minute < day) {
        double whole = round(seconds / minute) * minute;
        snprintf(text, size, "%.0f h %.0f min", floor(whole / hour), fmod(whole, hour) / minute);
    } else {
        double whole = round(seconds / hour) * hour;
        snprintf(text, size, "%.0f d %.0f h", floor(whole / day), fmod(whole, day) / hour);
    }
    return text;
}

size_t heddle_text_number(const char *text, bool whole)
{
    static const char digits[] = "0123456789";
    const char *start = text + (*text == '-' || *text == '+'), *end = start + strspn(start, digits);
    size_t count = (size_t)(end - start);
    if (!whole && *end == '.') {
        size_t decimals = strspn(end + 1, digits);
        count += decimals;
        end += 1 + decimals;
    }
    if (count == 0)
        return 0;
    if (!whole && (*end == 'e' || *end == 'E')) {
        const char *exponent = end + 1 + (end[1] == '-' || end[1] == '+');
        size_t length = strspn(exponent, digits);
        end = length > 0 ? exponent + length : end;
    }
    return (size_t)(end - text);
}

void heddle_text_one_line(char *text)
{
    enum { FIRST_PRINTABLE = 0x20, DELETE = 0x7f };
    for (; *text; text++)
        if ((unsigned char)*text < FIRST_PRINTABLE || *text == DELETE)
            *text = '?';
}

const char *heddle_text_quote(const char *word, char *quoted, size_t size)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+=:,@%";
    static const char apostrophe[] = "'\\''"; // ends the quotes, adds one, begins them again
    bool quotes = word[0] == '\0' || word[strspn(word, plain)] != '\0';
    size_t length = quotes ? 2 : 0;
    for (const char *at = word; *at; at++)
        length += *at == '\'' ? strlen(apostrophe) : 1;
    if (length >= size) {
        snprintf(quoted, size, "%s", "");
        return quoted;
    }
    char *to = quoted, *end = quoted + size;
    to += snprintf(to, size, "%s", quotes ? "'" : "");
    for (; *word; word++)
        to += snprintf(to, (size_t)(end - to), *word == '\'' ? "%s" : "%.1s", *word == '\'' ? apostrophe : word);
    snprintf(to, (size_t)(end - to), "%s", quotes ? "'" : "");
    return quoted;
}

const char *heddle_text_named(const heddle_named_text *texts, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(texts[i].name, name) == 0)
            return texts[i].text;
    return "";
}

double heddle_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void heddle_kernel_name(const char *mangled, char *name, size_t size)
{
    const char *at = mangled, *word = mangled;
    int length = (int)strlen(mangled);
    if (strncmp(mangled, "_Z", 2) == 0) {
        at += 2;
        bool nested = *at == 'N';
        at += nested;
        do { // a nested name ends with its last part; what follows are arguments of a template, or types
            at += strspn(at, "KLVr");
            if (!isdigit((unsigned char)*at))
                break;
            long part = strtol(at, (char **)&at, 10);
            if (part <= 0 || (size_t)part > strlen(at))
                break;
            word = at;
            length = (int)part;
            at += part;
        } while (nested);
    }
    snprintf(name, size, "%.*s", length, word);
}
