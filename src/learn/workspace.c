// The learner's folder: making it, finding it, resetting a file. What is in the state file is progress.c's.

#include "learn/workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "learn/pages.h"
#include "learn/state.h"

enum { FILE_MODE = 0666, MOST_BACKUPS = 10000 };

static const char usual_folder[] = "heddle-course";
static const char page_name[] = "README.md";
static const char watch_name[] = ".heddle-learn.watch";

void heddle_learn_file(const heddle_learn_workspace *workspace, const heddle_learn_exercise *exercise,
                       char path[HEDDLE_PLACE_SIZE])
{
    snprintf(path, HEDDLE_PLACE_SIZE, "%s/%s/%s%s", workspace->folder, exercise->chapter, exercise->name,
             exercise->ending);
}

// The path as one would type it here, where it lies below the current folder.
static void shorten(char path[HEDDLE_PLACE_SIZE])
{
    char *here = realpath(".", NULL);
    size_t length = here ? strlen(here) : 0;
    if (length > 1 && strncmp(path, here, length) == 0 && path[length] == '/')
        memmove(path, path + length + 1, strlen(path + length + 1) + 1);
    free(here);
}

void heddle_learn_shown_file(const heddle_learn_workspace *workspace, const heddle_learn_exercise *exercise,
                             char path[HEDDLE_PLACE_SIZE])
{
    heddle_learn_file(workspace, exercise, path);
    shorten(path);
}

bool heddle_learn_shown_page(const heddle_learn_workspace *workspace, const char *chapter, char path[HEDDLE_PLACE_SIZE])
{
    snprintf(path, HEDDLE_PLACE_SIZE, "%s/%s/%s", workspace->folder, chapter, page_name);
    bool own = heddle_file_exists(path);
    shorten(path);
    return own || heddle_learn_chapter_page(workspace->course, chapter, path);
}

// --- making ----------------------------------------------------------------------------------------------------------

static heddle_status write_start(const heddle_learn_workspace *workspace, const heddle_learn_exercise *exercise,
                                 bool *made)
{
    char path[HEDDLE_PLACE_SIZE], name[32];
    const char *text;
    heddle_arena *arena = heddle_arena_create();
    if (!arena)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for an exercise");
    snprintf(name, sizeof name, "start%s", exercise->ending);
    heddle_learn_file(workspace, exercise, path);
    heddle_status status = heddle_learn_exercise_read(exercise, name, arena, &text);
    if (status == HEDDLE_OK)
        status = heddle_learn_write_new(path, text, strlen(text), made);
    heddle_arena_destroy(arena);
    return status;
}

static void print_page(const heddle_learn_course *course, FILE *file)
{
    char path[HEDDLE_PLACE_SIZE];
    fputs(
        "# Your exercises\n\n"
        "`heddle learn` shows an exercise, watches this folder and judges your file each time you save it. Each "
        "chapter has a folder here: its page (`README.md`) and the programs that the page runs, and for each exercise "
        "a file to change and, beside it, what it asks for (`.md`).\n\n"
        "`heddle learn read 5` shows a chapter's page in the terminal, `heddle learn read 5.2` from that section on, "
        "and `heddle learn read glossary` the glossary:\n\n",
        file);
    for (int i = 0; i < course->chapter_count; i++)
        if (heddle_learn_chapter_page(course, course->chapters[i], path))
            fprintf(file, "- [%s](%s/README.md)\n", course->chapters[i], course->chapters[i]);
    fputs("\n"
          "| command | what it does |\n|---|---|\n"
          "| `heddle learn` | watch; `h` hint, `n` next, `?` all keys |\n"
          "| `heddle learn read 5.2` | read a chapter, from a section on |\n"
          "| `heddle learn show 05.1` | what an exercise asks for, and go on with it |\n"
          "| `heddle learn run 05.1` | judge one exercise, and go on with it |\n"
          "| `heddle learn hint` | one more hint |\n"
          "| `heddle learn list` | all exercises, and which are solved |\n"
          "| `heddle learn reset` | start an exercise again; your text is kept beside it |\n",
          file);
}

// How to go on, and where the chapters are.
static heddle_status write_page(const heddle_learn_workspace *workspace, cJSON *state, bool again)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for %s", page_name);
    print_page(workspace->course, file);
    fclose(file);
    heddle_status status = heddle_learn_keep_page(workspace, state, page_name, text, size, again);
    free(text);
    return status;
}

