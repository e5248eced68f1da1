// cudaMemcpyDefault finds the direction itself.
#include "../corpus.h"

int main()
{
    int host[64], back[64], *data = NULL;
    for (int i = 0; i < 64; i++)
        host[i] = i;
    CHECK(cudaMalloc(&data, sizeof host));
    CHECK(cudaMemcpy(data, host, sizeof host, cudaMemcpyDefault));
    CHECK(cudaMemcpy(back, data, sizeof host, cudaMemcpyDefault));
    for (int i = 0; i < 64; i++)
        REQUIRE(back[i] == i);
    CHECK(cudaFree(data));
    return 0;
}
