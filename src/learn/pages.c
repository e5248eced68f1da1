// Copies the chapters into the learner's folder. The state holds a hash of the newest page that was offered: a page on
// disk with another hash is the learner's own.

#include "learn/pages.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "learn/state.h"

enum { FILE_MODE = 0666, LARGEST_PAGE = 4 << 20, HASH_SIZE = 24 };

static const char table[] = "pages", glossary[] = "GLOSSARY.md";

// --- one file --------------------------------------------------------------------------------------------------------

heddle_status heddle_learn_write_new(const char *path, const char *text, size_t size, bool *made)
{
    size_t written = 0;
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
    if (file < 0 && errno == EEXIST)
        return HEDDLE_OK;
    if (file < 0)
        return heddle_fail(HEDDLE_IO, "%s: cannot create: %s", path, strerror(errno));
    while (written < size) {
        ssize_t count = write(file, text + written, size - written);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        written += (size_t)count;
    }
    int error = written < size || fsync(file) != 0 ? errno : 0;
    if (close(file) != 0 && error == 0)
        error = errno;
    if (error != 0) {
        unlink(path);
        return heddle_fail(HEDDLE_IO, "%s: cannot write: %s", path, strerror(error));
    }
    *made = true;
    return HEDDLE_OK;
}

// FNV-1a: it tells a changed text from an unchanged one, and nobody gains by deceiving it.
static void hash_text(const char *text, size_t size, char hash[HASH_SIZE])
{
    uint64_t value = 0xcbf29ce484222325;
    for (size_t i = 0; i < size; i++)
        value = (value ^ (unsigned char)text[i]) * 0x100000001b3;
    snprintf(hash, HASH_SIZE, "%016" PRIx64, value);
}

static const char *known_hash(const cJSON *state, const char *name)
{
    const char *hash =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(state, table), name));
    return hash ? hash : "";
}

static heddle_status remember(cJSON *state, const char *name, const char *hash)
{
    cJSON *pages = heddle_learn_state_object(state, table);
    cJSON_DeleteItemFromObjectCaseSensitive(pages, name);
    return pages && cJSON_AddStringToObject(pages, name, hash)
               ? HEDDLE_OK
               : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the state of the course");
}

heddle_status heddle_learn_keep_page(const heddle_learn_workspace *workspace, cJSON *state, const char *name,
                                     const char *text, size_t size, bool again)
{
    char path[HEDDLE_PLACE_SIZE], fresh[HASH_SIZE], found[HASH_SIZE] = "", *old = NULL;
    const char *known = known_hash(state, name);
    size_t old_size = 0;
    struct stat about;
    bool made = false;
    hash_text(text, size, fresh);
    if (strcmp(known, fresh) == 0 && !again)
        return HEDDLE_OK;
    snprintf(path, sizeof path, "%s/%s", workspace->folder, name);
    if (lstat(path, &about) != 0) {
        if (!known[0] || again) // else the learner deleted it
            HEDDLE_TRY(heddle_learn_write_new(path, text, size, &made));
        return remember(state, name, fresh);
    }
    if (!S_ISREG(about.st_mode))
        return remember(state, name, fresh);
    if (heddle_file_read(path, LARGEST_PAGE, &old, &old_size) != HEDDLE_OK)
        return HEDDLE_OK; // perhaps the next time
    hash_text(old, old_size, found);
    free(old);
    if (strcmp(found, fresh) != 0 && strcmp(found, known) == 0) // else it is new already, or the learner's own
        HEDDLE_TRY(heddle_file_write_atomic(path, &(heddle_slice){text, size}, 1));
    return remember(state, name, fresh);
}

// --- all of them -----------------------------------------------------------------------------------------------------

typedef heddle_status visit_page(void *context, const char *name, const char *text, size_t size);

static heddle_status visit(const heddle_learn_course *course, const char *name, visit_page *act, void *context)
{
    char *text = NULL;
    size_t size = 0;
    HEDDLE_TRY(heddle_learn_page(course, name, &text, &size));
    heddle_status status = act(context, name, text, size);
    free(text);
    return status;
}

