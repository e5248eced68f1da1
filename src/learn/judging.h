// What the parts of the judge share: the copy of the learner's file that is judged, and how its lines are quoted.
#pragma once

#include "base/place.h"
#include "check/result.h"
#include "learn/code.h"
#include "learn/rules.h"
#include "learn/verdict.h"

struct cJSON;

typedef struct heddle_learn_judging {
    const heddle_learn_exercise *exercise;
    const heddle_learn_rules *rules;
    const char *include;          // the folder with learn.h
    const char *beside, *chapter; // folders with headers that a learner may include: that of their file, the chapter's
    const char *shown;            // the learner's file as messages name it
    bool utf8;                    // pictures may use it
    bool trace;                   // record what small launches do
    char folder[HEDDLE_PLACE_SIZE]; // private, with the two copies; its real path
    char source[HEDDLE_PLACE_SIZE + 256], judge[HEDDLE_PLACE_SIZE + 256];
    char mark[32]; // "learn_0123456789abcdef": begins the judge's lines after an @; new for each judging
    heddle_check_sources *sources;
    const heddle_learn_code *code;     // the learner's text; NULL: not read yet
    const heddle_check_result *result; // of the simulator; NULL: it was not asked
    bool dropped;                      // part of what the program printed, for there was too much
    const char *in_case;               // where the judge stopped; "": not known
    heddle_learn_verdict *verdict;
} heddle_learn_judging;

// quote.c: adds a line of source to a reason. The learner's file also becomes the reason's place if it has none. A file
// that is neither the learner's nor the judge's is left out.
void heddle_learn_quote(const heddle_learn_judging *judging, heddle_learn_reason *reason,
                        const heddle_check_place *place, const char *about);
bool heddle_learn_is_learners(const heddle_learn_judging *judging, const char *file);
// A text without the names of our temporary folder, as of what a program prints about itself.
const char *heddle_learn_without_folders(const heddle_learn_judging *judging, const char *text);
// The same of a text of the simulator's or a compiler's, with kernels' names in quotes.
const char *heddle_learn_clean(const heddle_learn_judging *judging, const char *text);
// A text with "(3,0,0)" written as 3 or (3,0), for launches of one or two dimensions.
const char *heddle_learn_short_indices(const heddle_learn_judging *judging, const char *text, int dimensions);
int heddle_learn_dimensions(const heddle_check_kernel *kernel); // of a launch: 1, 2 or 3

// trace.c: keeps the trace of a check with the verdict.
void heddle_learn_keep_trace(const heddle_learn_judging *judging, const heddle_check_result *result);

// advise.c: what to do about a finding; NULL: its text says it already.
const char *heddle_learn_advice(const heddle_learn_judging *judging, const heddle_check_finding *finding);
// guard.c: the same about an access past the end, in a kernel.
const char *heddle_learn_advise_guard(const heddle_learn_judging *judging, const heddle_check_finding *finding);
// The same about an access before the start.
const char *heddle_learn_advise_below(const heddle_learn_judging *judging, const heddle_check_finding *finding);
// A chapter that knows no atomics, fences or barriers of a warp yet.
bool heddle_learn_is_early(const heddle_learn_judging *judging);
// A race of two threads that computed the same index.
bool heddle_learn_is_same_index(const heddle_check_finding *finding);
// Two races that one barrier, or one index, mends.
bool heddle_learn_same_cause(const heddle_check_finding *a, const heddle_check_finding *b);
// An uninitialised read of an array that another finding is about: it mostly follows from that.
bool heddle_learn_follows(const heddle_learn_judging *judging, const heddle_check_finding *finding);
// explain.c: all findings of the simulator; wrong.c: what the judge itself said ("@MARK {...}") about a wrong result.
void heddle_learn_explain_findings(const heddle_learn_judging *judging);
void heddle_learn_explain_wrong(const heddle_learn_judging *judging, const struct cJSON *said);
// limits.c: counters against the limits of judge.json; output.
void heddle_learn_apply_limits(const heddle_learn_judging *judging);
void heddle_learn_apply_output(const heddle_learn_judging *judging);
// words.c: must_use, must_not_use; what nvcc refuses and the simulator lets pass: a kernel that is called like a
// function, a shared variable with an initialiser, an `extern` one with a size; the judge's own names. The last returns
// whether there are any.
heddle_status heddle_learn_apply_words(const heddle_learn_judging *judging, const heddle_learn_code *code);
void heddle_learn_refuse_calls(const heddle_learn_judging *judging, const heddle_learn_code *code);
void heddle_learn_refuse_initialisers(const heddle_learn_judging *judging, const heddle_learn_code *code);
void heddle_learn_refuse_sizes(const heddle_learn_judging *judging, const heddle_learn_code *code);
bool heddle_learn_refuse_names(const heddle_learn_judging *judging, const heddle_learn_code *code);
// compiler.c: the name that is passed first in a call of this line, behind a cast; NULL: there is none. by_address:
// behind an `&`, too.
const char *heddle_learn_first_argument(heddle_arena *arena, const char *line, const char *call, bool by_address);
// What to do about a cudaMalloc in this line that got a pointer instead of its address; NULL: it did not.
const char *heddle_learn_advise_malloc(heddle_arena *arena, const char *line);
// An error of a compiler. `messages`: what gcc or clang printed.
void heddle_learn_explain_error(const heddle_learn_judging *judging, const char *file, int line, int column,
                                const char *message);
// "FILE:LINE:COLUMN: ...", the column where there is one. `file` holds the name. False: another text.
bool heddle_learn_read_place(const char *text, char file[HEDDLE_PLACE_SIZE], heddle_check_frame *frame);
void heddle_learn_explain_messages(const heddle_learn_judging *judging, const char *messages);
// The same for warnings of variables that are read before they are set; others are not told.
void heddle_learn_explain_doubts(const heddle_learn_judging *judging, const char *messages);
// sanitizer.c: what AddressSanitizer and UndefinedBehaviorSanitizer printed. False: nothing that it knows.
bool heddle_learn_explain_sanitizer(const heddle_learn_judging *judging, const char *errors);
// said.c: the judge's lines in what the program printed; the rest becomes verdict->output. False: the last of them is
// not the judge's last word.
bool heddle_learn_hear(heddle_learn_judging *judging, const char *output);
void heddle_learn_ended_early(const heddle_learn_judging *judging, const char *how);
