#include "learn.h"

#include <complex>

#include "09.3-fft-scale.cu"

// The same filter by the definition of the Fourier transform.
static std::vector<float> filtered(const std::vector<float> &signal, int keep)
{
    const int n = (int)signal.size();
    const double turn = 2 * std::acos(-1.0) / n;
    std::vector<double> sum(n);
    for (int f = 0; f < n; f++) {
        if (f >= keep && n - f >= keep)
            continue;
        std::complex<double> amplitude = 0;
        for (int i = 0; i < n; i++)
            amplitude += (double)signal[i] * std::polar(1.0, -turn * f * i);
        for (int i = 0; i < n; i++)
            sum[i] += (amplitude * std::polar(1.0, turn * f * i)).real() / n;
    }
    return std::vector<float>(sum.begin(), sum.end());
}

int main(void)
{
    for (auto [n, keep] : {std::pair{64, 33}, {64, 5}, {45, 1}, {100, 20}}) {
        learn_case("n = %d, keep = %d", n, keep);
        std::vector<float> signal = learn_values<float>(n);
        float *device = learn_device(signal);
        low_pass(device, n, keep);
        learn_expect("signal", device, filtered(signal, keep), 1e-4);
    }
    return learn_passed();
}
