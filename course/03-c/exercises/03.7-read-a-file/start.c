// Reads a file of temperatures: a uint32_t with their number, then the temperatures as floats.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

float *read_temperatures(const char *path, uint32_t *count)
{
    FILE *file = fopen(path, "rb");
    float *temperatures;

    fread(count, sizeof *count, 1, file);
    temperatures = malloc(*count * sizeof *temperatures);
    fread(temperatures, sizeof *temperatures, *count, file);
    fclose(file);
    return temperatures;
}
