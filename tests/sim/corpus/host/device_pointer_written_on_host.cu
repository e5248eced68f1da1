// main fills device memory directly instead of copying.
#include "../corpus.h"

int main()
{
    float *data = NULL;
    CHECK(cudaMalloc(&data, 64 * sizeof(float)));
    for (int i = 0; i < 64; i++)
        data[i] = (float)i; // expect: device-pointer
    CHECK(cudaFree(data));
    return 0;
}
