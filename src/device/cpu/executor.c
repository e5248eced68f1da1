// The executor threads: take the most urgent ready item, run it, say how it went. One idle executor spins for a moment
// before it sleeps, so that the next submission finds somebody awake.

#include <stdio.h>
#include <stdlib.h>

#include "base/futex.h"
#include "base/spawn.h"
#include "base/text.h"
#include "device/cpu/cpu.h"

enum {
    FEWEST_EXECUTORS = 2, // two streams overlap even on one core: one may copy or wait while the other computes
    NAME_SIZE = 16,
};

static void run(struct cpu_device *device, struct cpu_item *item)
{
    heddle_cpu_unlock(device);
    heddle_status status = item->work(heddle_cpu_item_arguments(item));
    heddle_cpu_lock(device);
    heddle_cpu_complete(device, item, status);
}

static bool has_news(struct cpu_device *device)
{
    return atomic_load_explicit(&device->ready_count, memory_order_acquire) > 0 || atomic_load(&device->stop);
}

// Called and left with the lock held.
static void idle(struct cpu_device *device)
{
    bool first = device->spinners == 0;
    device->spinners++;
    heddle_cpu_unlock(device);
    if (first && device->executor_spin > 0) {
        double deadline = heddle_now() + device->executor_spin;
        while (!has_news(device) && heddle_spin(deadline))
            continue;
    }
    heddle_cpu_lock(device);
    device->spinners--;
    if (has_news(device))
        return;

    device->sleepers++;
    while (device->wakes == 0 && !atomic_load(&device->stop))
        pthread_cond_wait(&device->work, &device->lock);
    // Whoever gave the wake has already moved one from sleepers to spinners.
    if (device->wakes > 0) {
        device->wakes--;
        device->spinners--;
    }
}

static void *execute(void *context)
{
    struct cpu_device *device = context;
    heddle_cpu_enter_executor(device);
    heddle_cpu_lock(device);
    for (;;) {
        struct cpu_item *item = heddle_cpu_take_ready(device);
        if (item)
            run(device, item);
        else if (atomic_load(&device->stop))
            break;
        else
            idle(device);
    }
    heddle_cpu_unlock(device);
    return NULL;
}

heddle_status heddle_cpu_start_executors(struct cpu_device *device)
{
    int wanted = device->cores > FEWEST_EXECUTORS ? device->cores : FEWEST_EXECUTORS;
    device->executors = calloc((size_t)wanted, sizeof *device->executors);
    if (!device->executors)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the cpu device's threads");
    for (int i = 0; i < wanted; i++) {
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "heddle-exec-%d", i);
        HEDDLE_TRY(heddle_thread_start(&device->executors[i], name, execute, device));
        device->executor_count++;
    }
    return HEDDLE_OK;
}

void heddle_cpu_stop_executors(struct cpu_device *device)
{
    heddle_cpu_lock(device);
    atomic_store(&device->stop, true);
    heddle_cpu_unlock(device);
    pthread_cond_broadcast(&device->work);
    for (int i = 0; i < device->executor_count; i++)
        pthread_join(device->executors[i], NULL);
    free(device->executors);
}
