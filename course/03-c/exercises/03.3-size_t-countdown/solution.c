// The length of a recording without the silence at its end.
//
// i >= 0 holds for every size_t, so the loop never ended by itself: after 0 came the largest size_t there is. Here the
// variable is a length, not an index. It is compared with 0 before anything is subtracted from it.

#include <stddef.h>

size_t trimmed_length(const float *samples, size_t count)
{
    size_t length = count;

    while (length > 0 && samples[length - 1] == 0)
        length--;
    return length;
}
