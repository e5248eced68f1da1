// cuda::std on the simulated GPU is the host's standard library: device code is host code here. What CUDA gives another
// meaning (atomics, barriers) is declared in cuda::std itself and so found first.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cuda
{
namespace std
{
using namespace ::std;
}
} // namespace cuda
