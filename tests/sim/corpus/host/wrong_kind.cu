// cudaMemcpy with the direction the wrong way round.
#include "../corpus.h"

int main()
{
    int host[64] = {0}, *data = device_zeros<int>(64);
    SHOW(cudaMemcpy(host, data, sizeof host, cudaMemcpyHostToDevice)); // expect: bad-call
    CHECK(cudaFree(data));
    return 0;
}
