// The course on disk: which exercises there are, and what their statements and hints say. A course is a folder with one
// folder per chapter; the exercises of a chapter are CHAPTER/exercises/NN.K-slug/.
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/place.h"
#include "heddle/status.h"

typedef struct heddle_learn_exercise {
    const char *number;        // "05.1"
    const char *slug;          // "which-element"
    const char *name;          // "05.1-which-element"
    const char *title;         // "Which element is mine?"
    const char *chapter;       // "05-first-kernels"
    const char *folder;        // of its files in the course
    const char *ending;        // of its source files: ".cu", or ".c" for plain C
    int chapter_number, place; // 5 and 1
} heddle_learn_exercise;

typedef struct heddle_learn_course {
    heddle_arena *arena;
    const char *folder;
    const char **chapters; // "05-first-kernels", in the order of their numbers; not all have exercises
    int chapter_count;
    heddle_learn_exercise *exercises; // in the order of their numbers
    int count;
} heddle_learn_course;

// `folder`: NULL: $HEDDLE_COURSE, else the installed course, else that of the sources.
heddle_status heddle_learn_course_open(const char *folder, heddle_learn_course **course);
void heddle_learn_course_close(heddle_learn_course *course); // NULL is fine

// The exercise that a person names by its number (05.1, 5.1), slug, name, or the path of a file of that name.
heddle_status heddle_learn_course_find(const heddle_learn_course *course, const char *word,
                                       const heddle_learn_exercise **exercise);
// The chapter that a person names by its number (05, 5), name or slug; NULL: there is none.
const char *heddle_learn_course_chapter(const heddle_learn_course *course, const char *word);
// The page that explains a chapter. False: it has none.
bool heddle_learn_chapter_page(const heddle_learn_course *course, const char *chapter, char path[HEDDLE_PLACE_SIZE]);
// A page such as "05-first-kernels/README.md" as text for a terminal: Markdown without comments, pictures and links.
heddle_status heddle_learn_page_text(const heddle_learn_course *course, const char *name, heddle_arena *arena,
                                     const char **text);
// A file of the course, such as "05-first-kernels/README.md", as learners get it: pages without comments and without
// links to what they have not. The caller frees *text.
heddle_status heddle_learn_page(const heddle_learn_course *course, const char *name, char **text, size_t *size);
bool heddle_learn_is_plain_c(const heddle_learn_exercise *exercise);

// A file of the exercise, such as "hints.md"; it lives in the arena.
heddle_status heddle_learn_exercise_read(const heddle_learn_exercise *exercise, const char *file, heddle_arena *arena,
                                         const char **text);
// The statement in Markdown, without comments and without links, which would lead nowhere outside the course.
heddle_status heddle_learn_statement(const heddle_learn_exercise *exercise, heddle_arena *arena, const char **text);
// The same as learners get it beside the chapter's page, with links to what lies there. The caller frees *text.
heddle_status heddle_learn_statement_page(const heddle_learn_exercise *exercise, heddle_arena *arena, char **text,
                                          size_t *size);
enum { HEDDLE_LEARN_SECTION_SIZE = 16 };
// The section that the statement says to read, such as "5.2"; "": none.
void heddle_learn_section(const heddle_learn_exercise *exercise, char section[HEDDLE_LEARN_SECTION_SIZE]);
// The hints in order, from a nudge to nearly the answer.
heddle_status heddle_learn_hints(const heddle_learn_exercise *exercise, heddle_arena *arena, const char ***hints,
                                 int *count);

// Text in the arena; NULL: no memory.
const char *heddle_learn_format(heddle_arena *arena, const char *format, ...) HEDDLE_PRINTF(2, 3);
