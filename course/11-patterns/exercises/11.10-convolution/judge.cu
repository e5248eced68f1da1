#include "learn.h"

#include "11.10-convolution.cu"

int main(void)
{
    struct {
        int width, height;
    } cases[] = {{1, 1}, {16, 16}, {17, 5}, {32, 16}, {37, 23}};
    std::vector<float> weights = {1, 2, -3, 4, 5, 6, -7, 8, 9};
    for (auto c : cases) {
        learn_case("width = %d, height = %d", c.width, c.height);
        std::vector<float> in = learn_values<float>(c.width * c.height), expected(in.size(), 0.0f);
        for (int y = 0; y < c.height; y++)
            for (int x = 0; x < c.width; x++)
                for (int dy = -1; dy <= 1; dy++)
                    for (int dx = -1; dx <= 1; dx++)
                        if (y + dy >= 0 && y + dy < c.height && x + dx >= 0 && x + dx < c.width)
                            expected[y * c.width + x] +=
                                weights[(dy + 1) * 3 + dx + 1] * in[(y + dy) * c.width + x + dx];
        float *device_in = learn_device(in), *device_out = learn_output<float>(in.size());
        cudaMemcpyToSymbol(filter, weights.data(), 9 * sizeof(float));
        learn_threads_2d(dim3(16, 16), c.width);
        convolve<<<dim3((c.width + 15) / 16, (c.height + 15) / 16), dim3(16, 16)>>>(device_in, device_out, c.width,
                                                                                    c.height);
        learn_expect("out", device_out, expected);
    }
    return learn_passed();
}
