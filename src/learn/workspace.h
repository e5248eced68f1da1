// The learner's folder: their files, one per exercise, and what they have done so far. Nothing here ever overwrites or
// deletes a learner's text.
//
//   heddle-course/.heddle-learn.json                 what is solved, hints seen, where one is
//   heddle-course/README.md                          how to go on
//   heddle-course/05-first-kernels/README.md, *.cu   the chapter and its programs (pages.h)
//   heddle-course/05-first-kernels/05.1-which-element.cu, .md
#pragma once

#include "base/place.h"
#include "learn/course.h"

struct cJSON;

typedef struct heddle_learn_workspace {
    char folder[HEDDLE_PLACE_SIZE];
    const heddle_learn_course *course;
    struct cJSON *state; // as of the last read or write; members that this version does not know are kept
} heddle_learn_workspace;

// Creates the folder, or adds what is missing to one that exists; refuses one inside a course folder. *made: how many
// exercises were added.
heddle_status heddle_learn_workspace_create(const heddle_learn_course *course, const char *folder, int *made);
// Finds the folder: the one around the current folder, else ./heddle-course. Exercises that the course has and the
// folder never had are added, where the folder can be written to.
heddle_status heddle_learn_workspace_open(const heddle_learn_course *course, heddle_learn_workspace *workspace);
void heddle_learn_workspace_close(heddle_learn_workspace *workspace);

// The learner's file of an exercise, and the same as messages name it: relative to where the person is.
void heddle_learn_file(const heddle_learn_workspace *workspace, const heddle_learn_exercise *exercise,
                       char path[HEDDLE_PLACE_SIZE]);
void heddle_learn_shown_file(const heddle_learn_workspace *workspace, const heddle_learn_exercise *exercise,
                             char path[HEDDLE_PLACE_SIZE]);

// The page of a chapter in the folder, or, if it was deleted, in the course, as messages name it. False: it has none.
bool heddle_learn_shown_page(const heddle_learn_workspace *workspace, const char *chapter,
                             char path[HEDDLE_PLACE_SIZE]);

// The exercise that a person names, as heddle_learn_course_find has it; a path must be that of the learner's own file.
heddle_status heddle_learn_find(const heddle_learn_workspace *workspace, const char *word,
                                const heddle_learn_exercise **exercise);

// The exercise to work on: the one chosen last, solved or not, else the first that is not solved; NULL: all are solved.
const heddle_learn_exercise *heddle_learn_current(const heddle_learn_workspace *workspace);
// The next one after `exercise` that is not solved, from the beginning again after the last; NULL: none.
const heddle_learn_exercise *heddle_learn_next(const heddle_learn_workspace *workspace,
                                               const heddle_learn_exercise *exercise);
bool heddle_learn_is_solved(const heddle_learn_workspace *workspace, const heddle_learn_exercise *exercise);
const char *heddle_learn_solved_at(const heddle_learn_workspace *workspace, const heddle_learn_exercise *exercise);
int heddle_learn_solved_count(const heddle_learn_workspace *workspace);
int heddle_learn_hints_seen(const heddle_learn_workspace *workspace, const heddle_learn_exercise *exercise);

// Changes of the state, written at once. Another process may have changed it since: it is read again first.
heddle_status heddle_learn_set_solved(heddle_learn_workspace *workspace, const heddle_learn_exercise *exercise);
heddle_status heddle_learn_set_current(heddle_learn_workspace *workspace, const heddle_learn_exercise *exercise);
heddle_status heddle_learn_set_hints(heddle_learn_workspace *workspace, const heddle_learn_exercise *exercise,
                                     int seen);

// Puts the start back. The learner's text is renamed first; `backup` is what it is called now, as messages name it;
// "": there was none, or it is back because of an error.
heddle_status heddle_learn_reset(const heddle_learn_workspace *workspace, const heddle_learn_exercise *exercise,
                                 char backup[HEDDLE_PLACE_SIZE]);

// Only one process watches a folder at a time: HEDDLE_UNSUPPORTED if another does. *lock is closed to end it.
heddle_status heddle_learn_watch_alone(const heddle_learn_workspace *workspace, int *lock);
