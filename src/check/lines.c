// A call that spans lines is where its name stands. Compilers put a launch at the end of <<<...>>>, and all that a
// macro expands to at the line of the macro: CHECK( on one line, cudaMemcpy( on the next. The cure of a race names its
// lines.

#include "check/lines.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MOST_LINES = 20, LONGEST_NAME = 128 }; // that one call spans; of a function

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool has_word(const char *line, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = line; length > 0 && (at = strstr(at, word)) != NULL; at++)
        if ((at == line || !is_word(at[-1])) && !is_word(at[length]))
            return true;
    return false;
}

// cudaMemcpy(, cudaMalloc<float>(, for (: but not in a comment, where many a barrier stands that once was there.
static bool has_call(const char *line, const char *function)
{
    const char *comment = strstr(line, "//"), *other = strstr(line, "/*");
    const char *end = comment && (!other || comment < other) ? comment : other;
    size_t length = strlen(function);
    for (const char *at = line; length > 0 && (at = strstr(at, function)) != NULL; at++) {
        const char *behind = at + length + strspn(at + length, " \t");
        if (end && at >= end)
            return false;
        if ((at == line || !is_word(at[-1])) && (*behind == '(' || *behind == '<'))
            return true;
    }
    return false;
}

// The parentheses that a line leaves open, with those that were before it; 0 as soon as all are closed.
static int open_after(const char *line, int open, bool *closed)
{
    for (; *line && !*closed; line++) {
        open += *line == '(' ? 1 : *line == ')' ? -1 : 0;
        *closed = (*line == ')' && open <= 0) || *line == ';';
    }
    return open;
}

// MACRO(
//     cudaMemcpy(...   from the first line to the second.
static int line_of_call(const heddle_check_result *result, const char *file, int first, const char *function)
{
    int open = 0;
    bool closed = false;
    for (int line = first; line < first + MOST_LINES && !closed; line++) {
        const char *text = heddle_check_sources_line(result->sources, file, line);
        if (!text)
            break;
        if (has_call(text, function))
            return line;
        open = open_after(text, open, &closed);
        if (open <= 0)
            break;
    }
    return first;
}

// kernel<<<grid,
//          block>>>(   from the second line to the first; NULL: whatever the kernel is called.
static int line_of_launch(const heddle_check_result *result, const char *file, int last, const char *kernel)
{
    bool configured = false;
    for (int line = last; line > 0 && line > last - MOST_LINES; line--) {
        const char *text = heddle_check_sources_line(result->sources, file, line);
        if (!text || (line < last && strchr(text, ';')))
            break;
        configured |= strstr(text, "<<<") != NULL;
        if (configured && (!kernel || has_word(text, kernel)))
            return line;
    }
    return last;
}

// "cudaMemcpy fails with ...", "cublasSgemm: ...", "scale<float>".
static void first_word(const char *text, char name[LONGEST_NAME])
{
    size_t length = 0;
    while (is_word(text[length]) && length + 1 < LONGEST_NAME)
        length++;
    snprintf(name, LONGEST_NAME, "%.*s", (int)length, text);
}

static void settle_place(const heddle_check_result *result, const heddle_check_finding *finding,
                         heddle_check_place *place)
{
    char name[LONGEST_NAME];
    if (place->frames == 0 || place->has_thread)
        return;
    heddle_check_frame *frame = &place->frame[0];
    if (strcmp(place->role, "launch") == 0 && finding->kernel) {
        first_word(finding->kernel, name);
        frame->line = line_of_launch(result, frame->file, frame->line, name);
    } else if (strncmp(finding->message, "the launch ", strlen("the launch ")) == 0) {
        frame->line = line_of_launch(result, frame->file, frame->line, NULL);
    } else if (strcmp(place->role, "call") == 0 && !finding->kernel) {
        first_word(finding->message, name);
        frame->line = line_of_call(result, frame->file, frame->line, name);
    } else if (finding->memory && (strcmp(place->role, "allocated") == 0 || strcmp(place->role, "freed") == 0)) {
        const bool freed = place->role[0] == 'f';
        frame->line = line_of_call(result, frame->file, frame->line,
                                   freed ? finding->memory->freed.function : finding->memory->allocated.function);
    }
}

static void settle_memory(const heddle_check_result *result, heddle_check_memory *memory)
{
    heddle_check_frame *frames[] = {&memory->allocated, &memory->freed};
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
        if (frames[i]->line > 0)
            frames[i]->line = line_of_call(result, frames[i]->file, frames[i]->line, frames[i]->function);
}

// --- where the barrier of a race belongs ----------------------------------------------------------------------------

