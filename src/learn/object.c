// learn.o holds what every judge shares, compiled with heddle, so that a learner waits only for their own file. It lies
// in a folder beside the simulator's runtime, with copies of the files it was made of. Where the course has others, as
// with HEDDLE_COURSE or while they are edited, it does not serve.

#include "learn/object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "build/build.h"

enum { LARGEST_SOURCE = 1 << 20 };

static bool is_same(const char *folder, const char *other, const char *name)
{
    char paths[2][HEDDLE_PLACE_SIZE + 32], *texts[2] = {NULL, NULL};
    size_t sizes[2] = {0, 0};
    bool fine = true;
    snprintf(paths[0], sizeof paths[0], "%s/%s", folder, name);
    snprintf(paths[1], sizeof paths[1], "%s/%s", other, name);
    for (int i = 0; i < 2 && fine; i++)
        fine = heddle_file_exists(paths[i]) &&
               heddle_file_read(paths[i], LARGEST_SOURCE, &texts[i], &sizes[i]) == HEDDLE_OK;
    fine = fine && sizes[0] == sizes[1] && memcmp(texts[0], texts[1], sizes[0]) == 0;
    free(texts[0]);
    free(texts[1]);
    return fine;
}

bool heddle_learn_find_object(const char *include, char path[HEDDLE_PLACE_SIZE])
{
    char folder[HEDDLE_PLACE_SIZE];
    const char *runtime = sim_build_runtime(), *slash = strrchr(runtime, '/');
    if (!slash ||
        snprintf(folder, sizeof folder, "%.*s/judges", (int)(slash - runtime), runtime) >= (int)sizeof folder ||
        snprintf(path, HEDDLE_PLACE_SIZE, "%s/learn.o", folder) >= HEDDLE_PLACE_SIZE)
        return false;
    return heddle_file_exists(path) && is_same(folder, include, "learn.h") && is_same(folder, include, "learn.cu");
}
