// One try at one file from one address, appended to what an earlier try left.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "heddle/data.h"

typedef enum heddle_transfer_result {
    HEDDLE_TRANSFER_WHOLE,       // as many bytes as the file has
    HEDDLE_TRANSFER_CUT,         // it broke off; what came is kept
    HEDDLE_TRANSFER_STALE,       // the server has nothing beyond what we have: start over
    HEDDLE_TRANSFER_REFUSED,     // this server will not do: `reason` says why
    HEDDLE_TRANSFER_STOPPED,     // the caller's progress function said so
    HEDDLE_TRANSFER_LOCAL_ERROR, // cannot write here; no server can help: `reason` says why
} heddle_transfer_result;

enum { HEDDLE_REASON_SIZE = 320 };

typedef struct heddle_transfer {
    const char *address, *part; // from, to
    const char *name;           // for progress
    uint64_t limit;             // size of the complete file in bytes; more is refused
    heddle_download_progress *progress;
    void *context;
    char reason[HEDDLE_REASON_SIZE]; // set on CUT, REFUSED, LOCAL_ERROR
    uint64_t before, after;          // bytes of the part file then and now
} heddle_transfer;

heddle_transfer_result heddle_transfer_run(heddle_transfer *transfer);

// HEDDLE_MISSING when this build cannot download.
heddle_status heddle_transfer_available(void);
