// One pass over the text. Whatever is unusual (another key, an exponent, a number out of range) ends it: the JSON
// reader knows better and says more.

#include "serve/scan.h"

#include <string.h>

enum { MOST_DIGITS = 12 }; // behind the point: value and power of ten are then exact, and their quotient is strtod's

static const double brightest = 255;

static const char *skip_space(const char *at)
{
    while (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')
        at++;
    return at;
}

static bool is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

// Behind a number such as 0, 17 or 3.25; NULL: there is none that is simple and in range.
static const char *read_number(const char *at, double *number)
{
    double value = 0, power = 1;
    const char *first = at;
    if (!is_digit(*at) || (at[0] == '0' && is_digit(at[1])))
        return NULL;
    for (; is_digit(*at) && at < first + 3; at++)
        value = value * 10 + (*at - '0');
    if (*at == '.') {
        first = ++at;
        for (; is_digit(*at) && at < first + MOST_DIGITS; at++, power *= 10)
            value = value * 10 + (*at - '0');
        if (at == first)
            return NULL;
    }
    *number = value / power;
    return *number <= brightest ? at : NULL;
}

static const char *read_list(const char *at, float *pixels, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double number;
        at = read_number(skip_space(at), &number);
        if (!at)
            return NULL;
        at = skip_space(at);
        if (*at++ != (i + 1 < count ? ',' : ']'))
            return NULL;
        pixels[i] = (float)(number / brightest);
    }
    return at;
}

bool heddle_serve_scan(const char *text, size_t size, float *pixels, size_t count)
{
    static const char *const opening[] = {"{", "\"image\"", ":", "["};
    const char *at = text;
    for (size_t i = 0; i < sizeof opening / sizeof *opening; i++) {
        at = skip_space(at);
        if (strncmp(at, opening[i], strlen(opening[i])) != 0)
            return false;
        at += strlen(opening[i]);
    }
    at = count > 0 ? read_list(at, pixels, count) : NULL;
    if (!at)
        return false;
    at = skip_space(at);
    return *at == '}' && skip_space(at + 1) == text + size;
}
