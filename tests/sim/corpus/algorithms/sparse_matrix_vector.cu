// Sparse matrix (CSR) times vector, one warp a row.
#include "../corpus.h"

__global__ void multiply(const int *offsets, const int *columns, const float *values, const float *x, float *y,
                         int rows)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = offsets[row] + lane; i < offsets[row + 1]; i += 32)
        sum += values[i] * x[columns[i]];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (lane == 0)
        y[row] = sum;
}

int main()
{
    const int rows = 21;
    int offsets[rows + 1] = {0}, columns[rows * rows], count = 0;
    float values[rows * rows], result[rows];
    for (int r = 0; r < rows; r++) {
        for (int c = r % 3; c < rows; c += 1 + r % 4) {
            columns[count] = c;
            values[count++] = (float)(r + c);
        }
        offsets[r + 1] = count;
    }
    int *d_offsets = device_copy(offsets), *d_columns = NULL;
    float *d_values = NULL, *x = device_ramp(rows, 1.0f, 1.0f), *y = device_zeros<float>(rows);
    CHECK(cudaMalloc(&d_columns, count * sizeof(int)));
    CHECK(cudaMalloc(&d_values, count * sizeof(float)));
    CHECK(cudaMemcpy(d_columns, columns, count * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_values, values, count * sizeof(float), cudaMemcpyHostToDevice));
    multiply<<<(rows * 32 + 63) / 64, 64>>>(d_offsets, d_columns, d_values, x, y, rows);
    CHECK(cudaGetLastError());
    fetch(result, y);
    for (int r = 0; r < rows; r++) {
        float want = 0;
        for (int i = offsets[r]; i < offsets[r + 1]; i++)
            want += values[i] * (1 + columns[i]);
        REQUIRE(result[r] == want);
    }
    CHECK(cudaFree(d_offsets));
    CHECK(cudaFree(d_columns));
    CHECK(cudaFree(d_values));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    return 0;
}
