// Softmax of each row: maximum and sum by warp shuffles, one warp a row.
#include "../corpus.h"
#include <math.h>

__global__ void softmax(float *data, int columns)
{
    float *row = data + (blockIdx.x * blockDim.y + threadIdx.y) * columns;
    int lane = threadIdx.x;
    float largest = -INFINITY, sum = 0;
    for (int i = lane; i < columns; i += 32)
        largest = fmaxf(largest, row[i]);
    for (int offset = 16; offset > 0; offset /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
    for (int i = lane; i < columns; i += 32)
        sum += expf(row[i] - largest);
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    for (int i = lane; i < columns; i += 32)
        row[i] = expf(row[i] - largest) / sum;
}

int main()
{
    float *data = device_ramp(4 * 50, 0.0f, 0.01f), result[200];
    softmax<<<2, dim3(32, 2)>>>(data, 50);
    CHECK(cudaGetLastError());
    fetch(result, data);
    for (int row = 0; row < 4; row++) {
        float sum = 0;
        for (int i = 0; i < 50; i++)
            sum += result[row * 50 + i];
        REQUIRE(fabsf(sum - 1) < 1e-5f && result[row * 50 + 49] > result[row * 50]);
    }
    CHECK(cudaFree(data));
    return 0;
}