// --- exercises that got another number -------------------------------------------------------------------------------

// Renames without ever replacing a file, also on file systems that have no flag for that.
static bool rename_new(const char *from, const char *to)
{
    struct stat about;
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return true;
    if (errno != EINVAL && errno != ENOSYS)
        return false;
    if (link(from, to) == 0)
        return unlink(from) == 0;
    if (errno == EEXIST)
        return false;
    if (lstat(to, &about) == 0) {
        errno = EEXIST;
        return false;
    }
    return rename(from, to) == 0; // nor hard links: another process may come between
}

// What the folder calls an exercise that had another number in an older course: "05.10-hello" for 05.4-hello. NULL: it
// never had it.
static const char *old_name(const heddle_learn_course *course, const cJSON *known,
                            const heddle_learn_exercise *exercise)
{
    size_t chapter = strcspn(exercise->name, ".") + 1;
    const cJSON *item;
    cJSON_ArrayForEach(item, known)
    {
        const char *name = item->string, *dash = strchr(name, '-');
        bool current = false;
        for (int i = 0; i < course->count; i++)
            current |= strcmp(course->exercises[i].name, name) == 0;
        if (!current && dash && strncmp(name, exercise->name, chapter) == 0 && strcmp(dash + 1, exercise->slug) == 0)
            return name;
    }
    return NULL;
}

static void rename_entry(cJSON *state, const char *table, const char *from, const char *to)
{
    cJSON *object = cJSON_GetObjectItemCaseSensitive(state, table);
    cJSON *item = cJSON_DetachItemFromObjectCaseSensitive(object, from);
    if (item)
        cJSON_AddItemToObject(object, to, item);
}

// Gives the learner's file and its page their new names, and moves what the state says about them. A file that was
// deleted stays deleted. A page that cannot be renamed stays; the new one is written beside it.
static void follow_number(const heddle_learn_workspace *workspace, cJSON *state, const heddle_learn_exercise *exercise,
                          const char *name)
{
    static const char *const tables[] = {"made", "solved", "hints"};
    char old[HEDDLE_PLACE_SIZE], from[HEDDLE_PLACE_SIZE], to[HEDDLE_PLACE_SIZE];
    snprintf(old, sizeof old, "%s", name); // the entry goes away
    snprintf(from, sizeof from, "%s/%s/%s%s", workspace->folder, exercise->chapter, old, exercise->ending);
    heddle_learn_file(workspace, exercise, to);
    if (!rename_new(from, to) && errno != ENOENT)
        return; // as before; the next command tries again
    snprintf(from, sizeof from, "%s/%s/%s.md", workspace->folder, exercise->chapter, old);
    snprintf(to, sizeof to, "%s/%s/%s.md", workspace->folder, exercise->chapter, exercise->name);
    if (rename_new(from, to) || errno == ENOENT) {
        snprintf(from, sizeof from, "%s/%s.md", exercise->chapter, old);
        snprintf(to, sizeof to, "%s/%s.md", exercise->chapter, exercise->name);
        rename_entry(state, "pages", from, to);
    }
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        rename_entry(state, tables[i], old, exercise->name);
    const char *current = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(state, "current"));
    if (current && strcmp(current, old) == 0)
        cJSON_ReplaceItemInObjectCaseSensitive(state, "current", cJSON_CreateString(exercise->name));
}

// --- adding ----------------------------------------------------------------------------------------------------------

typedef struct addition {
    heddle_learn_workspace *workspace;
    bool all; // also files of exercises that the folder had once
    int made;
} addition;

