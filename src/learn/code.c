// Reads a learner's source without compiling it.

#include <ctype.h>
#include <string.h>

#include "learn/judging.h"

const char *heddle_learn_code(heddle_arena *arena, const char *text)
{
    char *code = heddle_arena_copy_text(arena, text);
    for (char *at = code; at && *at;) {
        if (*at == '"' || *at == '\'') {
            char quote = *at++;
            while (*at && *at != quote && *at != '\n')
                at += at[0] == '\\' && at[1] ? 2 : 1;
            at += *at != '\0';
            continue;
        }
        bool line = strncmp(at, "//", 2) == 0, block = strncmp(at, "/*", 2) == 0;
        if (!line && !block) {
            at++;
            continue;
        }
        char *end = strstr(at + 2, line ? "\n" : "*/");
        end = end ? end + (block ? 2 : 0) : at + strlen(at);
        for (; at < end; at++)
            *at = *at == '\n' ? '\n' : ' ';
    }
    return code;
}

void heddle_learn_point_to(const heddle_learn_judging *judging, heddle_learn_reason *reason, const char *code,
                           const char *found, size_t length)
{
    int line = 1;
    const char *begin = code;
    for (const char *at = code; at < found; at++)
        if (*at == '\n') {
            line++;
            begin = at + 1;
        }
    heddle_check_place place = {.frame = {{.file = judging->source, .line = line, .function = ""}},
                                .frames = 1,
                                .column = (int)(found - begin) + 1,
                                .width = (int)length};
    heddle_learn_quote(judging, reason, &place, "");
}

// --- kernels that are called like functions --------------------------------------------------------------------------

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

// The name of the kernel whose __global__ ends before `at`; NULL: none follows.
static const char *kernel_name(const char *at, size_t *length)
{
    static const char bounds[] = "__launch_bounds__";
    for (;;) {
        const char *open = strchr(at, '('), *end = open;
        if (!open || strcspn(at, ";{}") < (size_t)(open - at))
            return NULL;
        while (end > at && isspace((unsigned char)end[-1]))
            end--;
        const char *begin = end;
        while (begin > at && is_word(begin[-1]))
            begin--;
        *length = (size_t)(end - begin);
        if (*length != sizeof bounds - 1 || strncmp(begin, bounds, *length) != 0)
            return *length > 0 ? begin : NULL;
        const char *close = strchr(open, ')');
        if (!close)
            return NULL;
        at = close + 1;
    }
}

static bool is_defined_at(const char *code, const char *place)
{
    static const char mark[] = "__global__";
    for (const char *at = strstr(code, mark); at && at < place; at = strstr(at + 1, mark)) {
        size_t length;
        if (kernel_name(at + sizeof mark - 1, &length) == place)
            return true;
    }
    return false;
}

static void refuse_calls_of(const heddle_learn_judging *judging, const char *code, const char *name, size_t length)
{
    for (const char *at = code; (at = memmem(at, strlen(at), name, length)) != NULL; at += length) {
        if ((at > code && (is_word(at[-1]) || at[-1] == '.' || at[-1] == '"')) || is_word(at[length]) ||
            *skip_blanks(at + length) != '(' || is_defined_at(code, at))
            continue;
        heddle_learn_reason *reason = heddle_learn_add_reason(
            judging->verdict, "compile", HEDDLE_LEARN_RANK_COMPILE,
            "it does not compile: %.*s is a kernel and is called like a function", (int)length, name);
        heddle_learn_point_to(judging, reason, code, at, length);
        heddle_learn_add_item(judging->verdict, reason, HEDDLE_LEARN_ADVICE,
                              "A kernel is launched, not called: say how many threads run it, as in "
                              "`%.*s<<<blocks, threads per block>>>(…)`.",
                              (int)length, name);
        return;
    }
}

void heddle_learn_refuse_calls(const heddle_learn_judging *judging, const char *code)
{
    static const char mark[] = "__global__";
    for (const char *at = strstr(code, mark); at; at = strstr(at + 1, mark)) {
        size_t length;
        const char *name = kernel_name(at + sizeof mark - 1, &length);
        if (name)
            refuse_calls_of(judging, code, name, length);
    }
}
