// Allocates n samples of silence. The result goes to *samples, a pointer that belongs to the caller.
//
// samples is the address of the caller's pointer; *samples is that pointer. calloc clears the memory (a float whose
// bits are all 0 is 0.0) and returns NULL if there is none, which is what the caller is to see in that case.

#include <stdbool.h>
#include <stdlib.h>

bool make_silence(float **samples, size_t n)
{
    *samples = calloc(n, sizeof **samples);
    return *samples != NULL;
}
