// An atomic built from atomicCAS, whose first guess is read atomically.
#include "../corpus.h"

__device__ double atomic_multiply(double *address, double factor)
{
    unsigned long long *bits = (unsigned long long *)address, old = atomicAdd(bits, 0ull), seen;
    do {
        seen = old;
        old = atomicCAS(bits, seen,
                        (unsigned long long)__double_as_longlong(__longlong_as_double((long long)seen) * factor));
    } while (old != seen);
    return __longlong_as_double((long long)old);
}

__global__ void work(double *product)
{
    atomic_multiply(product, 2.0);
}

int main()
{
    double *product = device_ramp(1, 1.0, 0.0), result[1];
    work<<<2, 16>>>(product);
    CHECK(cudaGetLastError());
    fetch(result, product);
    REQUIRE(result[0] == 4294967296.0);
    CHECK(cudaFree(product));
    return 0;
}
