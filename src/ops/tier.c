// The names of the tiers, as flags, checkpoints and tables have them.

#include <stddef.h>

#include "heddle/op.h"

const char *const heddle_tier_names[] = {"naive", "tuned", "vendor", "fused", NULL};
