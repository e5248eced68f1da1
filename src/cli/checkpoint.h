// Where the checkpoint is that a command is given.
#ifndef HEDDLE_CLI_CHECKPOINT_H
#define HEDDLE_CLI_CHECKPOINT_H

#include <stddef.h>

#include "heddle/status.h"

enum { HEDDLE_CLI_CHECKPOINT_SIZE = 4096 };

// `given`, or where that is the folder of a run the best checkpoint in it, or the last where there is no best; a
// warning then says which.
heddle_status heddle_cli_checkpoint(const char *given, char path[HEDDLE_CLI_CHECKPOINT_SIZE]);

#endif
