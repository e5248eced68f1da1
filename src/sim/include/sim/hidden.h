// Pointers whose value the compiler does not know, where the rewriter has found a cast of a variable's address: it then
// believes the alignment of the type, and the hook of the access sees what the address is.
#pragma once

#include "sim/keywords.h"

namespace sim
{

// ~(sim::hidden<T *>)x stands for (T *)x: a cast and ~ bind alike, so that x need not be read to its end.
template <class Pointer> struct hidden {
    Pointer pointer;
    template <class From> SIM_INLINE explicit hidden(From from) : pointer((Pointer)from)
    {
    }
    SIM_INLINE Pointer operator~() const
    {
        Pointer same = pointer;
        asm("" : "+r"(same));
        return same;
    }
};

// What reinterpret_cast gives: a pointer, a reference, or a number.
template <class Type> SIM_INLINE Type *hide(Type *&&pointer)
{
    Type *same = pointer;
    asm("" : "+r"(same));
    return same;
}
template <class Type> SIM_INLINE Type &hide(Type &variable)
{
    Type *same = __builtin_addressof(variable);
    asm("" : "+r"(same));
    return *same;
}
template <class Type> SIM_INLINE Type hide(Type &&value)
{
    return value;
}

} // namespace sim
