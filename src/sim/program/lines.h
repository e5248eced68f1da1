// Source lines of places in the program.
#pragma once

#include <stddef.h>
#include <stdint.h>

// --- lines.c --------------------------------------------------------------------------------------------------------

typedef struct sim_frame {
    const char *file; // "": not known
    unsigned line;
    const char *function; // "": not known
} sim_frame;

typedef struct sim_stack {
    size_t count; // at least 1
    const sim_frame *frames;
    const sim_frame *within; // the function of a header that the user's code calls there, inlined; NULL: none
} sim_stack;

// "add.cu:12"; returns `text`.
enum { SIM_PLACE_BYTES = 256 };
const char *sim_frame_text(const sim_frame *frame, char text[SIM_PLACE_BYTES]);
int sim_frame_compare(const sim_frame *a, const sim_frame *b); // by file and line, or function where there is none

void sim_lines_want(uintptr_t pc); // 0 is ignored
void sim_lines_resolve(void);
const sim_stack *sim_lines_of(uintptr_t pc); // NULL: not wanted before

// --- source_file.c
// -------------------------------------------------------------------------------------------------------

// Line `number` (from 1) of a source file, without its end; NULL: no such file or line.
const char *sim_source_line(const char *path, unsigned number, size_t *length);
