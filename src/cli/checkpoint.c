// A checkpoint by its own name or by its run's folder.

#include "cli/checkpoint.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "nn/trainer_folder.h"

// Whether it is there. A path that is too long names nothing.
static bool find(const char *folder, const char *name, char path[HEDDLE_CLI_CHECKPOINT_SIZE])
{
    int length = (int)strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    int used = snprintf(path, HEDDLE_CLI_CHECKPOINT_SIZE, "%.*s/%s", length, folder, name);
    return used < HEDDLE_CLI_CHECKPOINT_SIZE && heddle_file_exists(path);
}

heddle_status heddle_cli_checkpoint(const char *given, char path[HEDDLE_CLI_CHECKPOINT_SIZE])
{
    if (!heddle_folder_exists(given)) {
        if (snprintf(path, HEDDLE_CLI_CHECKPOINT_SIZE, "%s", given) >= HEDDLE_CLI_CHECKPOINT_SIZE)
            return heddle_fail(HEDDLE_NOT_FOUND, "%.40s...: longer than a path can be", given);
        return HEDDLE_OK;
    }
    if (find(given, HEDDLE_RUN_BEST, path))
        fprintf(stderr, "heddle: %s is a folder: taking %s\n", given, path);
    else if (find(given, HEDDLE_RUN_LAST, path))
        fprintf(stderr, "heddle: %s is a folder: taking %s, for there is no %s\n", given, path, HEDDLE_RUN_BEST);
    else
        return heddle_fail(HEDDLE_NOT_FOUND,
                           "%s is a folder with neither %s nor %s: give a checkpoint, or the folder of a run", given,
                           HEDDLE_RUN_BEST, HEDDLE_RUN_LAST);
    return HEDDLE_OK;
}
