#include "learn_c.h"

#include "03.2-pointer-to-pointer.c"

int main(void)
{
    const size_t sizes[] = {5, 1, 1000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t n = sizes[s];
        float *samples = NULL;
        learn_case("n = %zu", n);
        bool worked = make_silence(&samples, n);
        learn_require(samples != NULL, "samples is NULL after make_silence(&samples, %zu)", n);
        learn_require(worked, "make_silence returned false, although samples has memory");
        for (size_t i = 0; i < n; i++)
            learn_require(samples[i] == 0, "samples[%zu] is %g, expected 0", i, samples[i]);
        for (size_t i = 0; i < n; i++)
            samples[i] = 1; // the memory must be there for writing, too
        free(samples);
    }
    return learn_passed();
}
