// The host uses managed memory, frees it, and uses it again.
#include "../corpus.h"

int main()
{
    int *data = NULL, sum = 0;
    CHECK(cudaMallocManaged(&data, 64 * sizeof(int)));
    for (int i = 0; i < 64; i++)
        data[i] = i;
    CHECK(cudaFree(data));
    for (int i = 0; i < 64; i++)
        sum += data[i]; // expect: use-after-free
    printf("%d\n", sum);
    return 0;
}