// Adds the files of exercises that the folder never had, and newer pages. What it had and the learner deleted stays
// deleted.
static heddle_status add_files(cJSON *state, void *context)
{
    addition *adding = context;
    const heddle_learn_course *course = adding->workspace->course;
    cJSON *known = heddle_learn_state_object(state, "made");
    if (!known)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the state of the course");
    for (int i = 0; i < course->count; i++) {
        const heddle_learn_exercise *exercise = &course->exercises[i];
        const char *old = old_name(course, known, exercise);
        if (old)
            follow_number(adding->workspace, state, exercise, old);
        bool had = cJSON_GetObjectItemCaseSensitive(known, exercise->name) != NULL, made = false;
        char chapter[HEDDLE_PLACE_SIZE];
        snprintf(chapter, sizeof chapter, "%s/%s", adding->workspace->folder, exercise->chapter);
        HEDDLE_TRY(heddle_folder_create(chapter));
        heddle_status status = had && !adding->all ? HEDDLE_OK : write_start(adding->workspace, exercise, &made);
        if (status == HEDDLE_NOT_FOUND)
            continue; // half an exercise must not stand in the way of the others; `heddle learn verify` reports it
        HEDDLE_TRY(status);
        adding->made += made;
        if (!had)
            cJSON_AddTrueToObject(known, exercise->name);
    }
    HEDDLE_TRY(write_page(adding->workspace, state, adding->all));
    return heddle_learn_keep_pages(adding->workspace, state, adding->all);
}

static bool has_state(const char *folder)
{
    char path[HEDDLE_PLACE_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, heddle_learn_state_name);
    return heddle_file_exists(path);
}

// Goes up from `folder` to one that has a state. False: none has.
static bool climb(char folder[HEDDLE_PLACE_SIZE])
{
    char *slash = folder;
    while (!has_state(folder) && (slash = strrchr(folder, '/')) != NULL)
        *slash = '\0';
    return slash != NULL;
}

// A course folder inside another would only confuse.
static heddle_status refuse_nested(const char *folder)
{
    char around[HEDDLE_PLACE_SIZE];
    if (has_state(folder))
        return HEDDLE_OK;
    snprintf(around, sizeof around, "%s", folder);
    char *slash = around;
    while (!heddle_folder_exists(around) && (slash = strrchr(around, '/')) != NULL)
        *slash = '\0';
    char *whole = realpath(slash ? around : ".", NULL);
    snprintf(around, sizeof around, "%s", whole ? whole : "");
    free(whole);
    if (!climb(around))
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_INVALID,
                       "%s is a course folder already: `heddle learn` goes on there, `heddle learn init .` in it adds "
                       "missing files",
                       around);
}

heddle_status heddle_learn_workspace_create(const heddle_learn_course *course, const char *folder, int *made)
{
    heddle_learn_workspace workspace = {.course = course};
    addition adding = {.workspace = &workspace, .all = true};
    folder = folder ? folder : usual_folder;
    HEDDLE_TRY(refuse_nested(folder));
    HEDDLE_TRY(heddle_folder_create(folder));
    char *whole = realpath(folder, NULL);
    snprintf(workspace.folder, sizeof workspace.folder, "%s", whole ? whole : folder);
    free(whole);
    heddle_status status = heddle_learn_state_change(workspace.folder, &workspace.state, add_files, &adding);
    heddle_learn_workspace_close(&workspace);
    *made = adding.made;
    return status;
}

// --- finding ---------------------------------------------------------------------------------------------------------

static heddle_status find_folder(char folder[HEDDLE_PLACE_SIZE])
{
    char *here = realpath(".", NULL);
    snprintf(folder, HEDDLE_PLACE_SIZE, "%s", here ? here : ".");
    free(here);
    if (climb(folder))
        return HEDDLE_OK;
    char *below = has_state(usual_folder) ? realpath(usual_folder, NULL) : NULL;
    if (!below)
        return heddle_fail(HEDDLE_NOT_FOUND, "no course folder here: run `heddle learn init`");
    snprintf(folder, HEDDLE_PLACE_SIZE, "%s", below);
    free(below);
    return HEDDLE_OK;
}

static bool has_new_exercises(const heddle_learn_workspace *workspace)
{
    const cJSON *known = cJSON_GetObjectItemCaseSensitive(workspace->state, "made");
    for (int i = 0; i < workspace->course->count; i++)
        if (!cJSON_GetObjectItemCaseSensitive(known, workspace->course->exercises[i].name))
            return true;
    return false;
}

heddle_status heddle_learn_workspace_open(const heddle_learn_course *course, heddle_learn_workspace *workspace)
{
    *workspace = (heddle_learn_workspace){.course = course};
    HEDDLE_TRY(find_folder(workspace->folder));
    HEDDLE_TRY(heddle_learn_state_read(workspace->folder, &workspace->state));
    if (!has_new_exercises(workspace) && !heddle_learn_has_new_pages(workspace))
        return HEDDLE_OK;
    addition adding = {.workspace = workspace};
    // What cannot be added, as to a folder that is read-only, must not stand in the way of the exercises that are
    // there.
    heddle_learn_state_change(workspace->folder, &workspace->state, add_files, &adding);
    return HEDDLE_OK;
}

