// Whether the course keeps its word: every start fails for the reasons that its exercise states and no other, every
// solution passes without any finding, every near miss (a likely wrong answer, in the exercise's near-misses/) fails as
// its first line says, and every exercise has its files, a goal and hints.
#pragma once

#include "learn/judge.h"

typedef struct heddle_learn_verified {
    const heddle_learn_exercise *exercise;
    bool fine;
    const char *problems;    // one per line; "": none
    const char *start_fails; // "race, wrong"
    double start_seconds, solution_seconds;
    int near_misses;          // that were judged
    const char *gpu;          // the solution ran there, too; NULL: it did not
    heddle_learn_time *times; // of the solution on it
    int time_count;
} heddle_learn_verified;

typedef struct heddle_learn_verification {
    const heddle_learn_course *course;
    const heddle_learn_exercise *const *exercises; // to verify
    int count;
    int jobs;         // at a time
    bool on_hardware; // solutions must pass on a real GPU, too
    // Called after each, by one thread at a time.
    void (*report)(void *context, const heddle_learn_verified *verified);
    void *context;
} heddle_learn_verification;

// *results has `count` entries, in the order of the exercises; all of it lives in the arena.
heddle_status heddle_learn_verify(const heddle_learn_verification *verification, heddle_arena *arena,
                                  heddle_learn_verified **results);
