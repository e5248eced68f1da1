#include "learn.h"

#include "18.6-blur.cu"

int main(void)
{
    struct {
        int width, height, brightness;
    } cases[] = {{1, 1, 20}, {5, 4, 20}, {16, 8, 247}, {37, 23, 128}, {3, 50, 200}};
    for (auto c : cases) {
        learn_case("%d x %d pixels around %d", c.width, c.height, c.brightness);
        std::vector<int> values = learn_values<int>(c.width * c.height);
        std::vector<unsigned char> in(values.size()), expected(values.size());
        for (size_t i = 0; i < in.size(); i++)
            in[i] = (unsigned char)(c.brightness + values[i]);
        for (int y = 0; y < c.height; y++)
            for (int x = 0; x < c.width; x++) {
                double sum = 0;
                for (int i = 0; i < 9; i++) {
                    int column = x + i % 3 - 1, row = y + i / 3 - 1;
                    column = column < 0 ? 0 : column >= c.width ? c.width - 1 : column;
                    row = row < 0 ? 0 : row >= c.height ? c.height - 1 : row;
                    sum += in[row * c.width + column];
                }
                expected[y * c.width + x] = (unsigned char)std::lround(sum / 9);
            }
        unsigned char *device_in = learn_device(in), *device_out = learn_output(expected);
        dim3 block(16, 8);
        learn_threads_2d(block, c.width);
        blur<<<dim3((c.width + 15) / 16, (c.height + 7) / 8), block>>>(device_in, device_out, c.width, c.height);
        learn_expect("out", device_out, expected);
    }
    return learn_passed();
}
