// inotify only says when to look. What has changed is decided by looking at the files, so that nothing depends on which
// events an editor or a file system happens to cause.

#include "base/watch.h"

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

enum { PERIOD = 1000, PERIOD_ALONE = 300, PERIOD_UNSETTLED = 20 }; // milliseconds

// A file that was just written may be written again at once: by an editor that first empties it, or a formatter.
static const double still_seconds = 0.03;

typedef struct mark {
    bool exists;
    ino_t number;
    off_t size;
    struct timespec changed;
} mark;

typedef struct watched_file {
    char *path;
    mark told, seen; // as it was when it was last returned, and when it was last looked at
    double since;    // when `seen` was first seen
} watched_file;

struct heddle_watch {
    int events;
    bool unsettled; // something has changed and is not still yet
    int count;
    watched_file files[];
};

static mark look(const watched_file *file)
{
    struct stat about;
    if (stat(file->path, &about) != 0)
        return (mark){0};
    return (mark){true, about.st_ino, about.st_size, about.st_mtim};
}

static bool is_same(const mark *a, const mark *b)
{
    return a->exists == b->exists && a->number == b->number && a->size == b->size &&
           a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

// A folder that is watched already is not watched twice. One that fails is looked at all the same, only later.
static void watch_folder(const heddle_watch *watch, const char *path)
{
    char *copy = watch->events >= 0 ? strdup(path) : NULL;
    if (copy)
        inotify_add_watch(watch->events, dirname(copy),
                          IN_CLOSE_WRITE | IN_MODIFY | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CREATE | IN_ATTRIB);
    free(copy);
}

heddle_status heddle_watch_open(const char *const *paths, int count, heddle_watch **watch)
{
    *watch = calloc(1, sizeof **watch + (size_t)count * sizeof *(*watch)->files);
    if (!*watch)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to watch the files");
    (*watch)->events = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    for (int i = 0; i < count; i++) {
        watched_file *file = &(*watch)->files[i];
        file->path = strdup(paths[i]);
        if (!file->path) {
            heddle_watch_close(*watch);
            *watch = NULL;
            return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to watch the files");
        }
        (*watch)->count = i + 1;
        watch_folder(*watch, file->path);
        file->told = file->seen = look(file);
    }
    return HEDDLE_OK;
}

void heddle_watch_close(heddle_watch *watch)
{
    if (!watch)
        return;
    if (watch->events >= 0)
        close(watch->events);
    for (int i = 0; i < watch->count; i++)
        free(watch->files[i].path);
    free(watch);
}

int heddle_watch_descriptor(const heddle_watch *watch)
{
    return watch->events;
}

int heddle_watch_period(const heddle_watch *watch)
{
    return watch->unsettled ? PERIOD_UNSETTLED : watch->events < 0 ? PERIOD_ALONE : PERIOD;
}

int heddle_watch_changed(heddle_watch *watch)
{
    char events[4096];
    while (watch->events >= 0 && (read(watch->events, events, sizeof events) > 0 || errno == EINTR)) {
    }
    int found = -1;
    double now = heddle_now();
    watch->unsettled = false;
    for (int i = 0; i < watch->count; i++) {
        watched_file *file = &watch->files[i];
        mark at = look(file);
        if (!is_same(&at, &file->seen)) {
            file->seen = at;
            file->since = now;
        }
        if (is_same(&at, &file->told))
            continue;
        if (found >= 0 || now - file->since < still_seconds) {
            watch->unsettled = true;
            continue;
        }
        file->told = at;
        found = i;
    }
    return found;
}