void heddle_learn_workspace_close(heddle_learn_workspace *workspace)
{
    cJSON_Delete(workspace->state);
    workspace->state = NULL;
}

// Whether `path` is the place of the learner's file of an exercise, or of its statement, whether it exists or not.
static bool is_own_path(const heddle_learn_workspace *workspace, const heddle_learn_exercise *exercise,
                        const char *path)
{
    char chapter[HEDDLE_PLACE_SIZE], folder[HEDDLE_PLACE_SIZE];
    snprintf(chapter, sizeof chapter, "%s/%s", workspace->folder, exercise->chapter);
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path) + 1, path);
    char *own = realpath(chapter, NULL), *given = realpath(folder, NULL);
    bool same = own && given && strcmp(own, given) == 0;
    free(own);
    free(given);
    return same;
}

heddle_status heddle_learn_find(const heddle_learn_workspace *workspace, const char *word,
                                const heddle_learn_exercise **exercise)
{
    HEDDLE_TRY(heddle_learn_course_find(workspace->course, word, exercise));
    if (!strchr(word, '/') || is_own_path(workspace, *exercise, word))
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_INVALID, "%s is not in your course folder, %s; name the exercise by its number, %s", word,
                       workspace->folder, (*exercise)->number);
}

heddle_status heddle_learn_watch_alone(const heddle_learn_workspace *workspace, int *lock)
{
    char path[HEDDLE_PLACE_SIZE];
    snprintf(path, sizeof path, "%s/%s", workspace->folder, watch_name);
    *lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, FILE_MODE);
    if (*lock < 0 || flock(*lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return HEDDLE_OK; // where files cannot be locked, as on some network folders, nobody is kept out
    close(*lock);
    *lock = -1;
    return heddle_fail(HEDDLE_UNSUPPORTED,
                       "another `heddle learn` is watching %s; go on there, or end it (single commands such as "
                       "`heddle learn run` work beside it)",
                       workspace->folder);
}

// --- resetting -------------------------------------------------------------------------------------------------------

// Renames the file to the first free name behind it; another process may take a name first.
static heddle_status set_aside(const char *path, char backup[HEDDLE_PLACE_SIZE])
{
    for (int i = 1; i < MOST_BACKUPS; i++) {
        if ((size_t)snprintf(backup, HEDDLE_PLACE_SIZE, "%s.bak-%d", path, i) >= HEDDLE_PLACE_SIZE)
            break;
        if (rename_new(path, backup))
            return HEDDLE_OK;
        if (errno != EEXIST)
            return heddle_fail(HEDDLE_IO, "%s: cannot rename: %s", path, strerror(errno));
    }
    return heddle_fail(HEDDLE_IO, "%s: too many backups beside it; delete some", path);
}

heddle_status heddle_learn_reset(const heddle_learn_workspace *workspace, const heddle_learn_exercise *exercise,
                                 char backup[HEDDLE_PLACE_SIZE])
{
    char path[HEDDLE_PLACE_SIZE], chapter[HEDDLE_PLACE_SIZE];
    struct stat about;
    bool made = false;
    backup[0] = '\0';
    heddle_learn_file(workspace, exercise, path);
    snprintf(chapter, sizeof chapter, "%s/%s", workspace->folder, exercise->chapter);
    HEDDLE_TRY(heddle_folder_create(chapter));
    if (lstat(path, &about) == 0)
        HEDDLE_TRY(set_aside(path, backup));
    heddle_status status = write_start(workspace, exercise, &made);
    if (status == HEDDLE_OK && !made)
        status = heddle_fail(HEDDLE_IO, "%s: another process has just written it", path);
    if (status != HEDDLE_OK && backup[0] && rename_new(backup, path))
        backup[0] = '\0'; // as it was
    shorten(backup);
    if (status != HEDDLE_OK && backup[0])
        return heddle_fail(status, "%s; your text is in %s", heddle_last_error(), backup);
    return status;
}
