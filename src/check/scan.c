// Finding function definitions by their shape: NAME ( ... ) {  at the outermost level. `extern "C" {` and namespaces do
// not count as levels.

#include "check/scan.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "check/code.h"

enum {
    LARGEST_SOURCE = 16 << 20,
    DEEPEST_INCLUDE = 8,
    DEEPEST_IF = 16,
};

static const char *skip_quoted(const char *at)
{
    char quote = *at++;
    while (*at && *at != quote && *at != '\n')
        at += *at == '\\' && at[1] ? 2 : 1;
    return *at == quote ? at + 1 : at;
}

static const char *skip_line(const char *at)
{
    while (*at && *at != '\n')
        at += *at == '\\' && at[1] ? 2 : 1;
    return at;
}

// Past blanks, comments and literals, to the next name, sign or preprocessor line.
static const char *next_token_or_line(const char *at)
{
    for (;;) {
        if (isspace((unsigned char)*at)) {
            at++;
        } else if (at[0] == '/' && at[1] == '/') {
            at = skip_line(at);
        } else if (at[0] == '/' && at[1] == '*') {
            const char *end = strstr(at + 2, "*/");
            at = end ? end + 2 : at + strlen(at);
        } else if (*at == '"' || *at == '\'') {
            at = skip_quoted(at);
        } else {
            return at;
        }
    }
}

// Past preprocessor lines, too.
static const char *next_token(const char *at)
{
    for (at = next_token_or_line(at); *at == '#'; at = next_token_or_line(skip_line(at)))
        ;
    return at;
}

// How deep in brackets the text is, and was at each #if that has not ended. The branches of an #if may each open a
// bracket that only one #else or #endif later is closed: each begins where the #if stood.
typedef struct bracket_depth {
    int now, at_if[DEEPEST_IF], ifs;
} bracket_depth;

static void enter_branch(bracket_depth *depth, const char *directive)
{
    directive += strspn(directive, "# \t");
    int around = depth->ifs > 0 && depth->ifs <= DEEPEST_IF ? depth->at_if[depth->ifs - 1] : 0;
    if (strncmp(directive, "if", 2) == 0) {
        if (depth->ifs++ < DEEPEST_IF)
            depth->at_if[depth->ifs - 1] = depth->now;
    } else if (strncmp(directive, "el", 2) == 0) {
        depth->now = around;
    } else if (strncmp(directive, "endif", 5) == 0 && depth->ifs > 0) {
        depth->ifs--;
    }
}

// Past the bracket that closes the one at `at`; where none does, to the end of the text.
static const char *skip_brackets(const char *at, bool *closed)
{
    bracket_depth depth = {0};
    *closed = true;
    at = next_token(at);
    while (*at) {
        bool line = *at == '#';
        if (line) {
            enter_branch(&depth, at);
            at = skip_line(at);
        } else {
            depth.now += *at == '(' || *at == '{';
            depth.now -= *at == ')' || *at == '}';
            at++;
        }
        if (depth.now <= 0)
            return at;
        at = next_token_or_line(at);
    }
    *closed = false;
    return at;
}

// Whether the text calls or defines `name` anywhere. Where a bracket is never closed, what a function is cannot be
// told, and the compiler is to say what is wrong.
static bool mentions(const char *text, const char *name)
{
    for (const char *at = next_token(text); *at; at = next_token(at)) {
        size_t length = heddle_check_word_length(at);
        if (heddle_check_word_is(at, length, name) && *next_token(at + length) == '(')
            return true;
        at += length > 0 ? length : 1;
    }
    return false;
}

// After a parameter list: does the body follow? const, noexcept and the like may stand between.
static bool body_follows(const char *at)
{
    at = next_token(at);
    while (heddle_check_is_word(*at))
        at = next_token(at + heddle_check_word_length(at));
    return *at == '{';
}

