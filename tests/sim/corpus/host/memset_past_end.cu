// cudaMemset one byte too far.
#include "../corpus.h"

int main()
{
    char *data = NULL;
    CHECK(cudaMalloc(&data, 100));
    SHOW(cudaMemset(data, 0, 101)); // expect: out-of-bounds
    CHECK(cudaFree(data));
    return 0;
}
