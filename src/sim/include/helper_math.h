// The samples' helper_math.h, written anew: arithmetic on the float, int and uint vector types, and the geometry that
// programs build from it (dot, cross, normalize, clamp, lerp, reflect, ...).
#pragma once
#define HELPER_MATH_H

#include <cmath>

#include <cuda_runtime.h>

#define SIM_VECTOR_MATH inline __host__ __device__

typedef unsigned int uint;
typedef unsigned short ushort;

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif

// --- operators: vector by vector, vector by number, number by vector -------------------------------------------------

#define SIM_OPERATOR(T_, S_, OP, VV, VS, SV)                                                                           \
    SIM_VECTOR_MATH T_ operator OP(T_ a, T_ b)                                                                         \
    {                                                                                                                  \
        return VV;                                                                                                     \
    }                                                                                                                  \
    SIM_VECTOR_MATH T_ operator OP(T_ a, S_ b)                                                                         \
    {                                                                                                                  \
        return VS;                                                                                                     \
    }                                                                                                                  \
    SIM_VECTOR_MATH T_ operator OP(S_ b, T_ a)                                                                         \
    {                                                                                                                  \
        return SV;                                                                                                     \
    }                                                                                                                  \
    SIM_VECTOR_MATH void operator OP##=(T_ &a, T_ b)                                                                   \
    {                                                                                                                  \
        a = a OP b;                                                                                                    \
    }                                                                                                                  \
    SIM_VECTOR_MATH void operator OP##=(T_ &a, S_ b)                                                                   \
    {                                                                                                                  \
        a = a OP b;                                                                                                    \
    }

