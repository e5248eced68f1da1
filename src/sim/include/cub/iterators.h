// CUB's own iterators, which CUDA 13 no longer has: Thrust's under another name.
#pragma once

#include <thrust/sim/policies.h>

namespace cub
{
template <class T, class = ptrdiff_t> using CountingInputIterator = thrust::counting_iterator<T>;
template <class T, class = ptrdiff_t> using ConstantInputIterator = thrust::constant_iterator<T>;
template <class, class Function, class Base, class = ptrdiff_t>
using TransformInputIterator = thrust::transform_iterator<Function, Base>;
template <class = ptrdiff_t> using DiscardOutputIterator = thrust::discard_iterator;
} // namespace cub
