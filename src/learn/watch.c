// The files of a course folder, watched by base/watch.h.

#include "learn/watch.h"

#include <stdlib.h>

#include "base/watch.h"

struct heddle_learn_watch {
    const heddle_learn_workspace *workspace;
    heddle_watch *files;
};

static heddle_status open_files(const heddle_learn_workspace *workspace, heddle_watch **files)
{
    const heddle_learn_course *course = workspace->course;
    char(*names)[HEDDLE_PLACE_SIZE] = calloc((size_t)course->count + 1, sizeof *names);
    const char **paths = calloc((size_t)course->count + 1, sizeof *paths);
    heddle_status status =
        names && paths ? HEDDLE_OK : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to watch the folder");
    for (int i = 0; names && paths && i < course->count; i++) {
        heddle_learn_file(workspace, &course->exercises[i], names[i]);
        paths[i] = names[i];
    }
    if (status == HEDDLE_OK)
        status = heddle_watch_open(paths, course->count, files);
    free(names);
    free(paths);
    return status;
}

heddle_status heddle_learn_watch_open(const heddle_learn_workspace *workspace, heddle_learn_watch **watch)
{
    *watch = calloc(1, sizeof **watch);
    if (!*watch)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to watch the folder");
    (*watch)->workspace = workspace;
    heddle_status status = open_files(workspace, &(*watch)->files);
    if (status != HEDDLE_OK) {
        heddle_learn_watch_close(*watch);
        *watch = NULL;
    }
    return status;
}

void heddle_learn_watch_close(heddle_learn_watch *watch)
{
    if (watch)
        heddle_watch_close(watch->files);
    free(watch);
}

int heddle_learn_watch_descriptor(const heddle_learn_watch *watch)
{
    return heddle_watch_descriptor(watch->files);
}

int heddle_learn_watch_period(const heddle_learn_watch *watch)
{
    return heddle_watch_period(watch->files);
}

const heddle_learn_exercise *heddle_learn_watch_changed(heddle_learn_watch *watch)
{
    int changed = heddle_watch_changed(watch->files);
    return changed >= 0 ? &watch->workspace->course->exercises[changed] : NULL;
}
