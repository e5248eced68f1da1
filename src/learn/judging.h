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
    const char *include;            // the folder with learn.h
    const char *shown;              // the learner's file as messages name it
    bool utf8;                      // pictures may use it
    char folder[HEDDLE_PLACE_SIZE]; // private, with the two copies; its real path
    char source[HEDDLE_PLACE_SIZE + 256], judge[HEDDLE_PLACE_SIZE + 256];
    char mark[32]; // "learn_0123456789abcdef": begins the judge's lines after an @; new for each judging
    heddle_check_sources *sources;
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
// A text of the simulator's or a compiler's without the names of our temporary folder.
const char *heddle_learn_clean(const heddle_learn_judging *judging, const char *text);

// explain.c: a finding of the simulator, and what the judge itself said ("@MARK {...}") about a wrong result.
void heddle_learn_explain_finding(const heddle_learn_judging *judging, const heddle_check_finding *finding);
void heddle_learn_explain_wrong(const heddle_learn_judging *judging, const struct cJSON *said);
// limits.c: counters against the limits of judge.json; output.
void heddle_learn_apply_limits(const heddle_learn_judging *judging);
void heddle_learn_apply_output(const heddle_learn_judging *judging);
// words.c: must_use, must_not_use; what nvcc refuses and the simulator lets pass: a kernel that is called like a
// function; the judge's own names. The last returns whether there are any.
heddle_status heddle_learn_apply_words(const heddle_learn_judging *judging, const heddle_learn_code *code);
void heddle_learn_refuse_calls(const heddle_learn_judging *judging, const heddle_learn_code *code);
bool heddle_learn_refuse_names(const heddle_learn_judging *judging, const heddle_learn_code *code);
// compiler.c: an error of a compiler. `messages`: what gcc or clang printed.
void heddle_learn_explain_error(const heddle_learn_judging *judging, const char *file, int line, int column,
                                const char *message);
// "FILE:LINE:COLUMN: ...", the column where there is one. `file` holds the name. False: another text.
bool heddle_learn_read_place(const char *text, char file[HEDDLE_PLACE_SIZE], heddle_check_frame *frame);
void heddle_learn_explain_messages(const heddle_learn_judging *judging, const char *messages);
// sanitizer.c: what AddressSanitizer and UndefinedBehaviorSanitizer printed. False: nothing that it knows.
bool heddle_learn_explain_sanitizer(const heddle_learn_judging *judging, const char *errors);
// said.c: the judge's lines in what the program printed; the rest becomes verdict->output. False: the last of them is
// not the judge's last word.
bool heddle_learn_hear(heddle_learn_judging *judging, const char *output);
void heddle_learn_ended_early(const heddle_learn_judging *judging, const char *how);
