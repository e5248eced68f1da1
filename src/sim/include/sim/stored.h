// x = sim::stored() = f() stands for x = f() in device code (rewrite/stores.c): the result of f is a value of its own,
// and what is then stored a copy of it.
#pragma once

#include <utility>

#include "sim/arithmetic.h"

namespace sim
{

struct stored {
    template <class From, if_number<From> = 0> SIM_INLINE constexpr From operator=(From from) const
    {
        return from;
    }
    template <class From, if_object<From> = 0> SIM_INLINE constexpr From &&operator=(From &&from) const
    {
        return std::forward<From>(from);
    }
};

// Told of a variable of a class called fragment that is declared without a value (rewrite/fragments.c): only mma.h has
// a use for that.
template <class Type> SIM_INLINE void unfilled(Type &)
{
}

} // namespace sim
