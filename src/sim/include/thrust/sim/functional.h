// Thrust's function objects: the standard library's, and those that it has not.
#pragma once

#include <cmath>
#include <complex>
#include <functional>

namespace thrust
{
using std::bit_and;
using std::bit_or;
using std::bit_xor;
using std::divides;
using std::equal_to;
using std::greater;
using std::greater_equal;
using std::less;
using std::less_equal;
using std::logical_and;
using std::logical_not;
using std::logical_or;
using std::minus;
using std::modulus;
using std::multiplies;
using std::negate;
using std::not_equal_to;
using std::plus;

template <class T = void> struct maximum {
    T operator()(const T &a, const T &b) const
    {
        return a < b ? b : a;
    }
};
template <> struct maximum<void> {
    template <class T> T operator()(const T &a, const T &b) const
    {
        return a < b ? b : a;
    }
};
template <class T = void> struct minimum {
    T operator()(const T &a, const T &b) const
    {
        return b < a ? b : a;
    }
};
template <> struct minimum<void> {
    template <class T> T operator()(const T &a, const T &b) const
    {
        return b < a ? b : a;
    }
};
template <class T = void> struct identity {
    const T &operator()(const T &value) const
    {
        return value;
    }
};
template <class T> struct square {
    T operator()(const T &value) const
    {
        return value * value;
    }
};
template <class T> struct project1st {
    const T &operator()(const T &a, const T &) const
    {
        return a;
    }
};

template <class A, class B> struct unary_function {
    typedef A argument_type;
    typedef B result_type;
};
template <class A, class B, class C> struct binary_function {
    typedef A first_argument_type;
    typedef B second_argument_type;
    typedef C result_type;
};

template <class T> using complex = std::complex<T>;
using std::abs;
using std::arg;
using std::conj;
using std::exp;
using std::max;
using std::min;
using std::norm;
using std::polar;
using std::swap;
} // namespace thrust
