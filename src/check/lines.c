// A call that spans lines is where its name stands. Compilers put a launch at the end of <<<...>>>, and all that a
// macro expands to at the line of the macro: CHECK( on one line, cudaMemcpy( on the next.

#include "check/lines.h"

#include <stdio.h>
#include <string.h>

#include "check/barrier.h"
#include "check/code.h"

enum { MOST_LINES = 20, MOST_COLUMNS = 1000, LONGEST_NAME = 128 }; // that one call spans; of a line; of a function

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
    char code[MOST_COLUMNS + 1];
    int open = 0;
    bool closed = false, comment = false;
    for (int line = first; line < first + MOST_LINES && !closed; line++) {
        const char *text = heddle_check_sources_line(result->sources, file, line);
        if (!text)
            break;
        heddle_check_code_of(text, &comment, code, sizeof code);
        if (heddle_check_has_call(code, function))
            return line;
        open = open_after(code, open, &closed);
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
        if (configured && (!kernel || heddle_check_find_word(text, text, kernel)))
            return line;
    }
    return last;
}

// "cudaMemcpy fails with ...", "cublasSgemm: ...", "scale<float>".
static void first_word(const char *text, char name[LONGEST_NAME])
{
    snprintf(name, LONGEST_NAME, "%.*s", (int)heddle_check_word_length(text), text);
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

void heddle_check_lines_settle(heddle_check_result *result)
{
    for (int i = 0; i < result->finding_count; i++) {
        heddle_check_finding *finding = result->findings[i];
        for (int p = 0; p < finding->place_count; p++)
            settle_place(result, finding, &finding->places[p]);
        heddle_check_barrier_settle(result, finding);
        if (finding->memory)
            settle_memory(result, (heddle_check_memory *)finding->memory);
    }
}
