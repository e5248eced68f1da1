// How many bytes must be under way at once to keep a memory busy (Little's law): bandwidth times latency.
// ./latency GIGABYTES_PER_SECOND NANOSECONDS MULTIPROCESSORS

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: %s GIGABYTES_PER_SECOND NANOSECONDS MULTIPROCESSORS\n", argv[0]);
        return 2;
    }
    double bandwidth = atof(argv[1]), latency = atof(argv[2]), multiprocessors = atof(argv[3]);
    double bytes = bandwidth * latency; // giga and nano cancel
    printf("%.0f bytes under way: %.0f per multiprocessor, or %.0f threads with one float each\n", bytes,
           bytes / multiprocessors, bytes / multiprocessors / sizeof(float));
    return 0;
}
