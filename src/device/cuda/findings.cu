// What the simulator has found, told as the failure of a call. On a real GPU there is nobody to find anything.

#include "device/cuda/cuda.h"

#if defined(HEDDLE_SIM_MODULE)

extern "C" {
#include "report/report.h"
}

enum { LINE_SIZE = 1024 };

void heddle_cuda_watch(void)
{
    sim_report_embedded();
}

heddle_status heddle_cuda_findings(void)
{
    char line[LINE_SIZE];
    if (!sim_report_next(line, sizeof line))
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
