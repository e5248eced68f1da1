// Finds the scripts that measure PyTorch and JAX, and the Python that runs them.

#include "cli/peers.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"

#define SCRIPT "train_gpu.py"

// An empty variable is one that is not set.
static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && value[0] ? value : NULL;
}

static bool is_there(char path[HEDDLE_PLACE_SIZE], const char *folder, const char *within)
{
    const int length = snprintf(path, HEDDLE_PLACE_SIZE, "%s%s/" SCRIPT, folder, within);
    return length < HEDDLE_PLACE_SIZE && heddle_file_exists(path);
}

bool heddle_cli_find_peers(char path[HEDDLE_PLACE_SIZE])
{
    const char *told = variable("HEDDLE_PEERS");
    char own[HEDDLE_PLACE_SIZE];
    if (told)
        return is_there(path, told, "");
    heddle_own_folder(own);
    return is_there(path, own, "/../peers") || is_there(path, own, "/" HEDDLE_PEERS_FROM_PROGRAM);
}

const char *heddle_cli_peers_python(void)
{
    const char *told = variable("PEERS_PYTHON");
    return told ? told : "python3";
}
