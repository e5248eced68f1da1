// Finds the largest element of an array of any type.
//
// There is no arithmetic on void *, because the size of what it points to is unknown. As an unsigned char *, the
// address counts in bytes, and element i begins i * size bytes after the first one.

#include <stddef.h>

const void *largest(const void *elements, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    const unsigned char *bytes = elements;
    const void *best = count > 0 ? elements : NULL;

    for (size_t i = 1; i < count; i++)
        if (compare(bytes + i * size, best) > 0)
            best = bytes + i * size;
    return best;
}
