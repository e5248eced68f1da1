// Stands in for CUDA's header of this name: all that it declares comes with the stand-in header.
#pragma once
#include "sim/standin.h"
