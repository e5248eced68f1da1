#include "learn.h"

#include "15.4-batchnorm-statistics.cu"

int main(void)
{
    struct {
        int N, C, pixels;
    } cases[] = {{1, 1, 1}, {1, 3, 100}, {4, 2, 49}, {7, 5, 31}};
    for (auto d : cases) {
        learn_case("N = %d, C = %d, %d pixels", d.N, d.C, d.pixels);
        std::vector<float> x = learn_values<float>(d.N * d.C * d.pixels), means(d.C), variances(d.C);
        for (size_t i = 0; i < x.size(); i++)
            x[i] += (float)(10 * (i / d.pixels % d.C)); // each channel has a mean of its own
        for (int c = 0; c < d.C; c++) {
            double mean = 0, squares = 0, count = d.N * d.pixels;
            for (size_t i = 0; i < x.size(); i++)
                mean += (int)(i / d.pixels) % d.C == c ? x[i] / count : 0;
            for (size_t i = 0; i < x.size(); i++)
                squares += (int)(i / d.pixels) % d.C == c ? (x[i] - mean) * (x[i] - mean) : 0;
            means[c] = (float)mean;
            variances[c] = (float)(squares / count);
        }
        float *device_x = learn_device(x), *device_means = learn_output<float>(d.C);
        float *device_variances = learn_output<float>(d.C);
        batchnorm_statistics<<<d.C, 128>>>(device_x, device_means, device_variances, d.N, d.C, d.pixels);
        learn_expect("means", device_means, means, 1e-5);
        learn_expect("variances", device_variances, variances, 1e-5);
    }
    return learn_passed();
}
