// Finds the course and lists its exercises. What a file of an exercise says is statement.c's and rules.c's.

#include "learn/course.h"

#include <ctype.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/place.h"
#include "base/text.h"

enum { LARGEST_FILE = 1 << 20, MOST_CHAPTERS = 100 };

const char *heddle_learn_format(heddle_arena *arena, const char *format, ...)
{
    char *made = NULL;
    va_list list;
    va_start(list, format);
    int length = vasprintf(&made, format, list);
    va_end(list);
    const char *kept = length < 0 ? NULL : heddle_arena_copy_text(arena, made);
    if (length >= 0)
        free(made);
    return kept;
}

heddle_status heddle_learn_exercise_read(const heddle_learn_exercise *exercise, const char *file, heddle_arena *arena,
                                         const char **text)
{
    char path[HEDDLE_PLACE_SIZE], *content;
    size_t size;
    snprintf(path, sizeof path, "%s/%s", exercise->folder, file);
    HEDDLE_TRY(heddle_file_read(path, LARGEST_FILE, &content, &size));
    *text = heddle_arena_copy_text(arena, content);
    free(content);
    return *text ? HEDDLE_OK : heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: no memory to read it", path);
}

bool heddle_learn_is_plain_c(const heddle_learn_exercise *exercise)
{
    return strcmp(exercise->ending, ".c") == 0;
}

// --- listing ---------------------------------------------------------------------------------------------------------

// Reads "05.1": the chapter's number and the place in it. Returns what follows; NULL: another text.
static const char *read_number(const char *text, int *chapter, int *place)
{
    char *end;
    if (!isdigit((unsigned char)text[0]))
        return NULL;
    *chapter = (int)strtol(text, &end, 10);
    if (end[0] != '.' || !isdigit((unsigned char)end[1]))
        return NULL;
    *place = (int)strtol(end + 1, &end, 10);
    return end;
}

// "Which element is mine?" of "# 05.1 · Which element is mine?"; the slug where the file has no such line.
static const char *read_title(const heddle_learn_exercise *exercise, heddle_arena *arena)
{
    const char *text;
    if (heddle_learn_exercise_read(exercise, "README.md", arena, &text) != HEDDLE_OK || strncmp(text, "# ", 2) != 0)
        return exercise->slug;
    text += 2;
    if (strncmp(text, exercise->number, strlen(exercise->number)) == 0)
        text += strlen(exercise->number);
    while (*text && (isspace((unsigned char)*text) || strncmp(text, "·", strlen("·")) == 0))
        text += isspace((unsigned char)*text) ? 1 : strlen("·");
    return heddle_learn_format(arena, "%.*s", (int)strcspn(text, "\n"), text);
}

static heddle_status add_exercise(heddle_learn_course *course, const char *chapter, const char *folder,
                                  const char *name)
{
    enum { GROWTH = 64 };
    heddle_arena *arena = course->arena;
    heddle_learn_exercise made = {0};
    const char *dash = read_number(name, &made.chapter_number, &made.place);
    char path[HEDDLE_PLACE_SIZE];
    if (!dash || dash[0] != '-' || dash[1] == '\0')
        return HEDDLE_OK;
    snprintf(path, sizeof path, "%s/%s/start.c", folder, name);
    made.ending = heddle_file_exists(path) ? ".c" : ".cu";
    made.name = heddle_arena_copy_text(arena, name);
    made.slug = heddle_arena_copy_text(arena, dash + 1);
    made.number = heddle_learn_format(arena, "%.*s", (int)(dash - name), name);
    made.chapter = chapter;
    made.folder = heddle_learn_format(arena, "%s/%s", folder, name);
    if (course->count % GROWTH == 0) {
        size_t room = (size_t)course->count + GROWTH;
        heddle_learn_exercise *moved = heddle_arena_alloc(arena, room * sizeof *moved);
        if (moved && course->count > 0)
            memcpy(moved, course->exercises, (size_t)course->count * sizeof *moved);
        course->exercises = moved;
    }
    made.title = made.name && made.slug && made.number && made.folder ? read_title(&made, arena) : NULL;
    if (!made.title || !course->exercises)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the list of exercises");
    course->exercises[course->count++] = made;
    return HEDDLE_OK;
}

