// A failing call whose result nobody looks at.
#include "../corpus.h"

int main()
{
    int *data = device_zeros<int>(16);
    cudaMemcpy(data, NULL, 16, cudaMemcpyHostToDevice); // expect: bad-call; unchecked-error(warning)
    CHECK(cudaFree(data));
    return 0;
}
