// What judge.json of an exercise says: why its start fails, and what a solution must keep to besides the right result.
#pragma once

#include "learn/course.h"

// What a limit counts. The first two are averages per source line, the others are totals over the run.
typedef enum heddle_learn_measure {
    HEDDLE_LEARN_SECTORS_PER_REQUEST,
    HEDDLE_LEARN_WAVEFRONTS_PER_REQUEST,
    HEDDLE_LEARN_ACCESSES,
    HEDDLE_LEARN_REQUESTS,
    HEDDLE_LEARN_SECTORS,
    HEDDLE_LEARN_LAUNCHES,
    HEDDLE_LEARN_BARRIERS,
    HEDDLE_LEARN_MEASURES
} heddle_learn_measure;

extern const char *const heddle_learn_measure_names[HEDDLE_LEARN_MEASURES]; // as judge.json has them

typedef struct heddle_learn_limit {
    const char *kernel, *space, *access; // NULL: any
    heddle_learn_measure measure;
    double most;
} heddle_learn_limit;

// A word that the learner's code must hold, or must not, and why.
typedef struct heddle_learn_word {
    const char *text, *why;
} heddle_learn_word;

// Lists end with NULL, or a word whose text is NULL.
typedef struct heddle_learn_rules {
    const char **start_fails_because;
    heddle_learn_word *must_use, *must_not_use; // NULL: none
    const char **output;                        // lines that the program has to print, in any order; NULL: not compared
    const char **libraries;
    heddle_learn_limit *limits;
    int limit_count;
    double seconds;
    int schedules;
    const char *gpu; // NULL: the simulator's default
} heddle_learn_rules;

// All of it lives in the arena. An unknown key or value is HEDDLE_CORRUPT.
heddle_status heddle_learn_rules_read(const heddle_learn_exercise *exercise, heddle_arena *arena,
                                      heddle_learn_rules *rules);
