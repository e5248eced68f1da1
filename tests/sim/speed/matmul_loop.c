// What the simulator's speed is measured against: the same product as matmul.cu's naive kernel, as one plain loop.

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { N = 512, RUNS = 3 };

// a, b, c: (n, n), row-major
static __attribute__((noinline)) void matmul(const float *a, const float *b, float *c, int n)
{
    for (int row = 0; row < n; row++)
        for (int col = 0; col < n; col++) {
            float sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[row * n + k] * b[k * n + col];
            c[row * n + col] = sum;
        }
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(void)
{
    float *memory = malloc(3 * sizeof(float) * N * N);
    if (!memory)
        return 1;
    for (int i = 0; i < 2 * N * N; i++)
        memory[i] = (float)(i % 7);
    double best = 1e9;
    for (int run = 0; run < RUNS; run++) {
        double start = seconds();
        matmul(memory, memory + N * N, memory + 2 * N * N, N);
        double took = seconds() - start;
        best = took < best ? took : best;
    }
    printf("naive %.6f %g\n", best, (double)memory[2 * N * N + N + 7]);
    free(memory);
    return 0;
}
