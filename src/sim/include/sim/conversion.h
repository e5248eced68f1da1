// Floating-point numbers converted to integers as a GPU does it, where C++ leaves the result open and hosts differ. The
// rewriter puts these into device code for the conversions that are written down. What a GPU gives is stored in
// results/arithmetic-h200.json.
#pragma once

#include <type_traits>
#include <utility>

#include "sim/arithmetic.h"
#include "sim/intrinsics_convert.h"

namespace sim
{

template <class To, class From>
constexpr bool saturates =
    std::is_integral<To>::value && !std::is_same<To, bool>::value && std::is_floating_point<From>::value;

// Out of range it is the nearest number there is; numbers of fewer than 32 bits are cut from one of 32.
template <class To, class From> SIM_INLINE constexpr To saturated(From from)
{
    if constexpr (sizeof(To) < sizeof(int))
        return (To)saturated<typename std::conditional<std::is_signed<To>::value, int, unsigned int>::type>(from);
    else if (from != from)
        return sizeof(To) > sizeof(int) || sizeof(From) > sizeof(float) ? top_bit<To>() : To(0);
    else if ((double)from >= beyond<To>())
        return highest_of<To>();
    else if ((double)from <= (double)lowest_of<To>())
        return lowest_of<To>();
    else
        return (To)from;
}

// lrint and lround, of either width.
template <class From> SIM_INLINE long long nearest(From from)
{
    return saturated<long long>(__builtin_rint((double)from));
}
template <class From> SIM_INLINE long long nearest_away(From from)
{
    return saturated<long long>(__builtin_round((double)from));
}

// static_cast<To>(x) and To(x).
template <class To, class From, if_number<From> = 0> SIM_INLINE constexpr To converted(From from)
{
    if constexpr (saturates<To, From>)
        return saturated<To>(from);
    else
        return (To)from;
}
template <class To, class From, if_object<From> = 0> SIM_INLINE constexpr To converted(From &&from)
{
    return static_cast<To>(std::forward<From>(from));
}

// ~(sim::cast<To>)x stands for (To)x: a cast and ~ bind alike, so that x need not be read to its end.
template <class To> struct cast {
    To value;
    template <class From, if_number<From> = 0>
    SIM_INLINE explicit constexpr cast(From from) : value(converted<To>(from))
    {
    }
    template <class From, if_object<From> = 0>
    SIM_INLINE explicit constexpr cast(From &&from) : value((To)std::forward<From>(from))
    {
    }
    SIM_INLINE constexpr To operator~() const
    {
        return value;
    }
};

// To i = sim::to<To>() = x stands for To i = x.
template <class To> struct to {
    template <class From, if_number<From> = 0> SIM_INLINE constexpr To operator=(From from) const
    {
        if constexpr (saturates<To, From>)
            return saturated<To>(from);
        else
            return from;
    }
    template <class From, if_object<From> = 0> SIM_INLINE constexpr To operator=(From &&from) const
    {
        return std::forward<From>(from);
    }
};

} // namespace sim
