// Thrust's random numbers: the standard library's engines and distributions, which host and device code share here. The
// engines give Thrust's numbers; the distributions follow the same law, not the same sequence.
#pragma once
#include <random>

#include <thrust/sim/policies.h>

namespace thrust
{
namespace random
{
typedef std::minstd_rand default_random_engine;
typedef std::minstd_rand minstd_rand;
typedef std::minstd_rand0 minstd_rand0;
template <class T = int> using uniform_int_distribution = std::uniform_int_distribution<T>;
template <class T = double> using uniform_real_distribution = std::uniform_real_distribution<T>;
template <class T = double> using normal_distribution = std::normal_distribution<T>;
} // namespace random
using random::default_random_engine;
using random::minstd_rand;
using random::normal_distribution;
using random::uniform_int_distribution;
using random::uniform_real_distribution;
} // namespace thrust
