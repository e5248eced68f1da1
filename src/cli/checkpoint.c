// A checkpoint by its own name or by its run's folder.

#include "cli/checkpoint.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "nn/trainer_folder.h"

static heddle_status name_path(const char *folder, const char *name, char path[HEDDLE_CLI_CHECKPOINT_SIZE])
{
    int length = (int)strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    if (snprintf(path, HEDDLE_CLI_CHECKPOINT_SIZE, "%.*s/%s", length, folder, name) < HEDDLE_CLI_CHECKPOINT_SIZE)
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_NOT_FOUND, "%.40s...: longer than a path can be", folder);
}

heddle_status heddle_cli_checkpoint(const char *given, char path[HEDDLE_CLI_CHECKPOINT_SIZE])
{
    if (!heddle_folder_exists(given)) {
        if (snprintf(path, HEDDLE_CLI_CHECKPOINT_SIZE, "%s", given) >= HEDDLE_CLI_CHECKPOINT_SIZE)
            return heddle_fail(HEDDLE_NOT_FOUND, "%.40s...: longer than a path can be", given);
        return HEDDLE_OK;
    }
    bool best, last;
    HEDDLE_TRY(heddle_run_folder_holds(given, HEDDLE_RUN_BEST, &best));
    HEDDLE_TRY(heddle_run_folder_holds(given, HEDDLE_RUN_LAST, &last));
    if (!best && !last)
        return heddle_fail(HEDDLE_NOT_FOUND,
                           "%s is a folder with neither %s nor %s: give a checkpoint, or the folder of a run", given,
                           HEDDLE_RUN_BEST, HEDDLE_RUN_LAST);
    HEDDLE_TRY(name_path(given, best ? HEDDLE_RUN_BEST : HEDDLE_RUN_LAST, path));
    // That the best is taken is what the manual says.
    heddle_log(best ? HEDDLE_LOG_INFO : HEDDLE_LOG_WARN, "%s is a folder: taking %s%s", given, path,
               best ? "" : ", for there is no " HEDDLE_RUN_BEST);
    return HEDDLE_OK;
}
