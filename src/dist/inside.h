// What the files of dist/ share.
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "dist/dist.h"

struct heddle_dist {
    heddle_ranks ranks;
    heddle_dist_choice choice;
    const heddle_engine *mpi;  // NULL: alone, with NCCL
    const heddle_engine *nccl; // NULL: what is queued goes over MPI
    pthread_mutex_t lock;      // one call of MPI at a time
    heddle_watch *watch;       // NULL: alone
    // queue.c: where what a GPU exchanges over MPI passes through.
    void *pinned;
    size_t pinned_bytes;
    heddle_device *pinned_on;
    struct heddle_staged *staged;
    bool agreed;     // on a failure: all ranks end, and none is lost
    bool all_failed; // in that: every rank had a failure of its own
    bool crowded;    // more threads than cores: who waits gives way at once
    // What a stream that cannot return a failure left: the first one.
    atomic_int failure; // a heddle_status
    char message[512];
};
