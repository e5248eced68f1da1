// The kernel is chosen between two instances by a host function: it is asked on the host, once, not by the kernel.
#include "../corpus.h"

struct sizes {
    int count;
};

template <int step> __global__ void fill(int *output, int n)
{
    int i = threadIdx.x;
    if (i < n)
        output[i] = step * i;
}

static int asked;

static bool is_large(const sizes *of)
{
    asked++;
    return of->count > 16;
}

int main()
{
    sizes of = {32};
    const sizes *host = &of;
    int *output = device_zeros<int>(32), result[32];
    (is_large(host) ? fill<2> : fill<1>)<<<1, 32>>>(output, host->count);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(result, output, sizeof result, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(output));
    return result[31] == 62 && asked == 1 ? 0 : 1;
}
