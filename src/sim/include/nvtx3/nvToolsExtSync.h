// NVTX under its other name.
#pragma once
#include <nvtx3/nvToolsExt.h>
