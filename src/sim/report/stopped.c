// Counting what comes after a fault.
#include "report/stopped.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 128, COUNT_BYTES = 48 };

static char stopped[NAME_BYTES]; // the kernel, kept by its letters: its name may lie in memory that is freed
static bool early;               // it did not come to its end
static unsigned long long launches, copies;
static unsigned long long left; // kernels, by the program's end

void sim_stopped_early(bool stops_early)
{
    if (stopped[0] == '\0')
        early = stops_early;
}

void sim_stopped_at(const char *kernel)
{
    if (stopped[0] == '\0')
        snprintf(stopped, sizeof stopped, "%s", kernel != NULL ? kernel : "?");
}

bool sim_was_stopped(const char *kernel)
{
    return kernel != NULL && stopped[0] != '\0' && strncmp(kernel, stopped, NAME_BYTES - 1) == 0;
}

void sim_stopped_launch(void)
{
    launches++;
}

void sim_stopped_copy(void)
{
    copies++;
}

void sim_stopped_left(unsigned long long kernels)
{
    left = kernels;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

void sim_stopped_call(const char *function)
{
    const bool launch = begins(function, "the launch") || begins(function, "cudaLaunchKernel") ||
                        begins(function, "cudaLaunchCooperative") || begins(function, "cudaGraphLaunch");
    launches += launch;
    copies += begins(function, "cudaMemcpy");
}

static void write_count(char *text, const char *before, unsigned long long count, const char *one, const char *many)
{
    text[0] = '\0';
    if (count > 0)
        snprintf(text, COUNT_BYTES, "%s%llu %s", before, count, count == 1 ? one : many);
}

void sim_stopped_text(char *text, size_t bytes)
{
    static const char again[] = "fix it and check again";
    char later[COUNT_BYTES], moved[COUNT_BYTES];
    text[0] = '\0';
    if (stopped[0] == '\0' && left > 0)
        snprintf(text, bytes, "the program ended while %llu kernel%s queued or running: %s not checked to the end",
                 left, left == 1 ? " was" : "s were", left == 1 ? "it was" : "they were");
    if (stopped[0] == '\0')
        return;
    const char *first = !early ? "" : copies > 0 ? ", " : " and ";
    write_count(later, first, launches, "later launch", "later launches");
    write_count(moved, early || launches > 0 ? " and " : "", copies, "copy", "copies");
    if (launches + copies > 0 && early)
        snprintf(text, bytes,
                 "kernel %s stopped at its fault: the rest of it%s%s were not run, so nothing in them was checked; %s",
                 stopped, later, moved, again);
    else if (launches + copies > 0)
        snprintf(text, bytes, "kernel %s failed: %s%s did not run, so nothing there was checked; %s", stopped, later,
                 moved, again);
    else if (early)
        snprintf(text, bytes,
                 "kernel %s stopped at its fault: the rest of it, and what would have come after it, was not checked; "
                 "%s",
                 stopped, again);
    else
        snprintf(text, bytes, "kernel %s failed: what would have come after it was not checked; %s", stopped, again);
}
