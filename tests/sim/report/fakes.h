// The report's neighbours, played by the test: memory with named allocations, counters, options, one worker.
#ifndef FAKES_H
#define FAKES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void *here(void); // the place of the caller, as a hook would have it

typedef struct fake_place {
    void *pc;
    const char *role;
    int block, thread; // -1: host code
} fake_place;

void fake_finding(int kind, int tier, const char *kernel, const char *message, fake_place one, fake_place other,
                  const void *address, size_t bytes);
void *fake_malloc(void *pc, size_t bytes); // stands in for cudaMalloc
void fake_free(void *memory, void *pc);
void fake_count(void *pc, const char *kernel, unsigned units);
void fake_worker(void *thread_local_start, void *dynamic_start, size_t dynamic_bytes);

#ifdef __cplusplus
}
#endif

#endif
