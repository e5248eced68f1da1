// cuFFT: transforms of composite and prime sizes against the definition, real and complex, in place, batched, 2-D.
#include <cmath>
#include <complex>
#include <cstdio>
#include <cufft.h>
#include <vector>

typedef std::complex<double> number;

static int failures;

static void expect(const char *what, number got, number wanted)
{
    if (!(std::abs(got - wanted) < 1e-3 * (1 + std::abs(wanted))) && failures++ < 10)
        printf("%s: %g %g, not %g %g\n", what, got.real(), got.imag(), wanted.real(), wanted.imag());
}

static number signal(int i)
{
    return number((i * 7) % 11 - 5, (i * 3) % 5 - 2);
}

static number transform(const std::vector<number> &x, int k)
{
    number sum = 0;
    for (size_t j = 0; j < x.size(); j++)
        sum += x[j] * std::polar(1.0, -2 * M_PI * (double)j * k / (double)x.size());
    return sum;
}

static void complex_1d(int n, int batch)
{
    std::vector<cufftComplex> host(n * batch);
    for (int i = 0; i < n * batch; i++)
        host[i] = make_cuComplex((float)signal(i).real(), (float)signal(i).imag());
    cufftComplex *data;
    cudaMalloc(&data, host.size() * sizeof host[0]);
    cudaMemcpy(data, host.data(), host.size() * sizeof host[0], cudaMemcpyHostToDevice);
    cufftHandle plan;
    cufftPlan1d(&plan, n, CUFFT_C2C, batch);
    cufftExecC2C(plan, data, data, CUFFT_FORWARD);
    cudaMemcpy(host.data(), data, host.size() * sizeof host[0], cudaMemcpyDeviceToHost);
    for (int b = 0; b < batch; b++) {
        std::vector<number> x(n);
        for (int i = 0; i < n; i++)
            x[i] = signal(b * n + i);
        for (int k = 0; k < n; k++)
            expect("C2C", number(host[b * n + k].x, host[b * n + k].y), transform(x, k));
    }
    cufftExecC2C(plan, data, data, CUFFT_INVERSE);
    cudaMemcpy(host.data(), data, host.size() * sizeof host[0], cudaMemcpyDeviceToHost);
    expect("back", number(host[1].x, host[1].y) / (double)n, signal(1));
    cufftDestroy(plan);
    cudaFree(data);
}

static void real_1d(int n)
{
    std::vector<float> host(n), back(n);
    std::vector<cufftComplex> spectrum(n / 2 + 1);
    std::vector<number> x(n);
    for (int i = 0; i < n; i++)
        x[i] = host[i] = (float)signal(i).real();
    float *real;
    cufftComplex *half;
    cudaMalloc(&real, n * sizeof(float));
    cudaMalloc(&half, spectrum.size() * sizeof spectrum[0]);
    cudaMemcpy(real, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cufftHandle forward, inverse;
    cufftPlan1d(&forward, n, CUFFT_R2C, 1);
    cufftPlan1d(&inverse, n, CUFFT_C2R, 1);
    cufftExecR2C(forward, real, half);
    cudaMemcpy(spectrum.data(), half, spectrum.size() * sizeof spectrum[0], cudaMemcpyDeviceToHost);
    for (int k = 0; k <= n / 2; k++)
        expect("R2C", number(spectrum[k].x, spectrum[k].y), transform(x, k));
    cufftExecC2R(inverse, half, real);
    cudaMemcpy(back.data(), real, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        expect("C2R", back[i] / n, x[i]);
    cufftDestroy(forward);
    cufftDestroy(inverse);
    cudaFree(real);
    cudaFree(half);
}

static void complex_2d(int rows, int columns)
{
    std::vector<cufftDoubleComplex> host(rows * columns);
    for (int i = 0; i < rows * columns; i++)
        host[i] = make_cuDoubleComplex(signal(i).real(), signal(i).imag());
    cufftDoubleComplex *data;
    cudaMalloc(&data, host.size() * sizeof host[0]);
    cudaMemcpy(data, host.data(), host.size() * sizeof host[0], cudaMemcpyHostToDevice);
    cufftHandle plan;
    cufftPlan2d(&plan, rows, columns, CUFFT_Z2Z);
    cufftExecZ2Z(plan, data, data, CUFFT_FORWARD);
    cudaMemcpy(host.data(), data, host.size() * sizeof host[0], cudaMemcpyDeviceToHost);
    for (int k = 0; k < rows; k++)
        for (int l = 0; l < columns; l++) {
            number sum = 0;
            for (int i = 0; i < rows; i++)
                for (int j = 0; j < columns; j++)
                    sum += signal(i * columns + j) *
                           std::polar(1.0, -2 * M_PI * ((double)i * k / rows + (double)j * l / columns));
            expect("Z2Z 2-D", number(host[k * columns + l].x, host[k * columns + l].y), sum);
        }
    cufftDestroy(plan);
    cudaFree(data);
}

int main()
{
    complex_1d(64, 3);
    complex_1d(60, 1);
    complex_1d(13, 2);
    real_1d(32);
    real_1d(15);
    complex_2d(6, 10);
    return failures != 0;
}
