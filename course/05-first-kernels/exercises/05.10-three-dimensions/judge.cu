#include "learn.h"

#include "05.10-three-dimensions.cu"

int main(void)
{
    const int sizes[][3] = {{5, 3, 1}, {5, 3, 2}, {1, 1, 1}, {4, 4, 4}, {3, 7, 5}, {9, 2, 6}, {1, 1, 11}};
    for (const int *size : sizes) {
        int width = size[0], height = size[1], depth = size[2], n = width * height * depth, threshold = 2;
        learn_case("width %d, height %d, depth %d", width, height, depth);
        std::vector<int> density = learn_values<int>(n), expected(n);
        for (int i = 0; i < n; i++)
            expected[i] = density[i] > threshold - i / (width * height);
        int *device_density = learn_device(density), *device_bone = learn_output<int>(n);
        dim3 block(4, 2, 4), grid((width + 3) / 4, (height + 1) / 2, (depth + 3) / 4);
        learn_threads_3d(block, width, height);
        find_bone<<<grid, block>>>(device_density, device_bone, threshold, width, height, depth);
        learn_expect("bone", device_bone, expected);
    }
    return learn_passed();
}
