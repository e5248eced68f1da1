// The name of an allocation: the variable that cudaMalloc and its kin were given, read from the source line of the
// call, as nothing in the running program knows it.
#define _GNU_SOURCE 1
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "memory/memory.h"
#include "report/internal.h"

enum { STATEMENT = 1024 }; // bytes of source text looked at
enum { LINES_AFTER = 3 };  // a call may go on for some lines
enum { MOST_CALLS = 256 }; // places that allocate in one program

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static const char *skip_blanks(const char *text)
{
    while (*text && isspace((unsigned char)*text))
        text++;
    return text;
}

// --- reading a call ------------------------------------------------------------------------------------------------

// The start of the `which`th word equal to `word` that a bracket or template arguments follow; *after: behind the word.
static const char *find_call(const char *text, const char *word, size_t which, const char **after)
{
    size_t length = strlen(word);
    for (const char *at = text; length && (at = strstr(at, word)); at += length) {
        const char *next = skip_blanks(at + length);
        if ((at > text && in_word(at[-1])) || (*next != '(' && *next != '<') || which-- > 0)
            continue;
        *after = next;
        return at;
    }
    return NULL;
}

static const char *skip_bracket(const char *text, char open, char close)
{
    int depth = 0;
    for (; *text; text++) {
        depth += (*text == open) - (*text == close);
        if (depth == 0)
            return text + 1;
    }
    return text;
}

// "(void **)&d" to "&d", "reinterpret_cast<void **>(&d)" to "(&d)"; an expression in brackets stays.
static const char *skip_casts(const char *text)
{
    for (;;) {
        text = skip_blanks(text);
        const char *behind = NULL;
        if (*text == '(') {
            const char *end = skip_bracket(text, '(', ')');
            bool pointer =
                end > text + 1 && memchr(text, '*', (size_t)(end - text)) && !memchr(text, '&', (size_t)(end - text));
            behind = pointer && *skip_blanks(end) != ',' && *skip_blanks(end) != ')' && *skip_blanks(end) ? end : NULL;
        } else if (strstr(text, "_cast") && strcspn(text, "<(,&") == strcspn(text, "<") && strchr(text, '<')) {
            behind = skip_bracket(strchr(text, '<'), '<', '>');
        }
        if (!behind)
            return text;
        text = behind;
    }
}

// The variable in "&s.data", "(&rows[i])", "out": characters of a name, of a member, of an index; "" for other things.
static bool copy_variable(const char *text, char *name, size_t bytes)
{
    size_t used = 0;
    int depth = 0;
    while (*text == '(' || *text == '&' || isspace((unsigned char)*text))
        text++;
    for (; *text && used + 1 < bytes; text++) {
        if (*text == '[' || *text == ']')
            depth += *text == '[' ? 1 : -1;
        else if (depth == 0 && (*text == ',' || *text == ')' || *text == ';'))
            break;
        else if (!in_word(*text) && !isspace((unsigned char)*text) && !strchr(".:*+", *text) &&
                 strncmp(text, "->", 2) != 0 && !(*text == '>' && used && name[used - 1] == '-'))
            return false;
        if (!isspace((unsigned char)*text))
            name[used++] = *text;
    }
    name[used] = '\0';
    return used > 0;
}

// "float *p = (float *)malloc(n)", "p = new T": the word before the sign, on the left of `call`.
static bool copy_assigned(const char *text, const char *call, char *name, size_t bytes)
{
    const char *end = call;
    while (end > text && end[-1] != '=' && !strchr(";{}", end[-1]))
        end--;
    if (end == text || end[-1] != '=')
        return false;
    end--;
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    const char *start = end;
    while (start > text && (in_word(start[-1]) || strchr(".[]", start[-1]) || strncmp(start - 1, "->", 2) == 0 ||
                            (start[-1] == '>' && start - 1 > text && start[-2] == '-')))
        start--;
    if (start == end)
        return false;
    snprintf(name, bytes, "%.*s", (int)(end - start), start);
    return true;
}

