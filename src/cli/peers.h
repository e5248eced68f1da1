// Where the scripts are that measure PyTorch and JAX, and the Python that runs them. bench_network_peers.c runs them,
// doctor.c says whether they are here.
#pragma once

#include <stdbool.h>

#include "base/place.h"

// The path of train_gpu.py: in $HEDDLE_PEERS if that is set, else in the sources around the build folder, else where
// heddle is installed. False: it is not there, and `path` is the last place that was tried.
bool heddle_cli_find_peers(char path[HEDDLE_PLACE_SIZE]);
// $PEERS_PYTHON, or "python3".
const char *heddle_cli_peers_python(void);
