// The kinds of findings, the simulator's and the check's own: how headlines call them, why they usually happen and what
// fixes them. words.h has what fits a single finding better. The table in docs/simulator.md is made of this one.
#pragma once

// In the order a person should look at them: what breaks others comes first.
typedef enum heddle_check_kind {
    HEDDLE_CHECK_NOT_BUILT, // the host compiler refuses the source
    HEDDLE_CHECK_NOT_LEGAL, // nvcc refuses the source
    HEDDLE_CHECK_UNSUPPORTED,
    HEDDLE_CHECK_OUT_OF_BOUNDS,
    HEDDLE_CHECK_USE_AFTER_FREE,
    HEDDLE_CHECK_HOST_POINTER,
    HEDDLE_CHECK_DEVICE_POINTER,
    HEDDLE_CHECK_MISALIGNED,
    HEDDLE_CHECK_FAULT,
    HEDDLE_CHECK_STACK_OVERFLOW,
    HEDDLE_CHECK_ASSERT,
    HEDDLE_CHECK_TRAP,
    HEDDLE_CHECK_BAD_LAUNCH,
    HEDDLE_CHECK_BAD_CALL,
    HEDDLE_CHECK_INVALID_FREE,
    HEDDLE_CHECK_DEADLOCK,
    HEDDLE_CHECK_SPIN,
    HEDDLE_CHECK_BARRIER_DIVERGENT,
    HEDDLE_CHECK_BARRIER_EXITED,
    HEDDLE_CHECK_WARP_MASK,
    HEDDLE_CHECK_WARP_MISMATCH,
    HEDDLE_CHECK_RACE,
    HEDDLE_CHECK_MISSING_WAIT,
    HEDDLE_CHECK_UNINITIALISED,
    HEDDLE_CHECK_DIVISION_BY_ZERO,
    HEDDLE_CHECK_WRONG_RESULT,    // of an operator, against its reference
    HEDDLE_CHECK_WRONG_OUTPUT,    // of a program, against a file
    HEDDLE_CHECK_ORDER_DEPENDENT, // another legal order gave another result
    HEDDLE_CHECK_NO_LAUNCH,       // of a program that should have kernels
    HEDDLE_CHECK_TRUNCATED_GRID,
    HEDDLE_CHECK_UNCHECKED_ERROR,
    HEDDLE_CHECK_LEAK,
    HEDDLE_CHECK_TIMEOUT,
    HEDDLE_CHECK_MEMORY, // more than the limit
    HEDDLE_CHECK_DIED,   // by a signal, or without a report
    HEDDLE_CHECK_OTHER,  // a kind that this version does not know
    HEDDLE_CHECK_KINDS
} heddle_check_kind;

typedef struct heddle_check_kind_info {
    const char *name;    // in JSON, SARIF and suppressions: "out-of-bounds"
    const char *title;   // of the headline: "out-of-bounds access"
    const char *link;    // between title and memory: "on", "of"; NULL: memory is not named in the headline
    const char *cause;   // the usual one, a sentence
    const char *cure;    // what fixes it
    const char *meaning; // in a few words; NULL: the check's own kind, not the simulator's
    const char *tier;    // of the simulator's kinds: what it mostly is, and when it is the other
} heddle_check_kind_info;

extern const heddle_check_kind_info heddle_check_kinds[HEDDLE_CHECK_KINDS];

// HEDDLE_CHECK_OTHER for a name that is not in the table.
heddle_check_kind heddle_check_kind_find(const char *name);
