#include "learn.h"

#include "06.9-ragged-tile.cu"

int main(void)
{
    for (auto [rows, cols] : {std::pair{32, 16}, {1, 1}, {21, 45}, {17, 5}}) {
        learn_case("rows = %d, cols = %d", rows, cols);
        std::vector<float> in = learn_values<float>(rows * cols), expected(rows * cols);
        for (int y = 0; y < rows; y++)
            for (int x = 0; x < cols; x++) {
                int left = x / TILE * TILE, width = cols - left < TILE ? cols - left : TILE;
                expected[y * cols + x] = in[y * cols + left + width - 1 - (x - left)];
            }
        float *device_in = learn_device(in), *device_out = learn_output<float>(rows * cols);
        dim3 block(TILE, TILE), grid((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
        learn_threads_2d(block, cols);
        mirror_tiles<<<grid, block>>>(device_in, device_out, rows, cols);
        learn_expect("out", device_out, expected);
    }
    return learn_passed();
}
