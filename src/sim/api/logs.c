// CUDA's error log, which here is the findings: a library that has the simulated GPU as one of its devices reads them
// with these calls while it runs, and nothing goes to stderr at the end. Neither call starts the device, so that a
// library may announce itself before it opens one.

#include <string.h>

#include "report/report.h"
#include "sim/runtime_api.h"

cudaError_t cudaLogsCurrent(cudaLogIterator *iterator, unsigned int flags)
{
    if (iterator == NULL || flags != 0)
        return cudaErrorInvalidValue;
    sim_report_embedded();
    *iterator = 0; // each finding is told once: there is nothing to count
    return cudaSuccess;
}

cudaError_t cudaLogsDumpToMemory(cudaLogIterator *iterator, char *buffer, size_t *size, unsigned int flags)
{
    (void)iterator;
    if (buffer == NULL || size == NULL || *size == 0 || flags != 0)
        return cudaErrorInvalidValue;
    *size = sim_report_next(buffer, *size) ? strlen(buffer) : 0;
    return cudaSuccess;
}
