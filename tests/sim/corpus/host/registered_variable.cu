// An array of the program itself, opened to the card by cudaHostRegister, beside one that is not.
#include "../corpus.h"

static int open_to_card[256], closed_to_card[256];

__global__ void add_one(int *x)
{
    x[threadIdx.x] += 1; // expect: host-pointer a
}

int main()
{
    int *mapped = NULL;
    CHECK(cudaHostRegister(open_to_card, sizeof open_to_card, cudaHostRegisterMapped));
    CHECK(cudaHostGetDevicePointer((void **)&mapped, open_to_card, 0));
    add_one<<<1, 32>>>(mapped);
    CHECK(cudaDeviceSynchronize());
    REQUIRE(open_to_card[31] == 1);
    add_one<<<1, 32>>>(closed_to_card);
    cudaDeviceSynchronize();
    return 0;
}
