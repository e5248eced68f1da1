// Collectives by the names that programs call them.
#include "core/meet.h"

const char *sim_warp_name(int operation)
{
    static const char *const names[] = {
        [SIM_SHUFFLE_INDEX] = "__shfl_sync",
        [SIM_SHUFFLE_UP] = "__shfl_up_sync",
        [SIM_SHUFFLE_DOWN] = "__shfl_down_sync",
        [SIM_SHUFFLE_XOR] = "__shfl_xor_sync",
        [SIM_BALLOT] = "__ballot_sync",
        [SIM_ALL] = "__all_sync",
        [SIM_ANY] = "__any_sync",
        [SIM_MATCH_ANY] = "__match_any_sync",
        [SIM_MATCH_ALL] = "__match_all_sync",
        [SIM_REDUCE_ADD] = "__reduce_add_sync",
        [SIM_REDUCE_MIN] = "__reduce_min_sync",
        [SIM_REDUCE_MAX] = "__reduce_max_sync",
        [SIM_REDUCE_MIN_SIGNED] = "__reduce_min_sync",
        [SIM_REDUCE_MAX_SIGNED] = "__reduce_max_sync",
        [SIM_REDUCE_AND] = "__reduce_and_sync",
        [SIM_REDUCE_OR] = "__reduce_or_sync",
        [SIM_REDUCE_XOR] = "__reduce_xor_sync",
        [SIM_WARP_SYNC] = "__syncwarp",
        [SIM_WARP_CALL] = "a warp-wide operation",
        [SIM_WARP_MATRIX] = "a matrix instruction",
        [SIM_WARP_ACTIVE] = "__activemask",
    };
    return names[operation];
}
