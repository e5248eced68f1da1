#include "learn_c.h"

#include "04.3-roofline.c"

static void judge(const char *what, struct gpu gpu, double flops, double bytes, double expected, bool bound)
{
    learn_case("%s, %g operations, %g bytes, peak %g GFLOP/s, bandwidth %g GB/s", what, flops, bytes, gpu.peak,
               gpu.bandwidth);
    learn_expect_double("attainable", attainable(&gpu, flops, bytes), expected, 1e-12);
    bool found = memory_bound(&gpu, flops, bytes);
    learn_require(found == bound, "memory_bound is %s, expected %s", found ? "true" : "false",
                  bound ? "true" : "false");
}

int main(void)
{
    const struct gpu small = {4000, 200}, large = {64000, 4800};
    judge("adding two arrays of 3,000,000 floats", small, 3e6, 36e6, 200.0 / 12, true);
    judge("the same on a larger GPU", large, 3e6, 36e6, 400, true);
    judge("a matrix product of 1024 x 1024 x 1024", small, 2.0 * 1024 * 1024 * 1024, 3.0 * 4 * 1024 * 1024, 4000,
          false);
    judge("a matrix times a vector, 4096 x 4096", large, 2.0 * 4096 * 4096, 4.0 * 4096 * 4096, 2400, true);
    judge("exactly at the ridge", small, 20, 1, 4000, false);
    judge("just below the ridge", small, 19, 1, 3800, true);
    judge("just above the ridge", small, 21, 1, 4000, false);
    return learn_passed();
}
