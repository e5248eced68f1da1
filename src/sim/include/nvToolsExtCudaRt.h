// NVTX under its older name.
#pragma once
#include <nvtx3/nvToolsExtCudaRt.h>
