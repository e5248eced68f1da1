// What the actions of `heddle learn` share: the course and the learner's folder, and how both are shown on a terminal.
#pragma once

#include <stdio.h>

#include "cli/cli.h"
#include "learn/judge.h"
#include "learn/workspace.h"

typedef struct heddle_cli_learn {
    heddle_learn_course *course;
    heddle_learn_workspace workspace;
} heddle_cli_learn;

heddle_status heddle_cli_learn_open(heddle_cli_learn *learn);
void heddle_cli_learn_close(heddle_cli_learn *learn);
// The exercise that `word` names; NULL: the current one. All solved: HEDDLE_INVALID, which says so.
heddle_status heddle_cli_learn_find(const heddle_cli_learn *learn, const char *word,
                                    const heddle_learn_exercise **exercise);

// What to judge; `path` and `shown` hold the names of its file.
heddle_learn_task heddle_cli_learn_task(const heddle_cli_learn *learn, const heddle_learn_exercise *exercise,
                                        char path[HEDDLE_PLACE_SIZE], char shown[HEDDLE_PLACE_SIZE]);
// Makes it the current exercise, and a solved one if it passed.
heddle_status heddle_cli_learn_record(heddle_cli_learn *learn, const heddle_learn_exercise *exercise,
                                      const heddle_learn_verdict *verdict);
// From now on a signal ends a judging that runs. `patient`: further ones do not end the process.
void heddle_cli_learn_stop_gently(bool patient);

// --- showing ---------------------------------------------------------------------------------------------------------

typedef struct heddle_cli_learn_style {
    FILE *file;
    bool colour, utf8;
    int width;
} heddle_cli_learn_style;

heddle_cli_learn_style heddle_cli_learn_style_of(FILE *file);
// Markdown, wrapped; each line indented.
void heddle_cli_learn_print(const heddle_cli_learn_style *style, const char *text, int indent);
void heddle_cli_learn_print_title(const heddle_cli_learn_style *style, const heddle_learn_exercise *exercise);
// `only_goal`: the rest of the statement is left out.
heddle_status heddle_cli_learn_print_statement(const heddle_cli_learn_style *style,
                                               const heddle_learn_exercise *exercise, bool only_goal);
// `all`: also what mostly goes away with the first few findings.
void heddle_cli_learn_print_verdict(const heddle_cli_learn_style *style, const heddle_learn_verdict *verdict, bool all);
// "[####......] 12 of 75 solved"
void heddle_cli_learn_print_bar(const heddle_cli_learn_style *style, const heddle_learn_workspace *workspace);
// Where the page of a chapter lies, and how to read it: from the section of `exercise` on, or, where that is NULL, from
// its start. Nothing where the chapter has no page.
void heddle_cli_learn_print_page(const heddle_cli_learn_style *style, const heddle_learn_workspace *workspace,
                                 const char *chapter, const heddle_learn_exercise *exercise);
// Which chapters come before the first kernel, and how to read and practise them. `name`: of the command.
void heddle_cli_learn_print_earlier(FILE *file, const heddle_learn_course *course, const char *name);
// The exercises of one chapter; those of all; those of one, with a line for each other chapter.
void heddle_cli_learn_print_chapter(const heddle_cli_learn_style *style, const heddle_learn_workspace *workspace,
                                    const char *chapter);
void heddle_cli_learn_print_list(const heddle_cli_learn_style *style, const heddle_learn_workspace *workspace);
void heddle_cli_learn_print_outline(const heddle_cli_learn_style *style, const heddle_learn_workspace *workspace,
                                    const char *chapter);
typedef enum heddle_cli_learn_hints {
    HEDDLE_CLI_LEARN_NEXT_HINT, // the next that has not been seen; after the last, that one again
    HEDDLE_CLI_LEARN_ALL_HINTS,
    HEDDLE_CLI_LEARN_SEEN_HINTS, // those that have been seen; the first, if none has
    HEDDLE_CLI_LEARN_MORE_HINTS, // those that have been seen, and one more
} heddle_cli_learn_hints;
heddle_status heddle_cli_learn_print_hints(const heddle_cli_learn_style *style, heddle_learn_workspace *workspace,
                                           const heddle_learn_exercise *exercise, heddle_cli_learn_hints which);
heddle_status heddle_cli_learn_print_solution(const heddle_cli_learn_style *style,
                                              const heddle_learn_exercise *exercise);
// Resets, and says what the learner's text is called now.
heddle_status heddle_cli_learn_reset(const heddle_cli_learn_style *style, const heddle_learn_workspace *workspace,
                                     const heddle_learn_exercise *exercise);

// The watch loop. Returns the exit code.
int heddle_cli_learn_watch(heddle_cli_learn *learn);
