// Integer arithmetic that C++ does not define and a GPU does: shifts by as many bits as a number has, or more, and
// division by zero, which is also reported. The rewriter turns `a << b` of device code into `a <<sim_gpu<< b`, which
// has the same precedence, and `a <<= b` into `a <<=sim_gpu= b`; `>>`, `/` and `%` alike. What a GPU gives is stored in
// results/arithmetic-h200.json.
#pragma once

#include <type_traits>
#include <utility>

#include "sim/abi.h"
#include "sim/keywords.h"

namespace sim
{

// Numbers are passed by value, because a reference cannot be bound to a bit-field; objects are passed on as they are.
template <class Type> constexpr bool is_object = std::is_class<typename std::remove_reference<Type>::type>::value;
template <bool Chosen> struct choice {
};
template <> struct choice<true> {
    typedef int type;
};
template <class Type> using if_number = typename choice<!is_object<Type>>::type;
template <class Type> using if_object = typename choice<is_object<Type>>::type;

template <class Type> constexpr bool is_integer = std::is_integral<typename std::remove_reference<Type>::type>::value;

template <class Type> struct left_operand {
    Type value;
};
template <class Type> struct right_operand {
    Type value;
};

template <class Left, class Right> SIM_INLINE constexpr auto shifted_left(Left value, Right count)
{
    typedef decltype(value << count) result;
    return (unsigned long long)count < 8 * sizeof(result) ? value << count : result(0);
}
template <class Left, class Right> SIM_INLINE constexpr auto shifted_right(Left value, Right count)
{
    typedef decltype(value >> count) result;
    return (unsigned long long)count < 8 * sizeof(result) ? value >> count : value < Left(0) ? result(-1) : result(0);
}

// The smallest number divided by -1 overflows, which stops some hosts.
template <class Type> SIM_INLINE constexpr bool negates(Type divisor)
{
    return std::is_signed<Type>::value && divisor == Type(-1);
}
// What x / 0 gives, all bits of the division that the compiler chooses: 16 for short unsigned numbers, and the low half
// where a number of 64 bits has no others.
template <class Left, class Right, class Result> SIM_INLINE constexpr Result all_bits(Result value)
{
    if (sizeof(Result) == sizeof(long long))
        return (unsigned long long)value >> 32 == 0 ? Result(0xffffffffu) : Result(-1);
    const bool is_short = sizeof(Left) < sizeof(int) && sizeof(Right) < sizeof(int);
    return is_short && std::is_unsigned<Left>::value && std::is_unsigned<Right>::value ? Result(0xffff) : Result(-1);
}
template <class Left, class Right> SIM_INLINE constexpr auto quotient(Left left, Right right)
{
    typedef decltype(left / right) result;
    const result value = result(left), divisor = result(right);
    if (divisor == 0 && sim_divided_by_zero())
        return all_bits<Left, Right>(value);
    return negates(divisor) ? result(0 - (unsigned long long)value) : result(value / divisor);
}
template <class Left, class Right> SIM_INLINE constexpr auto remainder_of(Left left, Right right)
{
    typedef decltype(left % right) result;
    const result value = result(left), divisor = result(right);
    if (divisor == 0 && sim_divided_by_zero())
        return value;
    return negates(divisor) ? result(0) : result(value % divisor);
}

struct gpu_mark {
    template <class Right, if_number<Right> = 0> SIM_INLINE constexpr right_operand<Right> operator=(Right right) const
    {
        return {right};
    }
    template <class Right, if_object<Right> = 0>
    SIM_INLINE constexpr right_operand<Right &&> operator=(Right &&right) const
    {
        return {std::forward<Right>(right)};
    }
};

// Types that are not integers keep their own operators. These stand beside their operands' types: a namespace with
// operators of its own, whose code divides, would hide others.
#define SIM_OPERATOR(sign, operation)                                                                                  \
    template <class Left, if_number<Left> = 0>                                                                         \
    SIM_INLINE constexpr left_operand<Left> operator sign(Left left, gpu_mark)                                         \
    {                                                                                                                  \
        return {left};                                                                                                 \
    }                                                                                                                  \
    template <class Left, if_object<Left> = 0>                                                                         \
    SIM_INLINE constexpr left_operand<Left &&> operator sign(Left &&left, gpu_mark)                                    \
    {                                                                                                                  \
        return {std::forward<Left>(left)};                                                                             \
    }                                                                                                                  \
    template <class Left, class Right, if_number<Right> = 0>                                                           \
    SIM_INLINE constexpr decltype(auto) operator sign(left_operand<Left> left, Right right)                            \
    {                                                                                                                  \
        if constexpr (is_integer<Left> && is_integer<Right>)                                                           \
            return operation(left.value, right);                                                                       \
        else                                                                                                           \
            return std::forward<Left>(left.value) sign right;                                                          \
    }                                                                                                                  \
    template <class Left, class Right, if_object<Right> = 0>                                                           \
    SIM_INLINE constexpr decltype(auto) operator sign(left_operand<Left> left, Right &&right)                          \
    {                                                                                                                  \
        return std::forward<Left>(left.value) sign std::forward<Right>(right);                                         \
    }                                                                                                                  \
    template <class Left, class Right>                                                                                 \
    SIM_INLINE decltype(auto) operator sign##=(Left &&left, right_operand<Right> right)                                \
    {                                                                                                                  \
        if constexpr (is_integer<Left> && is_integer<Right>)                                                           \
            return left = (typename std::remove_reference<Left>::type)operation(left, right.value);                    \
        else                                                                                                           \
            return std::forward<Left>(left) sign## = std::forward<Right>(right.value);                                 \
    }

SIM_OPERATOR(<<, shifted_left)
SIM_OPERATOR(>>, shifted_right)
SIM_OPERATOR(/, quotient)
SIM_OPERATOR(%, remainder_of)
#undef SIM_OPERATOR
} // namespace sim

static constexpr sim::gpu_mark sim_gpu = {};
