// The thread that reads the runs: their curves may be long and many, and the server's own thread must not wait for
// them.
#pragma once

#include "web/server.h"

typedef struct heddle_serve_reader heddle_serve_reader;

// `runs`: the folder of all runs.
heddle_status heddle_serve_reader_create(const char *runs, heddle_serve_reader **reader);
// Every request must be finished: after heddle_web_stop. NULL is fine.
void heddle_serve_reader_destroy(heddle_serve_reader *reader);

// Reads one run with its curve, or all without if `name` is NULL, and finishes the request. `name` is that of a folder
// below the one of all runs, shorter than HEDDLE_SERVE_NAME_SIZE.
enum { HEDDLE_SERVE_NAME_SIZE = 256 };
void heddle_serve_reader_read(heddle_serve_reader *reader, heddle_web_later *later, const char *name);
