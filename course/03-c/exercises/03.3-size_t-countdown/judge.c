#include "learn_c.h"

#include "03.3-size_t-countdown.c"

// The samples are copied to memory of exactly their size, so that an access beside them is seen.
static void judge(const char *what, const float *samples, size_t count, size_t expected)
{
    float *copy = malloc(count * sizeof *copy + (count == 0));
    memcpy(copy, samples, count * sizeof *copy);
    learn_case("%s", what);
    size_t found = trimmed_length(copy, count);
    free(copy);
    learn_expect_int("trimmed_length", (long long)found, (long long)expected);
}

int main(void)
{
    judge("5, 0, 7, 0, 0", (const float[]){5, 0, 7, 0, 0}, 5, 3);
    judge("no silence at the end", (const float[]){0, 0, -1}, 3, 3);
    judge("one sample", (const float[]){2}, 1, 1);
    judge("sound at the beginning only", (const float[]){1, 0, 0, 0}, 4, 1);
    judge("nothing but silence", (const float[]){0, 0, 0}, 3, 0);
    judge("an empty recording", (const float[]){0}, 0, 0);
    return learn_passed();
}
