// Which build of the inner loops this machine uses.

#include "ops/cpu/kernels.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

typedef bool machine_has(void);

static bool always(void)
{
    return true;
}

#if defined(__x86_64__)
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

// Best first.
static const struct choice {
    const heddle_cpu_kernels *kernels;
    machine_has *runs;
} choices[] = {
#if defined(__aarch64__)
    {&heddle_cpu_kernels_neon, always},
#elif defined(__x86_64__)
    {&heddle_cpu_kernels_avx512, has_avx512},
    {&heddle_cpu_kernels_avx2, has_avx2},
#endif
    {&heddle_cpu_kernels_generic, always},
};

enum { CHOICES = sizeof choices / sizeof *choices };

const heddle_cpu_kernels *heddle_cpu_kernels_find(const char *name)
{
    for (int i = 0; i < CHOICES; i++)
        if (strcmp(choices[i].kernels->name, name) == 0 && choices[i].runs())
            return choices[i].kernels;
    return NULL;
}

static const heddle_cpu_kernels *choose(void)
{
    const char *wanted = getenv("HEDDLE_SIMD");
    if (wanted && *wanted) {
        const heddle_cpu_kernels *found = heddle_cpu_kernels_find(wanted);
        if (found)
            return found;
        heddle_log(HEDDLE_LOG_WARN, "HEDDLE_SIMD=%s: this machine does not run that; using the best it has", wanted);
    }
    for (int i = 0; i < CHOICES; i++)
        if (choices[i].runs())
            return choices[i].kernels;
    return &heddle_cpu_kernels_generic;
}

const heddle_cpu_kernels *heddle_cpu_kernels_best(void)
{
    static _Atomic(const heddle_cpu_kernels *) chosen;
    const heddle_cpu_kernels *kernels = atomic_load_explicit(&chosen, memory_order_acquire);
    if (!kernels) {
        kernels = choose(); // two threads that get here together choose the same
        atomic_store_explicit(&chosen, kernels, memory_order_release);
    }
    return kernels;
}
