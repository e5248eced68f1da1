// Finds the largest element of an array of any type.

#include <stddef.h>

const void *largest(const void *elements, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    const void *best = elements;

    // TODO: go through the elements; where one compares larger than *best, it becomes the best
    return best;
}
