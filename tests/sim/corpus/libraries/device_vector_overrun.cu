// A kernel runs past the end of a thrust::device_vector; its memory is told by the line that made the vector.
#include "../corpus.h"
#include <thrust/device_vector.h>

__global__ void fill(float *data)
{
    data[threadIdx.x] = 1; // expect: out-of-bounds
}

int main()
{
    thrust::device_vector<float> data(100);
    fill<<<1, 128>>>(thrust::raw_pointer_cast(data.data()));
    SHOW(cudaDeviceSynchronize());
    return 0;
}
// memory: data
