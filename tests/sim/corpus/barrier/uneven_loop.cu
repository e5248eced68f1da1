// A loop with a barrier inside whose trip count differs by thread: some threads leave and are missed.
// cure: Move
#include "../corpus.h"

__global__ void loop(int *data)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = 0;
    for (int i = 0; i < 2 + t % 2; i++) {
        s[t] += i;
        __syncthreads(); // expect: barrier-exited
    }
    data[t] = s[t];
}

int main()
{
    int *data = device_zeros<int>(64);
    loop<<<1, 64>>>(data);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    return 0;
}
