// Names as a person writes them: demangled, without parameter lists, scopes or the compiler's additions.
#define _GNU_SOURCE 1
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/names.h"

enum { LONGEST_ARGUMENTS = 40 }; // template arguments beyond this are noise: "<...>"
enum { WORKING = 1024 };         // bytes of a name while it is worked on

bool sim_report_crashing;

// The C++ runtime's; a program without it has no such function.
char *__cxa_demangle(const char *mangled, char *buffer, size_t *bytes, int *status) __attribute__((weak));

void sim_name_demangle(const char *mangled, char *name, size_t bytes)
{
    if (__cxa_demangle && !sim_report_crashing && strncmp(mangled, "_Z", 2) == 0) {
        int status = 0;
        char *demangled = __cxa_demangle(mangled, NULL, NULL, &status);
        if (demangled && status == 0) {
            snprintf(name, bytes, "%s", demangled);
            free(demangled);
            return;
        }
    }
    snprintf(name, bytes, "%s", mangled);
}

static void remove_all(char *text, const char *what)
{
    size_t length = strlen(what);
    for (char *at = text; (at = strstr(at, what));)
        memmove(at, at + length, strlen(at + length) + 1);
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static void cut_end(char *text, const char *end)
{
    if (ends_with(text, end))
        text[strlen(text) - strlen(end)] = '\0';
}

// The bracket that the closing one at `close` belongs to.
static char *opening(const char *text, char *close, char open_with, char close_with)
{
    int depth = 0;
    for (char *at = close; at >= text; at--) {
        depth += (*at == close_with) - (*at == open_with);
        if (depth == 0)
            return at;
    }
    return NULL;
}

// "f(int) const [clone .isra.0]" to "f".
static void cut_parameters(char *text)
{
    char *clone = strstr(text, " [clone");
    if (clone)
        *clone = '\0';
    cut_end(text, "&&");
    cut_end(text, "&");
    cut_end(text, " const");
    if (!ends_with(text, ")"))
        return;
    char *open = opening(text, text + strlen(text) - 1, '(', ')');
    if (open && open > text && !(open - text >= 8 && strncmp(open - 8, "operator", 8) == 0 && open[1] == ')'))
        *open = '\0';
}

// "{lambda..." or "'lambda..." to "lambda" and `rest`, which lies behind it in the same text.
static void keep_lambda(char *at, const char *rest)
{
    const size_t length = sizeof "lambda" - 1;
    memmove(at, at + 1, length);
    memmove(at + length, rest, strlen(rest) + 1);
}

// "{lambda(int)#1}::operator()" of GNU and "'lambda'(int)::operator()" of LLVM to "lambda".
static void plain_lambdas(char *text)
{
    for (char *at; (at = strstr(text, "{lambda("));) {
        char *end = strchr(at, '}');
        if (!end)
            break;
        keep_lambda(at, end + 1);
    }
    for (char *at; (at = strstr(text, "'lambda"));) {
        char *end = strchr(at + 1, '\'');
        if (!end)
            break;
        if (end[1] == '(' && strchr(end, ')'))
            end = strchr(end, ')');
        keep_lambda(at, end + 1);
    }
    char *call = strstr(text, "lambda::operator()");
    if (call)
        memmove(call + 6, call + 18, strlen(call + 18) + 1);
}

static int depth_change(char c)
{
    return (c == '<' || c == '(' || c == '{' || c == '[') - (c == '>' || c == ')' || c == '}' || c == ']');
}

// "void mm<1>" to "mm<1>": what follows the last blank outside all brackets, but not inside "operator new".
static void cut_return_type(char *text)
{
    char *limit = strstr(text, "operator");
    if (!limit)
        limit = text + strlen(text);
    int depth = 0;
    char *start = text;
    for (char *at = text; at < limit; at++) {
        depth += depth_change(*at);
        if (depth == 0 && *at == ' ')
            start = at + 1;
    }
    memmove(text, start, strlen(start) + 1);
}

static void shorten_arguments(char *text)
{
    for (char *at = text; (at = strchr(at, '<')); at++) {
        if (at - text >= 8 && strncmp(at - 8, "operator", 8) == 0)
            return;
        int depth = 0;
        char *end = at;
        for (; *end; end++) {
            depth += depth_change(*end);
            if (depth == 0)
                break;
        }
        if (!*end)
            return;
        if (end - at > LONGEST_ARGUMENTS) {
            memmove(at + 4, end, strlen(end) + 1);
            memcpy(at, "<...", 4);
            end = at + 4;
        }
        at = end;
    }
}

void sim_name_of_function(const char *demangled, char *name, size_t bytes)
{
    char text[WORKING];
    snprintf(text, sizeof text, "%s", demangled);
    remove_all(text, "(anonymous namespace)::");
    cut_parameters(text);
    plain_lambdas(text);
    cut_return_type(text);
    shorten_arguments(text);
    snprintf(name, bytes, "%.*s", (int)bytes - 1, text);
}

// Without the C++ runtime: the last <length><identifier> of the mangled name, which is the variable's own.
static void last_identifier(const char *mangled, char *name, size_t bytes)
{
    size_t end = strlen(mangled);
    size_t digits = end;
    while (digits > 0 && isdigit((unsigned char)mangled[digits - 1]))
        digits--;
    if (digits < end && digits > 0 && mangled[digits - 1] == '_') // "_0": the second of this name in its function
        end = digits - 1;
    while (end > 0 && mangled[end - 1] == 'E')
        end--;
    // A variable of a function stands behind the E that ends the function: "Li8EEvPiE1s" has none before the 8. A name
    // that ends in a digit may stand before the length ("_GLOBAL__N_1" and "7counter"): the last try.
    const bool local = strncmp(mangled, "_ZZ", 3) == 0;
    enum { BEHIND_FUNCTION, BEHIND_LETTER, ANYWHERE };
    for (int try = local ? BEHIND_FUNCTION : BEHIND_LETTER; try <= ANYWHERE; try++) {
        for (size_t at = 2; at < end; at++) {
            if (!isdigit((unsigned char)mangled[at]) || (try == BEHIND_FUNCTION && mangled[at - 1] != 'E') ||
                (try == BEHIND_LETTER && isdigit((unsigned char)mangled[at - 1])))
                continue;
            char *text;
            unsigned long length = strtoul(mangled + at, &text, 10);
            if ((size_t)(text - mangled) + length == end && length > 0) {
                snprintf(name, bytes, "%.*s", (int)length, text);
                return;
            }
        }
    }
    snprintf(name, bytes, "%s", mangled);
}

void sim_name_of_variable(const char *symbol, char *name, size_t bytes)
{
    static const char *const tags[] = {"B10sim_device", "B12sim_constant"}; // sim/keywords.h
    // What stands behind a point tells variables of one name apart, such as those of two files.
    char mangled[WORKING], text[WORKING];
    snprintf(mangled, sizeof mangled, "%.*s", (int)(1 + strcspn(symbol + (symbol[0] != '\0'), ".")), symbol);
    if (strncmp(mangled, "_Z", 2) != 0) {
        snprintf(name, bytes, "%.*s", (int)bytes - 1, mangled);
        return;
    }
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        remove_all(mangled, tags[i]);
    sim_name_demangle(mangled, text, sizeof text);
    if (strncmp(text, "_Z", 2) == 0) {
        last_identifier(mangled, name, bytes);
        return;
    }
    char *start = text;
    int depth = 0;
    for (char *at = text; *at; at++) {
        depth += depth_change(*at);
        if (depth == 0 && (strncmp(at, "::", 2) == 0))
            start = at + 2;
    }
    snprintf(name, bytes, "%.*s", (int)bytes - 1, start);
}
