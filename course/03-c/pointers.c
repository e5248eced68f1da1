// Pointers, and a pointer to a pointer: how a function hands back memory, as cudaMalloc does.

#include <stdio.h>
#include <stdlib.h>

enum result { OK, NO_MEMORY };

// `values` is the address of the caller's pointer, so that the caller's pointer can be set.
static enum result allocate(int **values, size_t count)
{
    *values = malloc(count * sizeof **values);
    return *values == NULL ? NO_MEMORY : OK;
}

int main(void)
{
    int *values;
    if (allocate(&values, 4) != OK) {
        fprintf(stderr, "not enough memory\n");
        return 1;
    }
    for (size_t i = 0; i < 4; i++)
        values[i] = (int)(10 * i); // the same as *(values + i)
    int *third = &values[2];
    *third += 1;
    printf("%d %d %d %d\n", values[0], values[1], values[2], values[3]);
    free(values);
    return 0;
}