static heddle_status list_chapter(heddle_learn_course *course, const char *chapter)
{
    char folder[HEDDLE_PLACE_SIZE];
    heddle_status status = HEDDLE_OK;
    snprintf(folder, sizeof folder, "%s/%s/exercises", course->folder, chapter);
    DIR *entries = opendir(folder);
    // cppcheck-suppress readdirCalled ; readdir is safe on a folder that one thread reads
    for (struct dirent *entry; entries && status == HEDDLE_OK && (entry = readdir(entries)) != NULL;)
        status = add_exercise(course, chapter, folder, entry->d_name);
    if (entries)
        closedir(entries);
    return status;
}

static heddle_status add_chapter(heddle_learn_course *course, const char *name)
{
    const char *kept = heddle_arena_copy_text(course->arena, name);
    if (!kept || course->chapter_count == MOST_CHAPTERS)
        return kept ? heddle_fail(HEDDLE_CORRUPT, "%s: more than %d chapters", course->folder, MOST_CHAPTERS)
                    : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the list of chapters");
    course->chapters[course->chapter_count++] = kept;
    return list_chapter(course, kept);
}

static int compare_chapters(const void *a, const void *b)
{
    return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

static int compare_exercises(const void *a_, const void *b_)
{
    const heddle_learn_exercise *a = a_, *b = b_;
    if (a->chapter_number != b->chapter_number)
        return a->chapter_number - b->chapter_number;
    return a->place != b->place ? a->place - b->place : strcmp(a->name, b->name);
}

static heddle_status list_all(heddle_learn_course *course)
{
    heddle_status status = HEDDLE_OK;
    course->chapters = heddle_arena_alloc(course->arena, MOST_CHAPTERS * sizeof *course->chapters);
    if (!course->chapters)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the list of chapters");
    DIR *entries = opendir(course->folder);
    if (!entries)
        return heddle_fail(HEDDLE_MISSING, "%s: no course there; set HEDDLE_COURSE to the folder of the course",
                           course->folder);
    // cppcheck-suppress readdirCalled ; readdir is safe on a folder that one thread reads
    for (struct dirent *entry; status == HEDDLE_OK && (entry = readdir(entries)) != NULL;)
        if (isdigit((unsigned char)entry->d_name[0]))
            status = add_chapter(course, entry->d_name);
    closedir(entries);
    HEDDLE_TRY(status);
    if (strpbrk(course->folder, "\"\n"))
        return heddle_fail(HEDDLE_INVALID,
                           "%s: a quotation mark in the name of the course's folder breaks #include; "
                           "rename the folder",
                           course->folder);
    if (course->count == 0)
        return heddle_fail(HEDDLE_MISSING, "%s: no exercises there; set HEDDLE_COURSE to the folder of the course",
                           course->folder);
    qsort(course->chapters, (size_t)course->chapter_count, sizeof *course->chapters, compare_chapters);
    qsort(course->exercises, (size_t)course->count, sizeof *course->exercises, compare_exercises);
    return HEDDLE_OK;
}

// --- finding ---------------------------------------------------------------------------------------------------------

const char *heddle_learn_course_chapter(const heddle_learn_course *course, const char *word)
{
    char *end;
    long number = strtol(word, &end, 10);
    bool is_number = end > word && *end == '\0';
    for (int i = 0; i < course->chapter_count; i++) {
        const char *chapter = course->chapters[i], *dash = strchr(chapter, '-');
        if ((is_number && strtol(chapter, NULL, 10) == number) || strcasecmp(chapter, word) == 0 ||
            (dash && strcasecmp(dash + 1, word) == 0))
            return chapter;
    }
    return NULL;
}

bool heddle_learn_chapter_page(const heddle_learn_course *course, const char *chapter, char path[HEDDLE_PLACE_SIZE])
{
    snprintf(path, HEDDLE_PLACE_SIZE, "%s/%s/README.md", course->folder, chapter);
    return heddle_file_exists(path);
}

static void find_folder(char folder[HEDDLE_PLACE_SIZE])
{
    const char *given = getenv("HEDDLE_COURSE");
    char own[HEDDLE_PLACE_SIZE], installed[2 * HEDDLE_PLACE_SIZE];
    heddle_own_folder(own);
    snprintf(installed, sizeof installed, "%s/%s", own, HEDDLE_COURSE_FROM_PROGRAM);
    snprintf(folder, HEDDLE_PLACE_SIZE, "%s",
             given && given[0]                 ? given
             : heddle_folder_exists(installed) ? installed
                                               : HEDDLE_COURSE_SOURCE);
}

heddle_status heddle_learn_course_open(const char *folder, heddle_learn_course **course)
{
    char found[HEDDLE_PLACE_SIZE];
    *course = NULL;
    if (!folder)
        find_folder(found);
    char *whole = realpath(folder ? folder : found, NULL);
    heddle_arena *arena = heddle_arena_create();
    heddle_learn_course *made = arena ? heddle_arena_alloc(arena, sizeof *made) : NULL;
    heddle_status status = made ? HEDDLE_OK : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the course");
    if (made) {
        made->arena = arena;
        made->folder = heddle_arena_copy_text(arena, whole ? whole : folder ? folder : found);
        status = made->folder ? list_all(made) : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the course");
    }
    free(whole);
    if (status == HEDDLE_OK)
        *course = made;
    else
        heddle_arena_destroy(arena);
    return status;
}

void heddle_learn_course_close(heddle_learn_course *course)
{
    if (course)
        heddle_arena_destroy(course->arena);
}

// "which-element" of "../05.1-which-element.cu": the last part of a path without its ending.
static void plain_name(const char *word, char *name, size_t size)
{
    const char *slash = strrchr(word, '/');
    snprintf(name, size, "%s", slash ? slash + 1 : word);
    static const char *const endings[] = {".cu", ".c", ".md"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t length = strlen(name), ending = strlen(endings[i]);
        if (length > ending && strcmp(name + length - ending, endings[i]) == 0) {
            name[length - ending] = '\0';
            return;
        }
    }
}

static bool is_number(const heddle_learn_exercise *exercise, const char *word)
{
    int chapter, place;
    const char *rest = read_number(word, &chapter, &place);
    return rest && rest[0] == '\0' && chapter == exercise->chapter_number && place == exercise->place;
}

static heddle_status not_found(const heddle_learn_course *course, const char *word)
{
    enum { MOST = 512 };
    const char *names[MOST];
    int count = 0;
    for (int i = 0; i < course->count && count + 2 < MOST; i++) {
        names[count++] = course->exercises[i].slug;
        names[count++] = course->exercises[i].number;
    }
    const char *nearest = heddle_text_nearest(word, names, count);
    if (nearest)
        return heddle_fail(HEDDLE_NOT_FOUND, "no exercise '%s'; did you mean %s?", word, nearest);
    return heddle_fail(HEDDLE_NOT_FOUND, "no exercise '%s'; `heddle learn list` shows them all", word);
}

heddle_status heddle_learn_course_find(const heddle_learn_course *course, const char *word,
                                       const heddle_learn_exercise **exercise)
{
    char name[HEDDLE_PLACE_SIZE];
    *exercise = NULL;
    plain_name(word, name, sizeof name);
    for (int i = 0; i < course->count; i++) {
        const heddle_learn_exercise *one = &course->exercises[i];
        if (!is_number(one, name) && strcasecmp(one->slug, name) != 0 && strcasecmp(one->name, name) != 0)
            continue;
        if (*exercise)
            return heddle_fail(HEDDLE_INVALID, "'%s' is the name of exercises %s and %s; give the number", word,
                               (*exercise)->number, one->number);
        *exercise = one;
    }
    return *exercise ? HEDDLE_OK : not_found(course, name);
}
