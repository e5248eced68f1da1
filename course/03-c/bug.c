// Writes one element too many. It often seems to work.

#include <stdlib.h>

int main(void)
{
    int *values = malloc(4 * sizeof *values);
    if (values == NULL)
        return 1;
    for (int i = 0; i <= 4; i++)
        values[i] = i;
    free(values);
    return 0;
}
