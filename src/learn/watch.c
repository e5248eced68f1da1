// inotify only says when to look. What has changed is decided by looking at the files, so that nothing depends on which
// events an editor or a file system happens to cause.

#include "learn/watch.h"

#include <errno.h>
#include <stdio.h>
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
    mark told, seen; // as it was when it was last returned, and when it was last looked at
    double since;    // when `seen` was first seen
} watched_file;

struct heddle_learn_watch {
    const heddle_learn_workspace *workspace;
    int events;
    bool unsettled; // something has changed and is not still yet
    watched_file files[];
};

static mark look(const heddle_learn_watch *watch, int index)
{
    char path[HEDDLE_PLACE_SIZE];
    struct stat about;
    heddle_learn_file(watch->workspace, &watch->workspace->course->exercises[index], path);
    if (stat(path, &about) != 0)
        return (mark){0};
    return (mark){true, about.st_ino, about.st_size, about.st_mtim};
}

static bool is_same(const mark *a, const mark *b)
{
    return a->exists == b->exists && a->number == b->number && a->size == b->size &&
           a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

heddle_status heddle_learn_watch_open(const heddle_learn_workspace *workspace, heddle_learn_watch **watch)
{
    const heddle_learn_course *course = workspace->course;
    const char *chapter = "";
    *watch = calloc(1, sizeof **watch + (size_t)course->count * sizeof *(*watch)->files);
    if (!*watch)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to watch the folder");
    (*watch)->workspace = workspace;
    (*watch)->events = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    for (int i = 0; i < course->count; i++) {
        char path[HEDDLE_PLACE_SIZE];
        (*watch)->files[i].told = (*watch)->files[i].seen = look(*watch, i);
        if (strcmp(chapter, course->exercises[i].chapter) == 0 || (*watch)->events < 0)
            continue;
        chapter = course->exercises[i].chapter;
        snprintf(path, sizeof path, "%s/%s", workspace->folder, chapter);
        inotify_add_watch((*watch)->events, path, // one that fails is looked at all the same, only later
                          IN_CLOSE_WRITE | IN_MODIFY | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CREATE | IN_ATTRIB);
    }
    return HEDDLE_OK;
}

void heddle_learn_watch_close(heddle_learn_watch *watch)
{
    if (watch && watch->events >= 0)
        close(watch->events);
    free(watch);
}

int heddle_learn_watch_descriptor(const heddle_learn_watch *watch)
{
    return watch->events;
}

int heddle_learn_watch_period(const heddle_learn_watch *watch)
{
    return watch->unsettled ? PERIOD_UNSETTLED : watch->events < 0 ? PERIOD_ALONE : PERIOD;
}

const heddle_learn_exercise *heddle_learn_watch_changed(heddle_learn_watch *watch)
{
    char events[4096];
    while (watch->events >= 0 && (read(watch->events, events, sizeof events) > 0 || errno == EINTR)) {
    }
    const heddle_learn_exercise *found = NULL;
    double now = heddle_now();
    watch->unsettled = false;
    for (int i = 0; i < watch->workspace->course->count; i++) {
        watched_file *file = &watch->files[i];
        mark at = look(watch, i);
        if (!is_same(&at, &file->seen)) {
            file->seen = at;
            file->since = now;
        }
        if (is_same(&at, &file->told))
            continue;
        if (found || now - file->since < still_seconds) {
            watch->unsettled = true;
            continue;
        }
        file->told = at;
        found = &watch->workspace->course->exercises[i];
    }
    return found;
}