bool sim_describe_parse(const char *text, const char *function, size_t which, char *name, size_t bytes)
{
    const char *after = NULL;
    name[0] = '\0';
    if (strcmp(function, "malloc") == 0 || strcmp(function, "new") == 0) {
        const char *call = strstr(text, function);
        return call && copy_assigned(text, call, name, bytes);
    }
    if (!find_call(text, function, which, &after))
        return false;
    if (*after == '<')
        after = skip_blanks(skip_bracket(after, '<', '>'));
    if (*after != '(' || !copy_variable(skip_casts(after + 1), name, bytes)) {
        name[0] = '\0';
        return false;
    }
    return true;
}

// "thrust::device_vector<float> weights(n)" on the first line: the vector, whose memory it is. False: the line makes
// none.
static bool names_vector(const char *text, char *name, size_t bytes)
{
    const char *vector = strstr(text, "device_vector<"), *end = strchr(text, '\n');
    if (!vector || (end && vector > end))
        return false;
    const char *start = skip_blanks(skip_bracket(strchr(vector, '<'), '<', '>'));
    size_t length = 0;
    while (in_word(start[length]))
        length++;
    snprintf(name, bytes, "%.*s", (int)length, start);
    return true;
}

// --- which call ----------------------------------------------------------------------------------------------------

static uintptr_t calls[MOST_CALLS];
static size_t call_count;

static void want_call(const sim_allocation *allocation, void *context)
{
    (void)context;
    for (size_t i = 0; i < call_count; i++)
        if (calls[i] == allocation->allocated_at)
            return;
    if (call_count == MOST_CALLS || !allocation->allocated_at)
        return;
    calls[call_count++] = allocation->allocated_at;
    sim_lines_want(allocation->allocated_at);
}

void sim_describe_want(const sim_described *memory)
{
    sim_lines_want(memory->allocated_at);
    sim_lines_want(memory->freed_at);
    if (memory->allocated_at && call_count == 0)
        sim_memory_each(want_call, NULL);
}

static bool same_line(const sim_stack *a, const sim_stack *b)
{
    return a && b && a->frames[0].line == b->frames[0].line && strcmp(a->frames[0].file, b->frames[0].file) == 0;
}

// Several calls on one line stand there in the order of their code.
static size_t position_on_line(uintptr_t pc)
{
    size_t before = 0;
    for (size_t i = 0; i < call_count; i++)
        before += calls[i] < pc && same_line(sim_lines_of(calls[i]), sim_lines_of(pc));
    return before;
}

// The line of a call and some after it, as one text.
static void statement_at(const sim_frame *frame, unsigned line, char text[STATEMENT])
{
    size_t used = 0;
    for (unsigned i = 0; i <= LINES_AFTER; i++) {
        size_t length;
        const char *start = sim_source_line(frame->file, line + i, &length);
        if (!start || used + length + 2 > STATEMENT)
            break;
        memcpy(text + used, start, length);
        used += length;
        text[used++] = '\n';
    }
    text[used] = '\0';
}

void sim_describe_name(sim_described *memory)
{
    const sim_stack *stack = sim_lines_of(memory->allocated_at);
    if (!stack || !memory->function || memory->name[0])
        return;
    char text[STATEMENT];
    const sim_frame *frame = &stack->frames[0];
    size_t which = position_on_line(memory->allocated_at);
    statement_at(frame, frame->line, text);
    if (names_vector(text, memory->name, sizeof memory->name))
        return;
    // The compiler may give the last line of a call that is written over several.
    for (unsigned back = 0; back <= LINES_AFTER && back < frame->line; back++) {
        statement_at(frame, frame->line - back, text);
        if (sim_describe_parse(text, memory->function, which, memory->name, sizeof memory->name))
            return;
        if (which && sim_describe_parse(text, memory->function, 0, memory->name, sizeof memory->name))
            return;
        memory->name[0] = '\0';
    }
}
