#include "learn.h"

#include "11.3-warp-sum.cu"

int main(void)
{
    for (int n : {1, 32, 33, 128, 1009}) {
        learn_case("n = %d", n);
        int warps = (n + 31) / 32;
        std::vector<float> in = learn_values<float>(n), expected(warps, 0.0f);
        for (int i = 0; i < n; i++)
            expected[i / 32] += in[i];
        float *device_in = learn_device(in), *partial = learn_output<float>(warps);
        warp_sum<<<(n + 127) / 128, 128>>>(device_in, partial, n);
        learn_expect("partial", partial, expected);
    }
    return learn_passed();
}
