// cudaFree of memory that came from malloc.
#include "../corpus.h"

int main()
{
    int *data = (int *)malloc(64 * sizeof(int));
    SHOW(cudaFree(data)); // expect: invalid-free
    free(data);
    return 0;
}
