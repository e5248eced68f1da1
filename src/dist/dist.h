// Processes that work together, one per rank: opened from the environment that the launcher (mpirun, srun) set up.
// Sums, broadcasts and gathers between them, on the host or queued on a stream, and a watch that notices within seconds
// when one of them is gone. Over MPI, and between GPUs over NCCL; both are modules, so that a program runs without
// either.
#pragma once

#include "dist/watch.h"

typedef struct heddle_dist heddle_dist;

typedef enum heddle_dist_choice {
    HEDDLE_DIST_AUTO, // as launched: alone, or over MPI, and NCCL between GPUs where it is there
    HEDDLE_DIST_OFF,
    HEDDLE_DIST_MPI,
    HEDDLE_DIST_NCCL,
} heddle_dist_choice;
// "auto", "off", "mpi", "nccl"; NULL-terminated.
extern const char *const heddle_dist_choice_names[];

// How many processes the launcher has started; 1 without a launcher. Reads only the environment.
int heddle_dist_launched(void);

// Whether this process is the launcher's first, or the only one. Reads only the environment.
bool heddle_dist_is_first(void);

// *dist is NULL if this process is alone and was not asked for ranks. Every launched process calls it. The listener may
// be NULL; it must outlive *dist.
heddle_status heddle_dist_open(heddle_dist_choice choice, const heddle_dist_listener *listener, heddle_dist **dist);
// Waits for the others, unless one is gone or `failed`: then this process just leaves, and the others notice. A failure
// that all have agreed on is not meant.
void heddle_dist_close(heddle_dist *dist, bool failed); // NULL is fine
const heddle_ranks *heddle_dist_ranks(const heddle_dist *dist);
// HEDDLE_DEVICE, with the lost rank's name, once there is one.
heddle_status heddle_dist_check(heddle_dist *dist);
// CPU threads for this rank: the cores it may use, divided among the ranks that may use the same.
heddle_status heddle_dist_threads(heddle_dist *dist, int *threads);
// Fails on every rank when `status` is a failure on one; the others' message says whose.
heddle_status heddle_dist_agree(heddle_dist *dist, heddle_status status);
// Whether this rank reports its failure: if all have failed, only the first does.
bool heddle_dist_reports(const heddle_dist *dist); // NULL is fine

// --- on the host: every rank calls it, and it returns when all is done ---------------------------------------------

heddle_status heddle_dist_exchange(heddle_dist *dist, heddle_channel channel, const heddle_exchange *exchange);
heddle_status heddle_dist_sum(heddle_dist *dist, heddle_channel channel, double *values, int count);
heddle_status heddle_dist_barrier(heddle_dist *dist);

// --- on a stream: captured as a kernel is ---------------------------------------------------------------------------

// To be called once, before the next: NCCL's group is made of the ranks' devices, where NCCL was asked for or can be
// had.
heddle_status heddle_dist_use(heddle_dist *dist, heddle_device *device);
// Room for exchanges of so many bytes; before a capture, and before anything is queued that is larger.
heddle_status heddle_dist_reserve(heddle_dist *dist, heddle_device *device, size_t bytes);
// Gives it back. Graphs that hold exchanges must be gone, and the device must still be there.
void heddle_dist_release(heddle_dist *dist);
// "MPI", "NCCL": what carries what is queued.
const char *heddle_dist_carrier(const heddle_dist *dist);
// `exchange` is copied; its memory is the device's. On one stream after the other, in the same order on all ranks.
heddle_status heddle_dist_queue(heddle_dist *dist, heddle_channel channel, const heddle_exchange *exchange,
                                heddle_stream *stream);

// --- for `heddle doctor` --------------------------------------------------------------------------------------------

// What a module ("mpi", "nccl") is and needs; HEDDLE_MISSING says what is not there.
heddle_status heddle_dist_describe(const char *module, char *text, size_t size);
