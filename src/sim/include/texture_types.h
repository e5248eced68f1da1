// Stands in for CUDA's header of this name: textures and surfaces come with the stand-in header.
#pragma once
#include <cuda_runtime.h>

#include "sim/texture_reference.h"
