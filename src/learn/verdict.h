// What the judge says about a learner's file: passed, or reasons why not, in words and with the lines they are about.
// A view prints the items of a reason one after another.
#pragma once

#include "learn/course.h"

struct cJSON;

typedef enum heddle_learn_item_kind {
    HEDDLE_LEARN_TEXT,    // a sentence or two
    HEDDLE_LEARN_CODE,    // a line of source, with what happens there
    HEDDLE_LEARN_DRAWING, // lines to show as they are: a table or a picture
    HEDDLE_LEARN_ADVICE,  // what to do
} heddle_learn_item_kind;

typedef struct heddle_learn_item {
    heddle_learn_item_kind kind;
    const char *text;  // of CODE: the line of source
    const char *file;  // of CODE: as the learner knows it
    const char *about; // of CODE: what happens there: "write by thread 1 of block 0"; "": nothing to add
    int line;          // of CODE, as are the next two
    int column, width; // what is meant in the line, in bytes, from 1; 0: not known
} heddle_learn_item;

// What a learner should read first. The last are not shown where there are others: they follow from them.
enum {
    HEDDLE_LEARN_RANK_COMPILE,
    HEDDLE_LEARN_RANK_ERROR,
    HEDDLE_LEARN_RANK_WRONG,
    HEDDLE_LEARN_RANK_WARNING,
    HEDDLE_LEARN_RANK_OUTPUT,
    HEDDLE_LEARN_RANK_LIMIT,
    HEDDLE_LEARN_RANK_SOURCE,
    HEDDLE_LEARN_RANK_FOLLOWS,
};

typedef struct heddle_learn_reason {
    const char *tag;      // as judge.json names it: "race", "wrong", "limit", ...
    const char *headline; // one line
    const char *in_case;  // the case that the judge was at; "": not known
    int line, column;     // in the learner's file; 0: not there
    int rank;             // of the list above
    int finding;          // its index in the trace; -1: it is not about one
    heddle_learn_item *items;
    int item_count;
} heddle_learn_reason;

// How long something took on a real GPU.
typedef struct heddle_learn_time {
    const char *name;
    double microseconds;
} heddle_learn_time;

enum { HEDDLE_LEARN_MOST_REASONS = 40 }; // those after are not kept

typedef struct heddle_learn_verdict {
    heddle_arena *arena;
    bool passed;
    heddle_learn_reason *reasons; // in the order to read them
    int reason_count;
    const char *output;  // what the program printed itself; "": nothing
    double seconds;      // from the file to the verdict
    struct cJSON *trace; // what small launches did, for pictures (docs/json.md); NULL: not recorded
    bool on_hardware;    // it ran on a real GPU too, and `passed` counts that
    const char *gpu;     // its name; NULL: it did not
    heddle_learn_time *times;
    int time_count;
} heddle_learn_verdict;

void heddle_learn_verdict_free(heddle_learn_verdict *verdict); // NULL is fine

// Without the trace, which is large.
struct cJSON *heddle_learn_verdict_json(const heddle_learn_verdict *verdict);

// Adding to a verdict while it is made. Without memory nothing is added and `reason` is a spare one, so that callers
// need not ask.
heddle_status heddle_learn_verdict_create(heddle_learn_verdict **verdict);
heddle_learn_reason *heddle_learn_add_reason(heddle_learn_verdict *verdict, const char *tag, int rank,
                                             const char *format, ...) HEDDLE_PRINTF(4, 5);
heddle_learn_item *heddle_learn_add_item(heddle_learn_verdict *verdict, heddle_learn_reason *reason,
                                         heddle_learn_item_kind kind, const char *format, ...) HEDDLE_PRINTF(4, 5);
void heddle_learn_set_output(heddle_learn_verdict *verdict, const char *output);
// Text of a program's, safe on a terminal and in JSON: control characters and what is not UTF-8 become '?'.
const char *heddle_learn_printable(heddle_arena *arena, const char *text);
// Sorts the reasons and decides.
void heddle_learn_verdict_settle(heddle_learn_verdict *verdict);
bool heddle_learn_has_reason(const heddle_learn_verdict *verdict, const char *tag);
