// The name of a function that was inlined, where addr2line does not know it: one of those called on the caller's line,
// and the one of them whose definition stands closest above the place.
#define _GNU_SOURCE 1
#include <ctype.h>
#include <string.h>

#include "report/internal.h"

enum { LONGEST_FUNCTION = 300 }; // lines from a place back to the head of its function
enum { NAME_BYTES = 64 };

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static const char *skip_blanks(const char *text, const char *end)
{
    while (text < end && isspace((unsigned char)*text))
        text++;
    return text;
}

// Behind the bracket that closes the one at `text`; NULL: it is not closed on this line.
static const char *behind_bracket(const char *text, const char *end, char open, char close)
{
    int depth = 0;
    for (; text < end; text++) {
        depth += (*text == open) - (*text == close);
        if (depth == 0)
            return text + 1;
    }
    return NULL;
}

// The next word from *text on that is followed by a bracket, or by template arguments and a bracket.
static bool next_call(const char **text, const char *end, char name[NAME_BYTES])
{
    const char *at = *text;
    while (at < end) {
        if (!in_word(*at)) {
            at++;
            continue;
        }
        const char *word = at;
        while (at < end && in_word(*at))
            at++;
        size_t length = (size_t)(at - word);
        const char *next = skip_blanks(at, end);
        if (next < end && *next == '<' && behind_bracket(next, end, '<', '>'))
            next = skip_blanks(behind_bracket(next, end, '<', '>'), end);
        if (next == end || *next != '(' || length >= NAME_BYTES || isdigit((unsigned char)*word))
            continue;
        memcpy(name, word, length);
        name[length] = '\0';
        *text = at;
        return true;
    }
    return false;
}

// "float name(int i) {": a type before it, and behind the parameters nothing that only a call has.
static bool defines(const char *line, size_t length, const char *name)
{
    const char *end = line + length;
    for (const char *at = line; (at = memmem(at, (size_t)(end - at), name, strlen(name))); at++) {
        const char *open = skip_blanks(at + strlen(name), end);
        const char *before = at;
        while (before > line && isspace((unsigned char)before[-1]))
            before--;
        bool whole = (at == line || !in_word(at[-1])) && open < end && *open == '(';
        bool typed = before > line && (in_word(before[-1]) || strchr("*&>", before[-1]));
        if (!whole || !typed || (before - line >= 6 && strncmp(before - 6, "return", 6) == 0))
            continue;
        const char *behind = behind_bracket(open, end, '(', ')');
        behind = behind ? skip_blanks(behind, end) : end;
        if (behind == end || *behind == '{' || strncmp(behind, "const", 5) == 0 ||
            strncmp(behind, "noexcept", 8) == 0 || strncmp(behind, "//", 2) == 0)
            return true;
    }
    return false;
}

const char *sim_inlined_name(const sim_frame *inner, const sim_frame *caller)
{
    size_t caller_length, length;
    const char *call_line = sim_source_line(caller->file, caller->line, &caller_length);
    for (unsigned back = 0; call_line && back < LONGEST_FUNCTION && back < inner->line; back++) {
        const char *line = sim_source_line(inner->file, inner->line - back, &length);
        const char *at = call_line;
        char name[NAME_BYTES];
        while (line && next_call(&at, call_line + caller_length, name))
            if (defines(line, length, name))
                return sim_arena_string(name, strlen(name));
    }
    return "";
}
