// A race behind thousands of meetings: a lane's clock has fewer bits than that.
#include "../corpus.h"

__global__ void exchange(int *output)
{
    __shared__ int box[32];
    int lane = threadIdx.x, sum = 0;
    for (int i = 0; i < 1500; i++) {
        box[lane] = i;
        __syncwarp();
        sum += box[lane ^ 1];
        __syncwarp();
    }
    box[lane] = sum;               // expect: race a
    output[lane] = box[31 - lane]; // expect: race a
}

int main()
{
    int *output = device_zeros<int>(32);
    exchange<<<1, 32>>>(output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(output));
    return 0;
}
