// Reads a file of temperatures: a uint32_t with their number, then the temperatures as floats.
//
// fopen returns NULL if there is no such file, and fread returns how many items it has really read. Each call is
// checked before its result is used. There is one way out, which closes and frees whatever was opened and allocated.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

float *read_temperatures(const char *path, uint32_t *count)
{
    FILE *file = fopen(path, "rb");
    float *temperatures = NULL;

    if (file == NULL)
        return NULL;
    if (fread(count, sizeof *count, 1, file) == 1)
        temperatures = malloc(*count * sizeof *temperatures);
    if (temperatures != NULL && fread(temperatures, sizeof *temperatures, *count, file) != *count) {
        free(temperatures);
        temperatures = NULL;
    }
    fclose(file);
    return temperatures;
}
