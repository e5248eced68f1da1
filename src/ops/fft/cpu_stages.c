// The stages of cpu_lanes: butterflies of whole vectors, so that no number moves between the lanes of a vector.

#include "ops/fft/cpu_stages.h"

#include <math.h>

#include "ops/clones.h"

enum { MOST = 7, MOST_PAIRS = MOST / 2 };

// x *= root
static inline void turn(fft_lanes *x, const float *root)
{
    float c = root[0], s = root[1];
    for (int i = 0; i < FFT_LANES; i++) {
        float real = x->real[i] * c - x->imaginary[i] * s;
        x->imaginary[i] = x->real[i] * s + x->imaginary[i] * c;
        x->real[i] = real;
    }
}

static inline void butterfly2(fft_lanes *x, fft_lanes *y, int distance)
{
    for (int i = 0; i < FFT_LANES; i++) {
        y[0].real[i] = x[0].real[i] + x[1].real[i];
        y[0].imaginary[i] = x[0].imaginary[i] + x[1].imaginary[i];
        y[distance].real[i] = x[0].real[i] - x[1].real[i];
        y[distance].imaginary[i] = x[0].imaginary[i] - x[1].imaginary[i];
    }
}

static inline void butterfly4(fft_lanes *x, fft_lanes *y, int distance)
{
    for (int i = 0; i < FFT_LANES; i++) {
        float even = x[0].real[i] + x[2].real[i], even_i = x[0].imaginary[i] + x[2].imaginary[i];
        float rest = x[0].real[i] - x[2].real[i], rest_i = x[0].imaginary[i] - x[2].imaginary[i];
        float odd = x[1].real[i] + x[3].real[i], odd_i = x[1].imaginary[i] + x[3].imaginary[i];
        float turned = x[1].imaginary[i] - x[3].imaginary[i], turned_i = x[3].real[i] - x[1].real[i]; // -i (x1 - x3)
        y[0].real[i] = even + odd;
        y[0].imaginary[i] = even_i + odd_i;
        y[distance].real[i] = rest + turned;
        y[distance].imaginary[i] = rest_i + turned_i;
        y[2 * distance].real[i] = even - odd;
        y[2 * distance].imaginary[i] = even_i - odd_i;
        y[3 * distance].real[i] = rest - turned;
        y[3 * distance].imaginary[i] = rest_i - turned_i;
    }
}

// Sums and differences of the pairs x[p], x[radix - p], each then multiplied by a cosine or a sine.
static inline void butterfly_odd(int radix, fft_lanes *x, fft_lanes *y, int distance, const float *cosine,
                                 const float *sine)
{
    int pairs = radix / 2;
    fft_lanes all = x[0];
    for (int p = 1; p <= pairs; p++)
        for (int i = 0; i < FFT_LANES; i++) {
            float real = x[p].real[i], imaginary = x[p].imaginary[i];
            x[p].real[i] = real + x[radix - p].real[i];
            x[p].imaginary[i] = imaginary + x[radix - p].imaginary[i];
            x[radix - p].real[i] = real - x[radix - p].real[i];
            x[radix - p].imaginary[i] = imaginary - x[radix - p].imaginary[i];
            all.real[i] += x[p].real[i];
            all.imaginary[i] += x[p].imaginary[i];
        }
    y[0] = all;
    for (int k = 1; k <= pairs; k++) {
        fft_lanes even = x[0], odd = {{0}, {0}};
        for (int p = 1; p <= pairs; p++) {
            float c = cosine[k * p % radix], s = sine[k * p % radix];
            const fft_lanes *sum = &x[p], *difference = &x[radix - p];
            for (int i = 0; i < FFT_LANES; i++) {
                even.real[i] += c * sum->real[i];
                even.imaginary[i] += c * sum->imaginary[i];
                odd.real[i] += s * difference->imaginary[i]; // -i s difference
                odd.imaginary[i] -= s * difference->real[i];
            }
        }
        for (int i = 0; i < FFT_LANES; i++) {
            y[k * distance].real[i] = even.real[i] + odd.real[i];
            y[k * distance].imaginary[i] = even.imaginary[i] + odd.imaginary[i];
            y[(radix - k) * distance].real[i] = even.real[i] - odd.real[i];
            y[(radix - k) * distance].imaginary[i] = even.imaginary[i] - odd.imaginary[i];
        }
    }
}

// Instantiated for each radix by the caller's switch, which the compiler turns into separate loops.
static inline __attribute__((always_inline)) void stage(int radix, const fft_lanes *input, fft_lanes *output, int n,
                                                        int before, const float *roots)
{
    int lines = n / radix;
    long long step = lines / before;
    float cosine[MOST], sine[MOST];
    for (int k = 0; k < radix; k++) {
        cosine[k] = (float)cos(2 * acos(-1.0) * k / radix);
        sine[k] = (float)sin(2 * acos(-1.0) * k / radix);
    }
    for (int j = 0; j < lines; j++) {
        int p = j % before;
        fft_lanes x[MOST], *to = output + (long long)(j - p) * radix + p;
        for (int q = 0; q < radix; q++) {
            x[q] = input[j + (long long)q * lines];
            if (q > 0 && p > 0)
                turn(&x[q], roots + 2 * step * p * q);
        }
        if (radix == 2)
            butterfly2(x, to, before);
        else if (radix == 4)
            butterfly4(x, to, before);
        else
            butterfly_odd(radix, x, to, before, cosine, sine);
    }
}

HEDDLE_CLONES static void any_stage(int radix, const fft_lanes *input, fft_lanes *output, int n, int before,
                                    const float *roots)
{
    switch (radix) {
    case 2: stage(2, input, output, n, before, roots); break;
    case 3: stage(3, input, output, n, before, roots); break;
    case 4: stage(4, input, output, n, before, roots); break;
    case 5: stage(5, input, output, n, before, roots); break;
    default: stage(7, input, output, n, before, roots); break;
    }
}

void heddle_fft_cpu_stage(int radix, const fft_lanes *input, fft_lanes *output, int n, int before, const float *roots)
{
    any_stage(radix, input, output, n, before, roots);
}

// In blocks: the first root of a block by cos and sin, the others by a product with one of a small table, all in
// float64.
void heddle_fft_cpu_roots(float *roots, long long count, long long n)
{
    enum { BLOCK = 64 };
    double fine[BLOCK][2], unit = 2 * acos(-1.0) / (double)n;
    for (int i = 0; i < BLOCK; i++) {
        fine[i][0] = cos(unit * i);
        fine[i][1] = -sin(unit * i);
    }
    for (long long start = 0; start < count; start += BLOCK) {
        double c = cos(unit * (double)start), s = -sin(unit * (double)start);
        for (long long k = start; k < count && k < start + BLOCK; k++) {
            roots[2 * k] = (float)(c * fine[k - start][0] - s * fine[k - start][1]);
            roots[2 * k + 1] = (float)(c * fine[k - start][1] + s * fine[k - start][0]);
        }
    }
}
