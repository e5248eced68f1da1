// Judges a learner's file: copies it beside the judge of its exercise, builds and runs both, on the simulated GPU or,
// for plain C, under sanitizers, and explains what went wrong. Prints nothing.
#pragma once

#include "learn/verdict.h"

typedef struct heddle_learn_task {
    const heddle_learn_course *course;
    const heddle_learn_exercise *exercise;
    const char *path;  // the file to judge
    const char *shown; // as messages name it
    bool utf8;         // pictures may use it
    bool on_hardware;  // run it on a real GPU too if it passes
    bool trace;        // record what small launches do, for pictures
} heddle_learn_task;

// HEDDLE_OK: *verdict says how it came out. Otherwise it could not be judged: the file is missing, empty, binary or too
// large; HEDDLE_MISSING: no compiler, or no GPU; HEDDLE_INTERRUPTED.
heddle_status heddle_learn_judge(const heddle_learn_task *task, heddle_learn_verdict **verdict);

// The text of a learner's file, which may be empty; what is no text is refused in one line that says what to do.
heddle_status heddle_learn_read_file(const heddle_learn_task *task, char **text, size_t *size);
