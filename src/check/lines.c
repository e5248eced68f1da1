// A call that spans lines is where its name stands. Compilers put a launch at the end of <<<...>>>, and all that a
// macro expands to at the line of the macro: CHECK( on one line, cudaMemcpy( on the next.

#include "check/lines.h"

#include <stdio.h>
#include <string.h>

#include "sim/source/launch.h"
#include "sim/source/scope.h"

enum { LONGEST_NAME = 128 }; // of a function

// MACRO(
//     cudaMemcpy(...   from the first line to the second.
static int line_of_call(const sim_source *source, int line, const char *function)
{
    static const char *const ends[] = {";", "{", "}", NULL};
    int first, last;
    sim_tokens_on_line(&source->code, line, &first, &last);
    for (int i = first; i < source->code.count; i++) {
        const sim_token *token = &source->code.at[i], *next = sim_token_at(&source->code, i + 1);
        if (i >= last && sim_token_is_any(source, sim_token_at(&source->code, i - 1), ends))
            break;
        if (sim_token_is(source, token, function) &&
            (sim_token_is(source, next, "(") || sim_token_is(source, next, "<")))
            return token->line;
    }
    return line;
}

// kernel<<<grid,
//          block>>>(   from the second line to the first; NULL: whatever the kernel is called.
static int line_of_launch(const sim_source *source, int line, const char *kernel)
{
    int first, last;
    sim_tokens_on_line(&source->code, line, &first, &last);
    for (int i = first < last ? sim_statement_start(source, &source->code, first) : last; i < last; i++) {
        sim_launch launch;
        if (!sim_launch_at(source, &source->code, i, &launch))
            continue;
        const sim_token *name = &source->code.at[launch.name >= 0 ? launch.name : launch.callee];
        if (!kernel || sim_token_is(source, name, kernel))
            return name->line;
    }
    return line;
}

// "cudaMemcpy fails with ...", "cublasSgemm: ...", "scale<float>".
static void first_word(const char *text, char name[LONGEST_NAME])
{
    size_t length = 0;
    while (sim_is_name(text[length]))
        length++;
    snprintf(name, LONGEST_NAME, "%.*s", (int)length, text);
}

static void settle_place(const heddle_check_result *result, const heddle_check_finding *finding,
                         heddle_check_place *place)
{
    char name[LONGEST_NAME];
    heddle_check_frame *frame = &place->frame[0];
    const sim_source *source =
        place->frames > 0 && !place->has_thread ? heddle_check_sources_code(result->sources, frame->file) : NULL;
    if (!source)
        return;
    if (strcmp(place->role, "launch") == 0 && finding->kernel) {
        first_word(finding->kernel, name);
        frame->line = line_of_launch(source, frame->line, name);
    } else if (strncmp(finding->message, "the launch ", strlen("the launch ")) == 0) {
        frame->line = line_of_launch(source, frame->line, NULL);
    } else if (strcmp(place->role, "call") == 0 && !finding->kernel) {
        first_word(finding->message, name);
        frame->line = line_of_call(source, frame->line, name);
    } else if (finding->memory && (strcmp(place->role, "allocated") == 0 || strcmp(place->role, "freed") == 0)) {
        const bool freed = place->role[0] == 'f';
        frame->line = line_of_call(source, frame->line,
                                   freed ? finding->memory->freed.function : finding->memory->allocated.function);
    }
}

static void settle_memory(const heddle_check_result *result, heddle_check_memory *memory)
{
    heddle_check_frame *frames[] = {&memory->allocated, &memory->freed};
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        const sim_source *source = heddle_check_sources_code(result->sources, frames[i]->file);
        if (source && frames[i]->line > 0)
            frames[i]->line = line_of_call(source, frames[i]->line, frames[i]->function);
    }
}

void heddle_check_lines_settle(heddle_check_result *result)
{
    for (int i = 0; i < result->finding_count; i++) {
        heddle_check_finding *finding = result->findings[i];
        for (int p = 0; p < finding->place_count; p++)
            settle_place(result, finding, &finding->places[p]);
        if (finding->memory)
            settle_memory(result, finding->memory);
    }
}
