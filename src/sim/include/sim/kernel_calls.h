// C library calls that mean something else in a kernel. The rewriter puts these names in the place of printf, malloc,
// free, clock, new and delete in device code; host code keeps the library's. A __host__ __device__ function may run on
// either side, so each asks where it is. assert needs no rewriting: what it calls when it fails is defined here.
#pragma once

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <type_traits>

#include "sim/abi.h"
#include "sim/keywords.h"

namespace sim
{

// What printf is given, after the promotions of C. A class may be anything.
template <class Type, bool IsPointer = std::is_pointer<Type>::value> struct printed {
    static constexpr char kind = std::is_floating_point<Type>::value                             ? SIM_PRINTS_DOUBLE
                                 : std::is_same<Type, decltype(nullptr)>::value                  ? SIM_PRINTS_POINTER
                                 : !(std::is_integral<Type>::value || std::is_enum<Type>::value) ? SIM_PRINTS_OTHER
                                 : sizeof(Type) == sizeof(long long)                             ? SIM_PRINTS_LONG
                                 : sizeof(Type) <= sizeof(int)                                   ? SIM_PRINTS_WORD
                                                                                                 : SIM_PRINTS_OTHER;
};
template <class Type> struct printed<Type, true> {
    typedef typename std::remove_cv<typename std::remove_pointer<Type>::type>::type target;
    static constexpr char kind = std::is_same<target, char>::value || std::is_same<target, signed char>::value ||
                                         std::is_same<target, unsigned char>::value
                                     ? SIM_PRINTS_TEXT
                                     : SIM_PRINTS_POINTER;
};

template <class... Types> SIM_INLINE int print(const char *format, Types... arguments)
{
    static constexpr char kinds[] = {printed<Types>::kind..., '\0'};
    return sim_printf(kinds, format, arguments...);
}

} // namespace sim

#define SIM_PRINTF(...) (sim_in_kernel() ? ::sim::print(__VA_ARGS__) : ::printf(__VA_ARGS__))

SIM_INLINE void *sim_kernel_malloc(size_t bytes)
{
    return sim_in_kernel() ? sim_device_malloc(bytes) : ::malloc(bytes);
}

SIM_INLINE void sim_kernel_free(void *memory)
{
    if (sim_in_kernel())
        sim_device_free(memory);
    else
        ::free(memory);
}

SIM_INLINE clock_t sim_kernel_clock()
{
    return sim_in_kernel() ? (clock_t)(int)sim_clock() : ::clock();
}

namespace sim
{

// new (sim::heap) T: the device's heap in a kernel.
struct heap_type {
};
constexpr heap_type heap = {};

// sim::heap_delete % pointer: an operator that binds as delete does, so that the rewriter need not find the operand's
// end.
struct heap_delete_type {
    template <class Type> SIM_INLINE void operator%(Type *object) const
    {
        if (!sim_in_kernel()) {
            delete object;
        } else if (object != nullptr) {
            object->~Type();
            sim_device_free((void *)object);
        }
    }
};
constexpr heap_delete_type heap_delete = {};

// An array keeps its length in front only when its elements have destructors; those are not run.
struct heap_delete_array_type {
    template <class Type> SIM_INLINE void operator%(Type *objects) const
    {
        static_assert(__has_trivial_destructor(Type),
                      "delete[] in a kernel: not simulated for elements with destructors");
        if (sim_in_kernel())
            sim_device_free((void *)objects);
        else
            delete[] objects;
    }
};
constexpr heap_delete_array_type heap_delete_array = {};

} // namespace sim

SIM_INLINE void *operator new(size_t bytes, sim::heap_type) noexcept
{
    return sim_kernel_malloc(bytes);
}
SIM_INLINE void *operator new[](size_t bytes, sim::heap_type) noexcept
{
    return sim_kernel_malloc(bytes);
}

// What a failed assert of the C library calls.
extern "C" __attribute__((noreturn)) SIM_INLINE void __assert_fail(const char *expression, const char *file,
                                                                   unsigned int line, const char *function) noexcept
{
    if (sim_in_kernel())
        sim_assert_failed(expression, file, line, function);
    fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, expression);
    abort();
}
#include <assert.h>
