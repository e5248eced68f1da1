// Shifts by as many bits as a number has, or more. C++ does not define them, hosts shift by the remainder, and a GPU
// shifts everything out (shl and shr of PTX clamp the count). The rewriter turns `value << count` of device code into
// `value <<sim_shift<< count`, which has the same precedence.
#pragma once

#include <type_traits>
#include <utility>

#include "sim/keywords.h"

struct sim_shift_mark {
};
static constexpr sim_shift_mark sim_shift = {};

namespace sim
{

template <class Type> struct shifted_left {
    Type value;
};
template <class Type> struct shifted_right {
    Type value;
};

// A type that is not an integer keeps its own operators.
template <class Value, class Count, bool Numbers = std::is_integral<Value>::value &&std::is_integral<Count>::value>
struct shift {
    template <class Any> SIM_INLINE static auto left(Any value, Count count) -> decltype(value << count)
    {
        return value << count;
    }
    template <class Any> SIM_INLINE static auto right(Any value, Count count) -> decltype(value >> count)
    {
        return value >> count;
    }
};
template <class Value, class Count> struct shift<Value, Count, true> {
    typedef decltype(Value() << Count()) type;
    enum : unsigned long long { bits = 8 * sizeof(type) };
    SIM_INLINE static constexpr type left(Value value, Count count)
    {
        return (unsigned long long)count < bits ? value << count : type(0);
    }
    SIM_INLINE static constexpr type right(Value value, Count count)
    {
        return (unsigned long long)count < bits ? value >> count : value < Value(0) ? type(-1) : type(0);
    }
};

} // namespace sim

template <class Type> SIM_INLINE constexpr sim::shifted_left<Type> operator<<(Type value, sim_shift_mark)
{
    return {value};
}
template <class Type> SIM_INLINE constexpr sim::shifted_right<Type> operator>>(Type value, sim_shift_mark)
{
    return {value};
}
template <class Type, class Count>
SIM_INLINE constexpr auto operator<<(sim::shifted_left<Type> of, Count count)
    -> decltype(sim::shift<Type, Count>::left(of.value, count))
{
    return sim::shift<Type, Count>::left(of.value, count);
}
template <class Type, class Count>
SIM_INLINE constexpr auto operator>>(sim::shifted_right<Type> of, Count count)
    -> decltype(sim::shift<Type, Count>::right(of.value, count))
{
    return sim::shift<Type, Count>::right(of.value, count);
}