static heddle_status visit_chapter(const heddle_learn_course *course, const char *chapter, visit_page *act,
                                   void *context)
{
    char folder[HEDDLE_PLACE_SIZE], path[2 * HEDDLE_PLACE_SIZE], name[HEDDLE_PLACE_SIZE];
    heddle_status status = HEDDLE_OK;
    struct stat about;
    snprintf(folder, sizeof folder, "%s/%s", course->folder, chapter);
    DIR *entries = opendir(folder);
    // cppcheck-suppress readdirCalled ; readdir is safe on a folder that one thread reads
    for (struct dirent *entry; entries && status == HEDDLE_OK && (entry = readdir(entries)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        snprintf(name, sizeof name, "%s/%s", chapter, entry->d_name);
        if (entry->d_name[0] != '.' && stat(path, &about) == 0 && S_ISREG(about.st_mode))
            status = visit(course, name, act, context);
    }
    if (entries)
        closedir(entries);
    return status;
}

// What the exercises ask for. Half an exercise must not stand in the way of the others; `heddle learn verify` reports
// it.
static heddle_status visit_statements(const heddle_learn_course *course, visit_page *act, void *context)
{
    heddle_arena *arena = heddle_arena_create();
    heddle_status status = arena ? HEDDLE_OK : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for an exercise");
    for (int i = 0; status == HEDDLE_OK && i < course->count; i++) {
        const heddle_learn_exercise *exercise = &course->exercises[i];
        const char *name = heddle_learn_format(arena, "%s/%s.md", exercise->chapter, exercise->name);
        char *text;
        size_t size;
        if (name && heddle_learn_statement_page(exercise, arena, &text, &size) == HEDDLE_OK) {
            status = act(context, name, text, size);
            free(text);
        }
    }
    heddle_arena_destroy(arena);
    return status;
}

static heddle_status visit_all(const heddle_learn_course *course, visit_page *act, void *context)
{
    char path[HEDDLE_PLACE_SIZE];
    snprintf(path, sizeof path, "%s/%s", course->folder, glossary);
    if (heddle_file_exists(path))
        HEDDLE_TRY(visit(course, glossary, act, context));
    for (int i = 0; i < course->chapter_count; i++)
        HEDDLE_TRY(visit_chapter(course, course->chapters[i], act, context));
    return visit_statements(course, act, context);
}

typedef struct keeping {
    const heddle_learn_workspace *workspace;
    cJSON *state;
    bool again;
} keeping;

static heddle_status keep(void *context, const char *name, const char *text, size_t size)
{
    const keeping *how = context;
    char folder[HEDDLE_PLACE_SIZE];
    const char *slash = strchr(name, '/');
    if (slash) {
        snprintf(folder, sizeof folder, "%s/%.*s", how->workspace->folder, (int)(slash - name), name);
        HEDDLE_TRY(heddle_folder_create(folder));
    }
    return heddle_learn_keep_page(how->workspace, how->state, name, text, size, how->again);
}

heddle_status heddle_learn_keep_pages(const heddle_learn_workspace *workspace, cJSON *state, bool again)
{
    keeping how = {workspace, state, again};
    return visit_all(workspace->course, keep, &how);
}

typedef struct comparing {
    const cJSON *state;
    bool differs;
} comparing;

static heddle_status compare(void *context, const char *name, const char *text, size_t size)
{
    comparing *with = context;
    char hash[HASH_SIZE];
    hash_text(text, size, hash);
    with->differs |= strcmp(known_hash(with->state, name), hash) != 0;
    return HEDDLE_OK;
}

bool heddle_learn_has_new_pages(const heddle_learn_workspace *workspace)
{
    comparing with = {.state = workspace->state};
    return visit_all(workspace->course, compare, &with) == HEDDLE_OK && with.differs;
}
