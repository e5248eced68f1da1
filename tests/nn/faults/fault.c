// Loaded into heddle before all else (LD_PRELOAD), this breaks the GPU under it: for tests/nn/faults/gpu_faults.sh,
// which sees what training makes of a real fault. By the driver's own calls, in the context that the runtime uses too.
//
//   HEDDLE_FAULT=trap|address    a kernel that traps, one that writes where nothing is
//   HEDDLE_FAULT=memory          no memory but a little
//   HEDDLE_FAULT=lost            the driver answers that there is no card (lost.c): a real one cannot be made to
//                                fall off the bus, and where its context is destroyed the driver itself crashes
//   HEDDLE_FAULT_AFTER=FILE      once this file is there
//
// What cannot be done ends the program with 70 and a line that begins with "gpu_fault: ".

#include "lost.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char kernels[] = ".version 7.0\n"
                              ".target sm_75\n"
                              ".address_size 64\n"
                              ".visible .entry trap_() { trap; }\n"
                              ".visible .entry address_() {\n"
                              "    .reg .b64 at;\n"
                              "    .reg .b32 value;\n"
                              "    mov.u64 at, 16;\n"
                              "    mov.u32 value, 1;\n"
                              "    st.global.u32 [at], value;\n"
                              "    ret;\n"
                              "}\n";

// The driver's functions used here, all of which return 0 where they succeed.
typedef struct driver {
    int (*init)(unsigned);
    int (*retain)(void **context, int device);
    int (*enter)(void *context);
    int (*load)(void **module, const void *image);
    int (*function)(void **function, void *module, const char *name);
    int (*launch)(void *function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *stream,
                  void **parameters, void **extra);
    int (*memory)(size_t *left, size_t *whole);
    int (*allocate)(unsigned long long *address, size_t bytes);
} driver;

static void *symbol(void *library, const char *name)
{
    void *found = library ? dlsym(library, name) : NULL;
    if (!found) {
        fprintf(stderr, "gpu_fault: the driver has no %s\n", name);
        _exit(70);
    }
    return found;
}

static driver driver_open(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    driver all;
    *(void **)&all.init = symbol(library, "cuInit");
    *(void **)&all.retain = symbol(library, "cuDevicePrimaryCtxRetain");
    *(void **)&all.enter = symbol(library, "cuCtxSetCurrent");
    *(void **)&all.load = symbol(library, "cuModuleLoadData");
    *(void **)&all.function = symbol(library, "cuModuleGetFunction");
    *(void **)&all.launch = symbol(library, "cuLaunchKernel");
    *(void **)&all.memory = symbol(library, "cuMemGetInfo_v2");
    *(void **)&all.allocate = symbol(library, "cuMemAlloc_v2");
    return all;
}

static void must(int result, const char *what)
{
    if (result != 0) {
        fprintf(stderr, "gpu_fault: %s failed: error %d\n", what, result);
        _exit(70);
    }
}

// All but 16 MB, which the runtime needs for itself.
static void take_memory(const driver *calls)
{
    enum { LEFT = 16 << 20, LEAST = 2 << 20 };
    size_t left, whole;
    unsigned long long address;
    must(calls->memory(&left, &whole), "cuMemGetInfo");
    for (size_t piece = left; piece >= LEAST; piece /= 2)
        while (calls->memory(&left, &whole) == 0 && left > piece + LEFT && calls->allocate(&address, piece) == 0)
            continue;
}

static void *work(void *kind_)
{
    const char *kind = kind_, *after = getenv("HEDDLE_FAULT_AFTER");
    char name[16];
    void *context, *module, *function;
    while (after && access(after, F_OK) != 0)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    if (strcmp(kind, "lost") == 0) {
        gpu_lose();
        return NULL;
    }
    const driver calls = driver_open();
    must(calls.init(0), "cuInit");
    must(calls.retain(&context, 0), "cuDevicePrimaryCtxRetain");
    must(calls.enter(context), "cuCtxSetCurrent");
    if (strcmp(kind, "memory") == 0) {
        take_memory(&calls);
        return NULL;
    }
    snprintf(name, sizeof name, "%s_", kind);
    must(calls.load(&module, kernels), "cuModuleLoadData");
    must(calls.function(&function, module, name), "cuModuleGetFunction");
    must(calls.launch(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), "cuLaunchKernel");
    return NULL;
}

// A thread of its own where something is waited for; memory is taken before the program begins.
__attribute__((constructor)) static void begin(void)
{
    char *kind = getenv("HEDDLE_FAULT");
    pthread_t thread;
    if (!kind)
        return;
    if (strcmp(kind, "memory") == 0)
        work(kind);
    else if (pthread_create(&thread, NULL, work, kind) == 0)
        pthread_detach(thread);
}
