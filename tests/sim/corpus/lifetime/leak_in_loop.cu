// A buffer taken in a loop, only the last one freed.
#include "../corpus.h"

int main()
{
    char *buffer = NULL;
    for (int i = 0; i < 5; i++)
        CHECK(cudaMalloc(&buffer, 1000 + i)); // expect: leak(warning)
    CHECK(cudaFree(buffer));
    return 0;
}
