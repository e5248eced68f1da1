#include "learn.h"

#include "06.10-one-bank.cu"

int main(void)
{
    enum { SIDE = 32 };
    learn_case("a 32 x 32 tile");
    std::vector<float> in = learn_values<float>(SIDE * SIDE), expected(SIDE * SIDE);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            expected[x * SIDE + y] = in[y * SIDE + x];
    float *device_in = learn_device(in), *device_out = learn_output<float>(SIDE * SIDE);
    learn_threads_2d(dim3(SIDE, SIDE), SIDE);
    transpose_tile<<<1, dim3(SIDE, SIDE)>>>(device_in, device_out);
    learn_expect("out", device_out, expected);
    return learn_passed();
}