heddle_check_defines heddle_check_text_defines(const char *text, const char *name)
{
    bool kernel = false, transparent = false, closed = true;
    for (const char *at = next_token(text); *at; at = next_token(at)) {
        size_t length = heddle_check_word_length(at);
        if (length > 0) {
            kernel |= heddle_check_word_is(at, length, "__global__");
            transparent |= heddle_check_word_is(at, length, "namespace") || heddle_check_word_is(at, length, "extern");
            const char *open = next_token(at + length);
            if (heddle_check_word_is(at, length, name) && *open == '(' && body_follows(skip_brackets(open, &closed)))
                return kernel ? HEDDLE_CHECK_IS_KERNEL : HEDDLE_CHECK_FUNCTION;
            at += length;
            continue;
        }
        if (*at == '(') {
            at = skip_brackets(at, &closed);
            transparent = false; // extern "C" void f(...) {: a body, not a block of declarations
            continue;
        }
        if (*at == '{' && !transparent)
            at = skip_brackets(at, &closed);
        else
            at++;
        if (at[-1] == ';' || at[-1] == '}' || at[-1] == '{')
            kernel = transparent = false;
    }
    return !closed && mentions(text, name) ? HEDDLE_CHECK_FUNCTION : HEDDLE_CHECK_ABSENT;
}

// The name between the quotes of #include "..." at `at`, which follows the '#'; false for anything else.
static bool read_include(const char *at, char *name, size_t size)
{
    at += strspn(at, " \t");
    if (strncmp(at, "include", 7) != 0)
        return false;
    at += 7 + strspn(at + 7, " \t");
    size_t length = *at == '"' ? strcspn(at + 1, "\"\n") : 0;
    if (length == 0 || at[1 + length] != '"' || length >= size)
        return false;
    snprintf(name, size, "%.*s", (int)length, at + 1);
    return true;
}

static heddle_status file_defines(const char *path, const char *name, int depth, heddle_check_defines *defines)
{
    char *text = NULL;
    size_t size = 0;
    HEDDLE_TRY(heddle_file_read(path, LARGEST_SOURCE, &text, &size));
    *defines = heddle_check_text_defines(text, name);
    for (const char *hash = text; *defines == HEDDLE_CHECK_ABSENT && depth < DEEPEST_INCLUDE; hash++) {
        hash = strchr(hash, '#');
        if (!hash)
            break;
        char included[512], beside[PATH_MAX];
        if (!read_include(hash + 1, included, sizeof included))
            continue;
        const char *slash = strrchr(path, '/');
        snprintf(beside, sizeof beside, "%.*s%s", slash ? (int)(slash - path + 1) : 0, path, included);
        if (heddle_file_exists(beside) && file_defines(beside, name, depth + 1, defines) != HEDDLE_OK)
            *defines = HEDDLE_CHECK_ABSENT;
    }
    free(text);
    return HEDDLE_OK;
}

heddle_status heddle_check_file_defines(const char *path, const char *name, heddle_check_defines *defines)
{
    *defines = HEDDLE_CHECK_ABSENT;
    return file_defines(path, name, 0, defines);
}

// Why there is nothing to run in a file, where that is not only a main that is missing; "": that is all.
static const char *what_is_wrong(const char *text, size_t size, bool alone)
{
    size_t blanks = strspn(text, " \t\r\n\f\v");
    if (blanks == size)
        return "the file is empty";
    if (memchr(text, '\0', size))
        return "this is no text: heddle check reads CUDA source, a .cu file";
    if (alone && !strstr(text, "__global__") && !strchr(text, '{') && !strstr(text, "#include"))
        return "this is no CUDA source: it has neither functions nor kernels";
    return "";
}

heddle_status heddle_check_file_refuse(const char *path, bool alone)
{
    char *text = NULL;
    size_t size = 0;
    HEDDLE_TRY(heddle_file_read(path, LARGEST_SOURCE, &text, &size));
    const char *wrong = what_is_wrong(text, size, alone);
    free(text);
    return wrong[0] ? heddle_fail(HEDDLE_INVALID,
                                  "%s: %s; name a .cu file that has a main, or kernels and the operator they compute "
                                  "by --op",
                                  path, wrong)
                    : HEDDLE_OK;
}
