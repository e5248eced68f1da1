// Allocates n samples of silence. The result goes to *samples, a pointer that belongs to the caller.

#include <stdbool.h>
#include <stdlib.h>

bool make_silence(float **samples, size_t n)
{
    *samples = NULL; // TODO: the address of n floats that are 0
    return false;    // TODO: did it work?
}
