#include "learn.h"

#include "08.7-wrong-mask.cu"

int main(void)
{
    for (int n : {40, 1, 32, 31, 128, 211}) {
        int threads = 64, warps = (n + 31) / 32;
        learn_case("%d particle%s", n, n == 1 ? "" : "s");
        std::vector<float> energy = learn_values<float>(n), expected(warps);
        for (int i = 0; i < n; i++)
            expected[i / 32] += energy[i];
        float *device_energy = learn_device(energy), *device_sums = learn_output<float>(warps);
        sum_energy<<<(n + threads - 1) / threads, threads>>>(device_energy, device_sums, n);
        learn_expect("sums", device_sums, expected);
    }
    return learn_passed();
}
