// A transform of two dimensions as two of one: along the rows, then along the columns.

#include "ops/fft/operators.h"

void heddle_fft2d_jobs_of(const heddle_fft2d_shape *shape, const void *input, void *output, heddle_fft_job jobs[2])
{
    heddle_fft_lines columns = {shape->w, (long long)shape->h * shape->w, 1, shape->w, shape->h};
    jobs[0] = heddle_fft_rows(HEDDLE_FFT_COMPLEX, shape->w, (long long)shape->batch * shape->h, shape->inverse != 0,
                              input, output);
    jobs[0].scale = shape->scale;
    jobs[1] = heddle_fft_rows(HEDDLE_FFT_COMPLEX, shape->h, (long long)shape->batch * shape->w, shape->inverse != 0,
                              output, output);
    jobs[1].from = jobs[1].to = columns;
}