#define SIM_OPERATOR_2(T_, OP)                                                                                         \
    SIM_OPERATOR(T_##2, T_, OP, make_##T_##2(a.x OP b.x, a.y OP b.y), make_##T_##2(a.x OP b, a.y OP b),                \
                 make_##T_##2(b OP a.x, b OP a.y))
#define SIM_OPERATOR_3(T_, OP)                                                                                         \
    SIM_OPERATOR(T_##3, T_, OP, make_##T_##3(a.x OP b.x, a.y OP b.y, a.z OP b.z),                                      \
                 make_##T_##3(a.x OP b, a.y OP b, a.z OP b), make_##T_##3(b OP a.x, b OP a.y, b OP a.z))
#define SIM_OPERATOR_4(T_, OP)                                                                                         \
    SIM_OPERATOR(T_##4, T_, OP, make_##T_##4(a.x OP b.x, a.y OP b.y, a.z OP b.z, a.w OP b.w),                          \
                 make_##T_##4(a.x OP b, a.y OP b, a.z OP b, a.w OP b),                                                 \
                 make_##T_##4(b OP a.x, b OP a.y, b OP a.z, b OP a.w))
#define SIM_OPERATORS(T_, OP) SIM_OPERATOR_2(T_, OP) SIM_OPERATOR_3(T_, OP) SIM_OPERATOR_4(T_, OP)

SIM_OPERATORS(float, +)
SIM_OPERATORS(float, -)
SIM_OPERATORS(float, *)
SIM_OPERATORS(float, /)
SIM_OPERATORS(int, +)
SIM_OPERATORS(int, -)
SIM_OPERATORS(int, *)
SIM_OPERATORS(uint, +)
SIM_OPERATORS(uint, -)
SIM_OPERATORS(uint, *)

#define SIM_NEGATE(T_)                                                                                                 \
    SIM_VECTOR_MATH T_##2 operator-(const T_##2 & a)                                                                   \
    {                                                                                                                  \
        return make_##T_##2(-a.x, -a.y);                                                                               \
    }                                                                                                                  \
    SIM_VECTOR_MATH T_##3 operator-(const T_##3 & a)                                                                   \
    {                                                                                                                  \
        return make_##T_##3(-a.x, -a.y, -a.z);                                                                         \
    }                                                                                                                  \
    SIM_VECTOR_MATH T_##4 operator-(const T_##4 & a)                                                                   \
    {                                                                                                                  \
        return make_##T_##4(-a.x, -a.y, -a.z, -a.w);                                                                   \
    }
SIM_NEGATE(float)
SIM_NEGATE(int)

// --- making one vector from another ----------------------------------------------------------------------------------

#define SIM_CONVERT_FROM(T_, A_)                                                                                       \
    SIM_VECTOR_MATH T_##2 make_##T_##2(const A_##2 & a)                                                                \
    {                                                                                                                  \
        return make_##T_##2((T_)a.x, (T_)a.y);                                                                         \
    }                                                                                                                  \
    SIM_VECTOR_MATH T_##3 make_##T_##3(const A_##3 & a)                                                                \
    {                                                                                                                  \
        return make_##T_##3((T_)a.x, (T_)a.y, (T_)a.z);                                                                \
    }                                                                                                                  \
    SIM_VECTOR_MATH T_##4 make_##T_##4(const A_##4 & a)                                                                \
    {                                                                                                                  \
        return make_##T_##4((T_)a.x, (T_)a.y, (T_)a.z, (T_)a.w);                                                       \
    }

#define SIM_FROM_SMALLER(T_)                                                                                           \
    SIM_VECTOR_MATH T_##2 make_##T_##2(T_ s)                                                                           \
    {                                                                                                                  \
        return make_##T_##2(s, s);                                                                                     \
    }                                                                                                                  \
    SIM_VECTOR_MATH T_##3 make_##T_##3(T_ s)                                                                           \
    {                                                                                                                  \
        return make_##T_##3(s, s, s);                                                                                  \
    }                                                                                                                  \
    SIM_VECTOR_MATH T_##4 make_##T_##4(T_ s)                                                                           \
    {                                                                                                                  \
        return make_##T_##4(s, s, s, s);                                                                               \
    }                                                                                                                  \
    SIM_VECTOR_MATH T_##2 make_##T_##2(const T_##3 & a)                                                                \
    {                                                                                                                  \
        return make_##T_##2(a.x, a.y);                                                                                 \
    }                                                                                                                  \
    SIM_VECTOR_MATH T_##3 make_##T_##3(const T_##2 & a)                                                                \
    {                                                                                                                  \
        return make_##T_##3(a.x, a.y, (T_)0);                                                                          \
    }                                                                                                                  \
    SIM_VECTOR_MATH T_##3 make_##T_##3(const T_##2 & a, T_ s)                                                          \
    {                                                                                                                  \
        return make_##T_##3(a.x, a.y, s);                                                                              \
    }                                                                                                                  \
    SIM_VECTOR_MATH T_##3 make_##T_##3(const T_##4 & a)                                                                \
    {                                                                                                                  \
        return make_##T_##3(a.x, a.y, a.z);                                                                            \
    }                                                                                                                  \
    SIM_VECTOR_MATH T_##4 make_##T_##4(const T_##3 & a)                                                                \
    {                                                                                                                  \
        return make_##T_##4(a.x, a.y, a.z, (T_)0);                                                                     \
    }                                                                                                                  \
    SIM_VECTOR_MATH T_##4 make_##T_##4(const T_##3 & a, T_ w)                                                          \
    {                                                                                                                  \
        return make_##T_##4(a.x, a.y, a.z, w);                                                                         \
    }

SIM_FROM_SMALLER(float)
SIM_FROM_SMALLER(int)
SIM_FROM_SMALLER(uint)
SIM_CONVERT_FROM(float, int)
SIM_CONVERT_FROM(float, uint)
SIM_CONVERT_FROM(int, float)
SIM_CONVERT_FROM(int, uint)
SIM_CONVERT_FROM(uint, int)
SIM_CONVERT_FROM(uint, float)

// --- element by element ----------------------------------------------------------------------------------------------

#define SIM_EACH_1(T_, NAME, F_)                                                                                       \
    SIM_VECTOR_MATH T_##2 NAME(T_##2 a)                                                                                \
    {                                                                                                                  \
        return make_##T_##2(F_(a.x), F_(a.y));                                                                         \
    }                                                                                                                  \
    SIM_VECTOR_MATH T_##3 NAME(T_##3 a)                                                                                \
    {                                                                                                                  \
        return make_##T_##3(F_(a.x), F_(a.y), F_(a.z));                                                                \
    }                                                                                                                  \
    SIM_VECTOR_MATH T_##4 NAME(T_##4 a)                                                                                \
    {                                                                                                                  \
        return make_##T_##4(F_(a.x), F_(a.y), F_(a.z), F_(a.w));                                                       \
    }
#define SIM_EACH_2(T_, NAME, F_)                                                                                       \
    SIM_VECTOR_MATH T_##2 NAME(T_##2 a, T_##2 b)                                                                       \
    {                                                                                                                  \
        return make_##T_##2(F_(a.x, b.x), F_(a.y, b.y));                                                               \
    }                                                                                                                  \
    SIM_VECTOR_MATH T_##3 NAME(T_##3 a, T_##3 b)                                                                       \
    {                                                                                                                  \
        return make_##T_##3(F_(a.x, b.x), F_(a.y, b.y), F_(a.z, b.z));                                                 \
    }                                                                                                                  \
    SIM_VECTOR_MATH T_##4 NAME(T_##4 a, T_##4 b)                                                                       \
    {                                                                                                                  \
        return make_##T_##4(F_(a.x, b.x), F_(a.y, b.y), F_(a.z, b.z), F_(a.w, b.w));                                   \
    }
#define SIM_EACH_3(T_, NAME, F_)                                                                                       \
    SIM_VECTOR_MATH T_##2 NAME(T_##2 a, T_##2 b, T_##2 c)                                                              \
    {                                                                                                                  \
        return make_##T_##2(F_(a.x, b.x, c.x), F_(a.y, b.y, c.y));                                                     \
    }                                                                                                                  \
    SIM_VECTOR_MATH T_##3 NAME(T_##3 a, T_##3 b, T_##3 c)                                                              \
    {                                                                                                                  \
        return make_##T_##3(F_(a.x, b.x, c.x), F_(a.y, b.y, c.y), F_(a.z, b.z, c.z));                                  \
    }                                                                                                                  \
    SIM_VECTOR_MATH T_##4 NAME(T_##4 a, T_##4 b, T_##4 c)                                                              \
    {                                                                                                                  \
        return make_##T_##4(F_(a.x, b.x, c.x), F_(a.y, b.y, c.y), F_(a.z, b.z, c.z), F_(a.w, b.w, c.w));               \
    }

namespace sim
{
template <class T_> SIM_VECTOR_MATH T_ vector_lower(T_ a, T_ b)
{
    return a < b ? a : b;
}
template <class T_> SIM_VECTOR_MATH T_ vector_higher(T_ a, T_ b)
{
    return a > b ? a : b;
}
template <class T_> SIM_VECTOR_MATH T_ vector_magnitude(T_ a)
{
    return a < 0 ? -a : a;
}
} // namespace sim

SIM_EACH_2(float, fminf, ::fminf)
SIM_EACH_2(float, fmaxf, ::fmaxf)
SIM_EACH_2(float, fmodf, ::fmodf)
SIM_EACH_2(int, min, sim::vector_lower)
SIM_EACH_2(int, max, sim::vector_higher)
SIM_EACH_2(uint, min, sim::vector_lower)
SIM_EACH_2(uint, max, sim::vector_higher)
SIM_EACH_1(float, floorf, ::floorf)
SIM_EACH_1(float, fabs, ::fabsf)
SIM_EACH_1(int, abs, sim::vector_magnitude)

SIM_VECTOR_MATH float fracf(float v)
{
    return v - floorf(v);
}
SIM_EACH_1(float, fracf, ::fracf)

#if __cplusplus < 202002L // later <math.h> has it
SIM_VECTOR_MATH float lerp(float a, float b, float t)
{
    return a + t * (b - a);
}
#endif
SIM_VECTOR_MATH float clamp(float f, float a, float b)
{
    return fmaxf(a, fminf(f, b));
}
SIM_VECTOR_MATH int clamp(int f, int a, int b)
{
    return sim::vector_higher(a, sim::vector_lower(f, b));
}
SIM_VECTOR_MATH uint clamp(uint f, uint a, uint b)
{
    return sim::vector_higher(a, sim::vector_lower(f, b));
}
SIM_VECTOR_MATH float smoothstep(float a, float b, float x)
{
    float y = clamp((x - a) / (b - a), 0.0f, 1.0f);
    return y * y * (3.0f - 2.0f * y);
}
SIM_EACH_3(float, smoothstep, ::smoothstep)
SIM_EACH_3(float, clamp, ::clamp)
SIM_EACH_3(int, clamp, ::clamp)
SIM_EACH_3(uint, clamp, ::clamp)

// --- by dimension ----------------------------------------------------------------------------------------------------

#define SIM_DOT(T_)                                                                                                    \
    SIM_VECTOR_MATH T_ dot(T_##2 a, T_##2 b)                                                                           \
    {                                                                                                                  \
        return a.x * b.x + a.y * b.y;                                                                                  \
    }                                                                                                                  \
    SIM_VECTOR_MATH T_ dot(T_##3 a, T_##3 b)                                                                           \
    {                                                                                                                  \
        return a.x * b.x + a.y * b.y + a.z * b.z;                                                                      \
    }                                                                                                                  \
    SIM_VECTOR_MATH T_ dot(T_##4 a, T_##4 b)                                                                           \
    {                                                                                                                  \
        return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;                                                          \
    }
SIM_DOT(float)
SIM_DOT(int)
SIM_DOT(uint)

#define SIM_CLAMP(T_)                                                                                                  \
    SIM_VECTOR_MATH T_##2 clamp(T_##2 v, T_ a, T_ b)                                                                   \
    {                                                                                                                  \
        return make_##T_##2(clamp(v.x, a, b), clamp(v.y, a, b));                                                       \
    }                                                                                                                  \
    SIM_VECTOR_MATH T_##3 clamp(T_##3 v, T_ a, T_ b)                                                                   \
    {                                                                                                                  \
        return make_##T_##3(clamp(v.x, a, b), clamp(v.y, a, b), clamp(v.z, a, b));                                     \
    }                                                                                                                  \
    SIM_VECTOR_MATH T_##4 clamp(T_##4 v, T_ a, T_ b)                                                                   \
    {                                                                                                                  \
        return make_##T_##4(clamp(v.x, a, b), clamp(v.y, a, b), clamp(v.z, a, b), clamp(v.w, a, b));                   \
    }
SIM_CLAMP(float)
SIM_CLAMP(int)
SIM_CLAMP(uint)

#define SIM_GEOMETRY(T_)                                                                                               \
    SIM_VECTOR_MATH T_ lerp(T_ a, T_ b, float t)                                                                       \
    {                                                                                                                  \
        return a + t * (b - a);                                                                                        \
    }                                                                                                                  \
    SIM_VECTOR_MATH float length(T_ v)                                                                                 \
    {                                                                                                                  \
        return sqrtf(dot(v, v));                                                                                       \
    }                                                                                                                  \
    SIM_VECTOR_MATH T_ normalize(T_ v)                                                                                 \
    {                                                                                                                  \
        return v * (1.0f / sqrtf(dot(v, v)));                                                                          \
    }
SIM_GEOMETRY(float2)
SIM_GEOMETRY(float3)
SIM_GEOMETRY(float4)

SIM_VECTOR_MATH float3 reflect(float3 i, float3 n)
{
    return i - 2.0f * n * dot(n, i);
}
SIM_VECTOR_MATH float3 cross(float3 a, float3 b)
{
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

#undef SIM_OPERATOR
#undef SIM_OPERATOR_2
#undef SIM_OPERATOR_3
#undef SIM_OPERATOR_4
#undef SIM_OPERATORS
#undef SIM_NEGATE
#undef SIM_CONVERT_FROM
#undef SIM_FROM_SMALLER
#undef SIM_EACH_1
#undef SIM_EACH_2
#undef SIM_EACH_3
#undef SIM_DOT
#undef SIM_CLAMP
#undef SIM_GEOMETRY
