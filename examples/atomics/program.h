// What the programs of this folder share: memory on the card, and a line for each result with what it should be.
#ifndef HEDDLE_EXAMPLES_ATOMICS_PROGRAM_H
#define HEDDLE_EXAMPLES_ATOMICS_PROGRAM_H

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

// Exit 3: there is no GPU here. `heddle check` needs none.
static inline void check(cudaError_t status, const char *call, const char *file, int line)
{
    bool no_gpu = status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver;
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "%s:%d: %s: %s%s\n", file, line, call, cudaGetErrorString(status),
            no_gpu ? "; `heddle check` runs this without a GPU" : "");
    exit(no_gpu ? 3 : 1);
}
#define CHECK(call) check((call), #call, __FILE__, __LINE__)

// A copy of these bytes on the card.
static inline void *to_card(const void *host, size_t bytes)
{
    void *card;
    CHECK(cudaMalloc(&card, bytes));
    CHECK(cudaMemcpy(card, host, bytes, cudaMemcpyHostToDevice));
    return card;
}

// Waits for the kernels before it, brings the bytes back and gives the memory up.
static inline void from_card(void *host, void *card, size_t bytes)
{
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host, card, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(card));
}

static int wrong_results;

static inline void expect(const char *what, double got, double expected)
{
    bool right = got == expected;
    printf("%-28s %.17g%s", what, got, right ? "\n" : "");
    if (!right)
        printf(", and should be %.17g\n", expected);
    wrong_results += !right;
}

#endif
