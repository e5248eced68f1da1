// Stands in for CUDA's header of this name.
#pragma once
#include "sim/standin.h"

#include "sim/half.h"
