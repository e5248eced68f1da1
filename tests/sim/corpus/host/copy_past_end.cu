// A copy to the card longer than the allocation.
#include "../corpus.h"

int main()
{
    int host[64] = {0}, *data = NULL;
    CHECK(cudaMalloc(&data, 60 * sizeof(int)));
    SHOW(cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice)); // expect: out-of-bounds
    CHECK(cudaFree(data));
    return 0;
}
