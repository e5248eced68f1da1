// cudaFree of NULL does nothing, and is the usual first call.
#include "../corpus.h"

int main()
{
    CHECK(cudaFree(0));
    CHECK(cudaFreeHost(NULL));
    return 0;
}
