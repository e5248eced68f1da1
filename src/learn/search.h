// Search over the chapters, the glossary and the exercises: sections that hold every word of a question.
#pragma once

#include "learn/course.h"

typedef struct heddle_learn_found {
    const char *page;    // "05-first-kernels", "glossary"; of an exercise its number, "05.1"
    const char *kind;    // "exercise", "section", "glossary"
    const char *title;   // of the section, in plain text
    const char *excerpt; // the text around the first word
    int score;           // higher comes first
} heddle_learn_found;

enum { HEDDLE_LEARN_MOST_FOUND = 30 };

// *found has *count entries, best first; all of it lives in the arena. A question without a word finds nothing.
heddle_status heddle_learn_search(const heddle_learn_course *course, const char *question, heddle_arena *arena,
                                  heddle_learn_found **found, int *count);
