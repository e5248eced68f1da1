// The float64 reference of Fourier transforms: by the length's prime factors, and by Bluestein's algorithm if one of
// them is large. Written to be readable, and fast enough for millions of numbers.

#include <math.h>
#include <stdlib.h>

#include "ops/fft/operators.h"

typedef struct number {
    double real, imaginary;
} number;

static number product(number a, number b)
{
    return (number){a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
}

// exp(-2πi index / n)
static number root_of(long long index, long long n)
{
    double angle = -2 * acos(-1.0) * (double)(index % n) / (double)n;
    return (number){cos(angle), sin(angle)};
}

static int smallest_factor(int n)
{
    for (int p = 2; (long long)p * p <= n; p++)
        if (n % p == 0)
            return p;
    return n;
}

enum { DIRECT = 128 }; // a prime up to which the plain sum is faster than Bluestein's three transforms

// What a transform of n uses: the roots of a multiple of n; every `step`th is a root of n.
typedef struct roots {
    const number *of;
    long long count;
} roots;

// Forward, from input[0], input[stride], ... to output[0] ... output[n - 1]. n has no prime factor above DIRECT.
static void transform(int n, const number *input, size_t stride, number *output, roots all)
{
    if (n == 1) {
        output[0] = input[0];
        return;
    }
    int p = smallest_factor(n), m = n / p;
    number terms[DIRECT];
    for (int r = 0; r < p; r++)
        transform(m, input + r * stride, stride * p, output + (size_t)r * m, all);
    long long step = all.count / n;
    for (int k = 0; k < m; k++) {
        for (int r = 0; r < p; r++)
            terms[r] = product(output[(size_t)r * m + k], all.of[step * r * k]);
        for (int q = 0; q < p; q++) {
            number sum = terms[0];
            for (int r = 1; r < p; r++) {
                number term = product(terms[r], all.of[all.count / p * (r * q % p)]);
                sum = (number){sum.real + term.real, sum.imaginary + term.imaginary};
            }
            output[k + (size_t)q * m] = sum;
        }
    }
}

static int largest_factor(int n)
{
    int largest = 1;
    while (n > 1) {
        largest = smallest_factor(n);
        n /= largest;
    }
    return largest;
}

static bool fill_roots(number *of, long long count)
{
    for (long long i = 0; of && i < count; i++)
        of[i] = root_of(i, count);
    return of != NULL;
}

// q k = (q² + k² - (k - q)²) / 2: a transform of any length is a convolution with exp(πi q² / n), computed by
// transforms of a power of two.
static bool bluestein(int n, const number *input, number *output)
{
    int length = 1;
    while (length < 2 * n - 1)
        length *= 2;
    number *of = calloc((size_t)length, sizeof *of), *chirp = calloc((size_t)length, sizeof *chirp);
    number *a = calloc((size_t)length, sizeof *a), *spectrum = calloc((size_t)length, sizeof *spectrum);
    bool enough = chirp && a && spectrum && fill_roots(of, length);
    for (long long q = 0; enough && q < n; q++) {
        number turn = root_of(q * q % (2LL * n), 2LL * n);
        a[q] = product(input[q], turn);
        chirp[q] = chirp[q > 0 ? length - q : 0] = (number){turn.real, -turn.imaginary};
    }
    if (enough) {
        roots all = {of, length};
        transform(length, a, 1, spectrum, all);
        transform(length, chirp, 1, a, all);
        for (int k = 0; k < length; k++) { // the inverse is the conjugate of the conjugate's transform
            number both = product(spectrum[k], a[k]);
            a[k] = (number){both.real / length, -both.imaginary / length};
        }
        transform(length, a, 1, spectrum, all);
        for (long long k = 0; k < n; k++)
            output[k] =
                product((number){spectrum[k].real, -spectrum[k].imaginary}, root_of(k * k % (2LL * n), 2LL * n));
    }
    free(of), free(chirp), free(a), free(spectrum);
    return enough;
}

static void line_of(int n, int inverse, double scale, const double *input, double *output, size_t stride, number *room,
                    const number *of)
{
    number *line = room, *result = room ? room + n : NULL;
    double sign = inverse ? -1 : 1; // the inverse is the conjugate of the conjugate's transform
    for (size_t q = 0; room && q < (size_t)n; q++)
        line[q] = (number){input[2 * q * stride], sign * input[2 * q * stride + 1]};
    bool done = room && (of || bluestein(n, line, result));
    if (room && of)
        transform(n, line, 1, result, (roots){of, n});
    for (size_t k = 0; k < (size_t)n; k++) {
        output[2 * k * stride] = done ? scale * result[k].real : NAN;
        output[2 * k * stride + 1] = done ? scale * sign * result[k].imaginary : NAN;
    }
}

void heddle_fft_reference(int n, int inverse, double scale, const double *input, double *output, size_t lines,
                          const heddle_fft_lines *where)
{
    number *room = calloc(2 * (size_t)n, sizeof *room), *of = NULL;
    if (largest_factor(n) <= DIRECT) {
        of = calloc((size_t)n, sizeof *of);
        fill_roots(of, n);
    }
    for (size_t l = 0; l < lines; l++) {
        size_t at = 2 * (l / where->inner * where->outer_stride + l % where->inner * where->inner_stride);
        line_of(n, inverse, scale, input + at, output + at, (size_t)where->stride, room, of);
    }
    free(room), free(of);
}

double heddle_fft_flops(double lines, double n)
{
    return 5 * lines * n * log2(n > 1 ? n : 2);
}
