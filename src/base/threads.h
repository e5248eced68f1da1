// Thread pool for loops whose iterations are independent. Results must not depend on which worker ran an index: split
// the work into pieces whose number does not depend on the number of threads, and add partial sums in piece order.
#pragma once

#include "heddle/op.h" // heddle_pool
#include "heddle/status.h"

// threads 0: one for each core this process may use. The calling thread works too, so threads 1 starts none.
heddle_status heddle_pool_create(int threads, heddle_pool **pool);
void heddle_pool_destroy(heddle_pool *pool);
// NULL counts as 1.
int heddle_pool_threads(const heddle_pool *pool);

// A value that users of this pool share: ops/across.h keeps its sums over processes there. Initially NULL.
void heddle_pool_set_companion(heddle_pool *pool, void *companion);
void *heddle_pool_companion(const heddle_pool *pool); // of NULL: NULL

typedef void heddle_task(void *context, int index, int worker);
// Runs task(context, i, worker) for every i in [0, count), worker in [0, threads), and returns when all are done. Each
// worker number is used by one thread at a time. NULL pool: a plain loop. Several threads may call it at once (they
// take turns), and a task may call it (runs inline, under the same worker number). A task may use another pool, but
// pools must not wait for each other in a circle.
void heddle_pool_run(heddle_pool *pool, int count, heddle_task *task, void *context);

// Cores this process may use (affinity and cgroup quota respected), at least 1.
int heddle_usable_cores(void);
