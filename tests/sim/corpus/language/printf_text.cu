// Text that a kernel prints: in every memory that it may read, and without a terminator where the format says how much.
#include "../corpus.h"

__device__ const char kept[] = "kept";
__constant__ char fixed[8] = "fixed";
__device__ const char *chosen;

__device__ const char *name_of(int i)
{
    return i == 0 ? "none" : "some";
}

__global__ void choose()
{
    chosen = "chosen";
}

__global__ void print(const char *given, const char *managed, const char *bare, const char *symbol)
{
    __shared__ char shared[4];
    char local[3] = {'l', 'o', '\0'};
    if (threadIdx.x < 4)
        shared[threadIdx.x] = threadIdx.x < 3 ? 's' : '\0';
    __syncthreads();
    if (threadIdx.x == 0) {
        printf("%s %s %s %s %s\n", given, managed, kept, fixed, chosen);
        printf("%s %s %s %d %f %s\n", shared, local, name_of(blockIdx.x), 1, 2.0, "literal");
        printf("%.4s %.*s %-8.2s %s\n", bare, 3, bare, bare, symbol);
    }
}

int main()
{
    const char text[] = "text on the card";
    char *given = device_copy(text), *bare, *managed;
    void *symbol;
    CHECK(cudaMalloc((void **)&bare, 4));
    CHECK(cudaMemcpy(bare, "bare", 4, cudaMemcpyHostToDevice));
    CHECK(cudaMallocManaged(&managed, 8));
    strcpy(managed, "managed");
    CHECK(cudaGetSymbolAddress(&symbol, kept));
    choose<<<1, 1>>>();
    print<<<2, 32>>>(given, managed, bare, (const char *)symbol);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(given));
    CHECK(cudaFree(bare));
    CHECK(cudaFree(managed));
    return 0;
}
