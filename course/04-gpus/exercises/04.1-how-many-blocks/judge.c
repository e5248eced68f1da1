#include "learn_c.h"

#include <limits.h>

#include "04.1-how-many-blocks.c"

int main(void)
{
    const int sizes[] = {10, 8, 1, 0, 256, 257, 1000003, INT_MAX - 300, INT_MAX - 1, INT_MAX};
    const int threads[] = {4, 32, 256, 1024};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
            int n = sizes[s];
            learn_case("%d elements, blocks of %d threads", n, threads[t]);
            long long blocks = ((long long)n + threads[t] - 1) / threads[t];
            learn_expect_int("blocks_for", blocks_for(n, threads[t]), blocks);
            learn_expect_int("idle_threads", idle_threads(n, threads[t]), blocks * threads[t] - n);
        }
    return learn_passed();
}
