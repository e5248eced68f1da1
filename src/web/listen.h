// The socket that the server listens on.
#pragma once

#include "heddle/status.h"

// `address` in numbers; `wanted` 0: the usual port if it is free, else any. *port: the one that it is.
heddle_status heddle_web_listen(const char *address, int wanted, int *made, int *port);
