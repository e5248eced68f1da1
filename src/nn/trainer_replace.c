// The run that --overwrite replaces. Its files have second names until the new run has trained up to a checkpoint: one
// that diverges before that leaves the earlier run as it was. What a crash leaves under the second names is the earlier
// run too, and goes with the next checkpoint.

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "nn/curve.h"
#include "nn/trainer.h"
#include "nn/trainer_folder.h"

enum { PATH_SIZE = 4096, SECOND_SIZE = PATH_SIZE + sizeof ".before" };

static const char *const names[] = {HEDDLE_RUN_BEST, HEDDLE_RUN_LAST, HEDDLE_RUN_CURVE};
enum { NAMES = sizeof names / sizeof *names };

// The paths of file `index` of the run, under both its names. They fit: the folder was opened before.
static void name_both(const heddle_trainer *trainer, int index, char path[PATH_SIZE], char second[SECOND_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/%s", trainer->options->folder, names[index]);
    snprintf(second, SECOND_SIZE, "%s/%s.before", trainer->options->folder, names[index]);
}

void heddle_trainer_set_aside(heddle_trainer *trainer)
{
    char path[PATH_SIZE], second[SECOND_SIZE];
    for (int i = 0; i < NAMES; i++) {
        name_both(trainer, i, path, second);
        // One that is there already is of a run whose replacement had no checkpoint yet. Without hard links in the
        // file system, the earlier run is replaced at once.
        if (link(path, second) == 0 || (errno == EEXIST && access(second, F_OK) == 0))
            trainer->set_aside = true;
    }
}

void heddle_trainer_drop_set_aside(heddle_trainer *trainer)
{
    char path[PATH_SIZE], second[SECOND_SIZE];
    if (trainer->dropped)
        return;
    for (int i = 0; i < NAMES; i++) {
        name_both(trainer, i, path, second);
        (void)unlink(second); // most are not there
    }
    trainer->set_aside = false;
    trainer->dropped = true;
}

void heddle_trainer_bring_back(heddle_trainer *trainer)
{
    char path[PATH_SIZE], second[SECOND_SIZE];
    if (!trainer->set_aside)
        return;
    for (int i = 0; i < NAMES; i++) {
        name_both(trainer, i, path, second);
        if (rename(second, path) != 0 && errno == ENOENT)
            (void)unlink(path); // the earlier run had none
        (void)unlink(second);   // still there if both were names of one file
    }
    trainer->set_aside = false;
}
