// Blanks what is no code, so that what comments and literals say is not taken for it.

#include "check/code.h"

#include <ctype.h>
#include <string.h>

bool heddle_check_is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

size_t heddle_check_word_length(const char *at)
{
    size_t length = 0;
    while (heddle_check_is_word(at[length]))
        length++;
    return length;
}

bool heddle_check_word_is(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(at, word, length) == 0;
}

const char *heddle_check_find_word(const char *text, const char *at, const char *word)
{
    size_t length = strlen(word);
    for (; length > 0 && (at = strstr(at, word)) != NULL; at++)
        if ((at == text || !heddle_check_is_word(at[-1])) && !heddle_check_is_word(at[length]))
            return at;
    return NULL;
}

bool heddle_check_has_call(const char *code, const char *function)
{
    for (const char *at = code; (at = heddle_check_find_word(code, at, function)) != NULL; at++) {
        const char *behind = at + strlen(function);
        behind += strspn(behind, " \t");
        if (*behind == '(' || *behind == '<')
            return true;
    }
    return false;
}

// Whether the ' at `at` parts the digits of a number, 1'000.
static bool parts_digits(const char *line, size_t at)
{
    size_t start = at;
    while (start > 0 && (heddle_check_is_word(line[start - 1]) || line[start - 1] == '\''))
        start--;
    return isdigit((unsigned char)line[start]) && heddle_check_is_word(line[at + 1]);
}

// Behind the comment or literal that begins at `at`, or goes on there; `at`: none does.
static size_t behind_hidden(const char *line, size_t at, bool *comment)
{
    char quote = line[at];
    if (!*comment && line[at] == '/' && line[at + 1] == '/') {
        while (line[at])
            at++;
    } else if (*comment || (line[at] == '/' && line[at + 1] == '*')) {
        at += *comment ? 0 : 2;
        *comment = true;
        while (line[at] && !(line[at] == '*' && line[at + 1] == '/'))
            at++;
        *comment = !line[at];
        at += *comment ? 0 : 2;
    } else if (quote == '"' || (quote == '\'' && !parts_digits(line, at))) {
        for (at++; line[at] && line[at] != quote; at++)
            at += line[at] == '\\' && line[at + 1];
        at += line[at] != '\0';
    }
    return at;
}

void heddle_check_code_of(const char *line, bool *comment, char *code, size_t size)
{
    size_t i = 0, length = 0;
    while (line[i]) {
        size_t behind = behind_hidden(line, i, comment);
        bool hidden = behind > i;
        for (behind += !hidden; i < behind; i++)
            if (length + 1 < size)
                code[length++] = hidden || line[i] == '\t' ? ' ' : line[i];
    }
    code[length] = '\0';
}
