// Text without a terminator that a kernel prints to its end.
#include "../corpus.h"

__global__ void print(const char *text)
{
    printf("[%s]\n", text); // expect: out-of-bounds
}

int main()
{
    char *text;
    CHECK(cudaMalloc((void **)&text, 8));
    CHECK(cudaMemcpy(text, "abcdefgh", 8, cudaMemcpyHostToDevice));
    print<<<1, 1>>>(text);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(text));
    return 0;
}
