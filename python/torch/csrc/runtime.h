// heddle's operators on PyTorch's memory and streams: which device, which stream, which rung, which scratch memory.
// operators.cpp says what each operator of torch.ops.heddle takes and gives.
#pragma once

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/core/ScalarType.h>
#include <torch/headeronly/util/HeaderOnlyArrayRef.h>

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>

#include "heddle/heddle.h"
#include "heddle/ops.h"

namespace heddle_torch
{

using torch::headeronly::IntHeaderOnlyArrayRef;
using torch::headeronly::ScalarType;
using torch::stable::Tensor;

// --- errors ---------------------------------------------------------------------------------------------------------

inline std::string as_text(const char *text)
{
    return text;
}

inline std::string as_text(const std::string &text)
{
    return text;
}

inline std::string as_text(int64_t number)
{
    return std::to_string(number);
}

// Throws what becomes a RuntimeError in Python. PyTorch's own macro puts a source file's name in front, and formats
// with streams of a C++ library that other extensions may have brought a second one of.
template <typename... Parts> void require(bool passed, const Parts &...parts)
{
    if (!passed)
        throw std::runtime_error((as_text(parts) + ...));
}

// --- calls ----------------------------------------------------------------------------------------------------------

struct Operand {
    const char *name; // as the operator's table has it; a literal
    const void *memory;
};

// A shape struct of heddle/ops.h.
struct Shape {
    const void *memory;
    size_t bytes;
    template <typename Struct> Shape(const Struct *shape) : memory(shape), bytes(sizeof *shape)
    {
    }
};

struct Call {
    const char *op; // a literal
    Shape shape;
    const Tensor &place;   // any tensor of the call: says where it runs
    const char *rung = ""; // empty: the best there is, nothing above `tier`
    heddle_tier tier = HEDDLE_FUSED;
    heddle_arithmetic arithmetic = HEDDLE_FULL;
    bool unsupported_is_best = false; // a rung that cannot do the shape gives way to the best one
};

// Runs it on the tensors' device: on a GPU it is queued on PyTorch's current stream, on the CPU it is done on return.
// Scratch memory is PyTorch's. Throws with heddle's message. What a call needs is looked up once for each operator,
// shape and device, and kept by the thread: a small call takes no longer than such questions.
void launch(const Call &call, std::initializer_list<Operand> operands);

// Memory of PyTorch's on `like`'s device. PyTorch's own torch::stable::empty finds an operator by its name in each
// call.
Tensor empty(const Tensor &like, IntHeaderOnlyArrayRef sizes, ScalarType type);
// The same for images (n, c, h, w) to the caller, (n, h, w, c) in memory.
Tensor empty_channels_last(const Tensor &like, IntHeaderOnlyArrayRef sizes, ScalarType type);

// The names of an operator's rungs for "cpu" or "cuda", one a line, slowest first.
std::string rungs(std::string op, std::string device);

// Throws unless `tensor` is there, on `place`'s device and of this type; `what` names it.
void check(const Tensor &tensor, const Tensor &place, ScalarType type, const char *op, const char *what);

} // namespace heddle_torch
