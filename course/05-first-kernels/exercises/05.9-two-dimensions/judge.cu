#include "learn.h"

#include "05.9-two-dimensions.cu"

int main(void)
{
    const int sizes[][2] = {{5, 3}, {1, 1}, {37, 10}, {9, 41}, {16, 8}}; // width, height
    for (const int *size : sizes) {
        int width = size[0], height = size[1], n = width * height;
        learn_case("a photo of %d columns and %d rows", width, height);
        std::vector<unsigned char> in(n), expected(n);
        for (int i = 0; i < n; i++) {
            in[i] = (unsigned char)(255 - i * 7 % 251);
            expected[i] = (unsigned char)(in[i] * (i % width + 1) / width);
        }
        unsigned char *device_in = learn_device(in), *device_out = learn_output(expected);
        dim3 block(8, 4), grid((width + 7) / 8, (height + 3) / 4);
        learn_threads_2d(block, width);
        fade<<<grid, block>>>(device_in, device_out, width, height);
        learn_expect("out", device_out, expected);
    }
    return learn_passed();
}
