// What the simulator has found, told as the failure of a call: it stands in CUDA's error log, which names both places
// in the source. A real GPU's log says no more than the error codes do, and is left alone.

#include "device/cuda/cuda.h"

#if defined(HEDDLE_SIM_MODULE)

enum { LINE_SIZE = 1024 };

static cudaLogIterator told; // up to here

void heddle_cuda_watch(void)
{
    cudaLogsCurrent(&told, 0);
}

heddle_status heddle_cuda_findings(void)
{
    char line[LINE_SIZE];
    size_t size = sizeof line;
    if (cudaLogsDumpToMemory(&told, line, &size, 0) != cudaSuccess || size == 0)
        return HEDDLE_OK;
    cudaGetLastError();
    return heddle_cuda_fail(HEDDLE_DEVICE, "the simulator found: %s", line);
}

#else

void heddle_cuda_watch(void)
{
}

heddle_status heddle_cuda_findings(void)
{
    return HEDDLE_OK;
}

#endif

heddle_status heddle_cuda_waited(cudaError_t error, heddle_cuda_place place)
{
    HEDDLE_TRY(heddle_cuda_findings());
    return heddle_cuda_checked(error, place);
}
