// Where the values of a trace live: offsets in one arena, such that values alive at the same time do not overlap.
#pragma once

#include "nn/trace.h"

// For every root value without memory, offset[value] is its place in an arena of *bytes. *unshared is what the arena
// would take if nothing were reused.
heddle_status heddle_layout(const heddle_trace *trace, size_t *offset, size_t *bytes, size_t *unshared);
