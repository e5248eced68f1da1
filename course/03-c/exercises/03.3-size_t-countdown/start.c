// The length of a recording without the silence at its end.

#include <stddef.h>

size_t trimmed_length(const float *samples, size_t count)
{
    for (size_t i = count - 1; i >= 0; i--)
        if (samples[i] != 0)
            return i + 1;
    return 0;
}
