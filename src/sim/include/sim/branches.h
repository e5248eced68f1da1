// What the rewriter makes of branches and loops in a program that counts divergent branches (rewrite/branches.c). Each
// hands its condition on. Usable in constant expressions, where there is no thread to tell of.
#pragma once

#include "sim/abi.h"
#include "sim/keywords.h"

namespace sim
{

// if
SIM_INLINE constexpr bool branches(unsigned long long place, bool taken)
{
    if (!__builtin_is_constant_evaluated())
        sim_branch(place, taken);
    return taken;
}

// for, while, do: before each iteration, and once more where the loop ends by its condition
SIM_INLINE constexpr bool loops(unsigned long long place, bool taken)
{
    if (!__builtin_is_constant_evaluated())
        sim_loop(place, taken, 1);
    return taken;
}

// for (;;)
SIM_INLINE constexpr bool turns(unsigned long long place)
{
    if (!__builtin_is_constant_evaluated())
        sim_loop(place, 1, 0);
    return true;
}

// switch: `labels` are its values and `ways` where each of them leads; `otherwise`: the way of all other values
template <int otherwise, int... ways, class Value, class... Labels>
SIM_INLINE constexpr Value chooses(unsigned long long place, Value value, Labels... labels)
{
    int way = otherwise;
    ((way = value == labels ? ways : way), ...);
    if (!__builtin_is_constant_evaluated())
        sim_branch(place, way);
    return value;
}

// A function begins; a function or a loop is left before its end.
SIM_INLINE constexpr void enters(unsigned long long place)
{
    if (!__builtin_is_constant_evaluated())
        sim_enter(place);
}

SIM_INLINE constexpr void leaves(unsigned long long place)
{
    if (!__builtin_is_constant_evaluated())
        sim_leave(place);
}

} // namespace sim