static bool any_line_calls(const heddle_check_result *result, const char *file, int first, int last,
                           const char *const *words)
{
    for (int line = first; line <= last; line++) {
        const char *text = heddle_check_sources_line(result->sources, file, line);
        for (int i = 0; text && words[i]; i++)
            if (has_call(text, words[i]))
                return true;
    }
    return false;
}

// `if (...)`, `for (...)`: a line whose statement is the next one.
static bool heads_next(const char *text)
{
    size_t length = text ? strlen(text) : 0;
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    return length > 0 && text[length - 1] == ')' &&
           (has_call(text, "if") || has_call(text, "for") || has_call(text, "while"));
}

// The depth of braces behind a line, from that before it. Those that close what was open before set *least below 0.
static int depth_after(const char *text, int depth, int *least)
{
    for (const char *comment = strstr(text, "//"); *text && text != comment; text++) {
        depth += *text == '{' ? 1 : *text == '}' ? -1 : 0;
        *least = depth < *least ? depth : *least;
    }
    return depth;
}

// A barrier belongs behind the block that the first access is in and before the one that only the other is in: moves
// the lines there. False where no lines can be named, as between the two branches of an if.
static bool narrow(const heddle_check_result *result, const char *file, int *first, int *last)
{
    int closed = *first, opened = 0, depth = 0;
    for (int line = *first; line <= *last; line++) {
        const char *text = heddle_check_sources_line(result->sources, file, line);
        if (!text || (line > *first && has_word(text, "else")))
            return false;
        int least = 0, after = line < *last ? depth_after(text, depth, &least) : depth;
        if (line == *first && (after != 0 || least < 0))
            return false;                             // which side of the brace the access is on is not known
        if (least < 0 || (depth > 0 && after == 0)) { // behind a block between the two as well, not inside it
            closed = line;
            after -= least;
        }
        if (after > 0 && depth == 0)
            opened = line;
        depth = after;
    }
    const char *text = depth > 0 ? heddle_check_sources_line(result->sources, file, opened) : "";
    *last = depth > 0 ? opened - (text[strspn(text, " \t")] == '{') : *last;
    while (*last - 1 > closed && heads_next(heddle_check_sources_line(result->sources, file, *last - 1)))
        --*last;
    *first = closed;
    return *first < *last;
}

// Where there is a barrier between the two lines already, they meet the other way round: in the next turn of a loop.
static const char *barrier_place(const heddle_check_result *result, const heddle_check_finding *finding, char *text,
                                 size_t size)
{
    static const char *const loops[] = {"for", "while", NULL};
    static const char *const barriers[] = {"__syncthreads", "sync", "arrive_and_wait", "wait", "__syncwarp", NULL};
    const heddle_check_frame *one = &finding->places[0].frame[0], *other = &finding->places[1].frame[0];
    int first = one->line < other->line ? one->line : other->line;
    int last = one->line < other->line ? other->line : one->line;
    if (strcmp(one->file, other->file) != 0 || strcmp(one->function, other->function) != 0 || first == last ||
        first <= 0 || last - first > MOST_LINES || any_line_calls(result, one->file, first, first, barriers) ||
        any_line_calls(result, one->file, last, last, barriers))
        return NULL;
    bool barrier_between = any_line_calls(result, one->file, first + 1, last - 1, barriers);
    if (!barrier_between && narrow(result, one->file, &first, &last))
        snprintf(text, size, "between line %d and line %d", first, last);
    else if (barrier_between &&
             any_line_calls(result, one->file, first > MOST_LINES ? first - MOST_LINES : 1, first, loops))
        snprintf(text, size, "behind line %d, before the loop comes back to line %d", last, first);
    else
        return NULL;
    return text;
}

// "Put __syncthreads() between the two, or ...": which lines that is.
static void settle_cure(const heddle_check_result *result, heddle_check_finding *finding)
{
    static const char vague[] = "between the two";
    char place[128], text[1024];
    const char *at = finding->cure ? strstr(finding->cure, vague) : NULL;
    bool known = finding->kind == HEDDLE_CHECK_RACE && at && finding->place_count == 2 &&
                 finding->places[0].frames > 0 && finding->places[1].frames > 0 &&
                 barrier_place(result, finding, place, sizeof place);
    if (!known)
        return;
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - finding->cure), finding->cure, place, at + sizeof vague - 1);
    const char *copy = heddle_arena_copy_text(result->arena, text);
    finding->cure = copy ? copy : finding->cure;
}

void heddle_check_lines_settle(heddle_check_result *result)
{
    for (int i = 0; i < result->finding_count; i++) {
        heddle_check_finding *finding = result->findings[i];
        for (int p = 0; p < finding->place_count; p++)
            settle_place(result, finding, &finding->places[p]);
        settle_cure(result, finding);
        if (finding->memory)
            settle_memory(result, (heddle_check_memory *)finding->memory);
    }
}
