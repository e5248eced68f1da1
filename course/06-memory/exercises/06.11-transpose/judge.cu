#include "learn.h"

#include "06.11-transpose.cu"

int main(void)
{
    for (auto [rows, cols] : {std::pair{1, 1}, {64, 32}, {37, 97}, {1, 70}}) {
        learn_case("%d x %d", rows, cols);
        std::vector<float> in = learn_values<float>(rows * cols), expected(rows * cols);
        for (int y = 0; y < rows; y++)
            for (int x = 0; x < cols; x++)
                expected[x * rows + y] = in[y * cols + x];
        float *device_in = learn_device(in), *device_out = learn_output<float>(rows * cols);
        dim3 blocks((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
        transpose<<<blocks, dim3(TILE, TILE)>>>(device_in, device_out, rows, cols);
        learn_expect("out", device_out, expected);
    }
    return learn_passed();
}
