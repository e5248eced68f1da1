// What a module of dist/ brings: libheddle-mpi.so moves host memory between processes, libheddle-nccl.so device memory
// between GPUs. Each is loaded when a run asks for it, calls nothing of the library but what it is given, and what it
// needs of the machine (MPI, NCCL) may be missing.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "heddle/device.h"
#include "heddle/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    HEDDLE_ENGINE_VERSION = 1, // changes with anything in this header: an older module is refused
    HEDDLE_ENGINE_ID = 128,    // bytes that name a group of GPUs
};

typedef enum heddle_collective {
    HEDDLE_ALL_REDUCE,     // everybody gets the sum of everybody's `count` elements
    HEDDLE_BROADCAST,      // everybody gets the root's
    HEDDLE_ALL_GATHER,     // everybody gets everybody's `count` elements, one rank's behind the other's
    HEDDLE_REDUCE_SCATTER, // rank r gets part r, `count` elements, of the sum
    HEDDLE_COLLECTIVES,
} heddle_collective;

// Each rank calls the same ones in the same order.
typedef struct heddle_exchange {
    heddle_collective kind;
    heddle_dtype dtype; // HEDDLE_F32, HEDDLE_F64, or HEDDLE_U8 where nothing is added
    const void *send;   // may be `receive`: in place (of all-gather: the rank's own part of it)
    void *receive;
    size_t count;
    int root; // of a broadcast
} heddle_exchange;

// Who a process is among all that were launched together.
typedef struct heddle_ranks {
    int rank, ranks;
    int local_rank, local_ranks; // among those of this machine
} heddle_ranks;

// Lanes on which exchanges of one process may be under way at the same time, one each. Each rank must use a channel in
// the same order; between channels there is none.
typedef enum heddle_channel {
    HEDDLE_CHANNEL_STATISTICS, // from inside an operator
    HEDDLE_CHANNEL_GRADIENTS,  // beside the backward pass
    HEDDLE_CHANNEL_HOST,       // everything else
    HEDDLE_CHANNELS,
} heddle_channel;

typedef struct heddle_engine_host {
    int version;
    heddle_status (*fail)(heddle_status status, const char *format, ...) HEDDLE_PRINTF(2, 3);
} heddle_engine_host;

typedef struct heddle_engine {
    int version;
    const char *(*describe)(void); // "Open MPI v4.1.4": without opening anything

    // MPI. Calls come from several threads, one at a time.
    heddle_status (*open)(heddle_ranks *ranks);
    heddle_status (*start)(heddle_channel channel, const heddle_exchange *exchange);
    heddle_status (*test)(heddle_channel channel, bool *done);
    void (*close)(void); // when all ranks do

    // NCCL: `id` is made by one rank and brought to all.
    heddle_status (*identify)(unsigned char id[HEDDLE_ENGINE_ID]);
    heddle_status (*join)(const unsigned char id[HEDDLE_ENGINE_ID], const heddle_ranks *ranks, heddle_device *device);
    heddle_status (*queue)(const heddle_exchange *exchange, heddle_stream *stream);
    void (*leave)(void);
} heddle_engine;

#define HEDDLE_ENGINE_ENTRY "heddle_engine_start"
typedef const heddle_engine *heddle_engine_entry(const heddle_engine_host *host);

// For the library, not for modules: loads "mpi" or "nccl", once. HEDDLE_MISSING says what is not there and what to do.
heddle_status heddle_engine_load(const char *name, const heddle_engine **engine);

#ifdef __cplusplus
}
#endif
