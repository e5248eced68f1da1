// Devices, streams and launches. PyTorch is reached by its stable interface alone, so that one binary serves several
// versions; the CUDA runtime is not linked at all: heddle's own module brings it.

#include "runtime.h"

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <torch/csrc/stable/accelerator.h>

namespace heddle_torch
{

static void must(heddle_status status)
{
    if (status != HEDDLE_OK)
        require(false, "heddle: ", heddle_last_error());
}

// --- places ----------------------------------------------------------------------------------------------------------

struct Place {
    int32_t type, index;
    bool cuda;
};

static Place place_of(const Tensor &tensor)
{
    static const int32_t cuda = aoti_torch_device_type_cuda();
    Place place = {};
    TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_type(tensor.get(), &place.type));
    TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_index(tensor.get(), &place.index));
    place.cuda = place.type == cuda;
    return place;
}

static Tensor empty_strided(const Place &place, IntHeaderOnlyArrayRef sizes, const int64_t *strides, ScalarType type)
{
    int32_t number = 0;
    switch (type) {
    case ScalarType::Byte: number = aoti_torch_dtype_uint8(); break;
    case ScalarType::Float: number = aoti_torch_dtype_float32(); break;
    case ScalarType::Double: number = aoti_torch_dtype_float64(); break;
    case ScalarType::BFloat16: number = aoti_torch_dtype_bfloat16(); break;
    default: require(false, "heddle: no results of type ", torch::headeronly::toString(type));
    }
    AtenTensorHandle made = nullptr;
    TORCH_ERROR_CODE_CHECK(
        aoti_torch_empty_strided((int64_t)sizes.size(), sizes.data(), strides, number, place.type, place.index, &made));
    return Tensor(made);
}

Tensor empty(const Tensor &like, IntHeaderOnlyArrayRef sizes, ScalarType type)
{
    std::vector<int64_t> strides(sizes.size());
    int64_t next = 1;
    for (size_t i = sizes.size(); i-- > 0; next *= std::max<int64_t>(sizes[i], 1))
        strides[i] = next;
    return empty_strided(place_of(like), sizes, strides.data(), type);
}

Tensor empty_channels_last(const Tensor &like, IntHeaderOnlyArrayRef sizes, ScalarType type)
{
    const int64_t c = std::max<int64_t>(sizes[1], 1), h = std::max<int64_t>(sizes[2], 1),
                  w = std::max<int64_t>(sizes[3], 1), strides[] = {h * w * c, 1, w * c, c};
    return empty_strided(place_of(like), sizes, strides, type);
}

// --- devices and streams --------------------------------------------------------------------------------------------

// A forked child has no threads of its parent's device: what was opened before is no longer used.
static std::atomic<unsigned> forks = 0;
static const int watching_forks = pthread_atfork(nullptr, nullptr, [] { forks++; });

static heddle_device *device_of(bool cuda, int index)
{
    static std::mutex lock;
    static std::map<int, heddle_device *> opened; // -1: the CPU
    static unsigned opened_after = 0;             // this many forks
    std::lock_guard<std::mutex> hold(lock);
    if (opened_after != forks)
        opened.clear();
    opened_after = forks;
    heddle_device *&device = opened[cuda ? index : -1];
    if (!device) {
        std::string name = cuda ? "cuda:" + std::to_string(index) : "cpu";
        must(heddle_device_open(name.c_str(), (int)torch::stable::get_num_threads(), &device));
    }
    return device;
}

// One of each thread, so that a failure is told to the thread that asked.
static heddle_stream *cpu_stream()
{
    static thread_local heddle_stream *own = nullptr;
    static thread_local unsigned made_after = 0;
    if (!own || made_after != forks) {
        must(heddle_stream_create(device_of(false, 0), 0, &own));
        made_after = forks;
    }
    return own;
}

// PyTorch's CUDA library is not linked, because a PyTorch for the CPU has none; where tensors are on a GPU it is
// loaded.
static void *current_cuda_stream(int index)
{
    typedef AOTITorchError get_stream(int32_t, void **);
    static get_stream *const get = [] {
        void *library = dlopen("libtorch_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
        return library ? (get_stream *)dlsym(library, "aoti_torch_get_current_cuda_stream") : nullptr;
    }();
    require(get, "heddle: PyTorch's CUDA library has no aoti_torch_get_current_cuda_stream");
    void *stream = nullptr;
    TORCH_ERROR_CODE_CHECK(get(index, &stream));
    return stream;
}

// One over PyTorch's, kept, because it is two words and PyTorch's own are never destroyed. A thread asks for the same
// one again and again.
static heddle_stream *cuda_stream(int index)
{
    static std::mutex lock;
    static std::map<std::pair<int, void *>, heddle_stream *> known;
    static thread_local struct {
        int index;
        void *native;
        heddle_stream *stream;
    } last = {-1, nullptr, nullptr};
    void *native = current_cuda_stream(index);
    if (last.index == index && last.native == native)
        return last.stream;
    std::lock_guard<std::mutex> hold(lock);
    heddle_stream *&stream = known[{index, native}];
    if (!stream)
        must(heddle_stream_wrap(device_of(true, index), native, &stream));
    last = {index, native, stream};
    return stream;
}

// --- launching ------------------------------------------------------------------------------------------------------

static const heddle_rung *rung_of(const heddle_op *op, const Call &call, heddle_device_kind kind)
{
    const void *shape = call.shape.memory;
    const heddle_rung *rung = nullptr;
    if (*call.rung) {
        must(heddle_rung_find(op, call.rung, &rung));
        if (heddle_rung_runs_on(rung, kind) && (!rung->supports || rung->supports(shape)))
            return rung;
        require(call.unsupported_is_best || heddle_rung_runs_on(rung, kind), "heddle: ", op->name, ": rung ", call.rung,
                " runs on ", heddle_device_kind_name(rung->device), ", the tensors are on ",
                heddle_device_kind_name(kind));
        if (!call.unsupported_is_best)
            return rung; // heddle_launch says what is wrong with the shape
    }
    must(heddle_rung_choose(op, kind, call.tier, call.arithmetic, shape, &rung));
    return rung;
}

// Work so small that handing it to other threads takes longer: it is done by the thread that asks.
static bool is_small(const heddle_op *op, const void *shape)
{
    const double little = 1 << 18; // operations and bytes
    const heddle_cost cost = op->cost(shape);
    return cost.flops + cost.bytes_read + cost.bytes_written < little;
}

// What is known of a call before its memory: for an operator, a shape and a device.
struct Plan {
    // of which call
    const char *name; // NULL: none yet
    unsigned char shape[HEDDLE_MAX_SHAPE_BYTES];
    int device; // -1: the CPU
    heddle_tier tier;
    heddle_arithmetic arithmetic;
    unsigned made_after; // this many forks

    const heddle_op *op;
    const heddle_rung *rung;
    bool small;
    size_t scratch; // bytes
    const char *operands[2 * HEDDLE_MAX_OPERANDS];
    int slots[2 * HEDDLE_MAX_OPERANDS]; // of inputs; outputs are counted from HEDDLE_MAX_OPERANDS on

    bool is_for(const Call &call, int on) const
    {
        return name == call.op && device == on && tier == call.tier && arithmetic == call.arithmetic &&
               made_after == forks && memcmp(shape, call.shape.memory, call.shape.bytes) == 0;
    }
};

static void make_plan(const Call &call, const Place &place, int device, Plan *plan)
{
    plan->name = nullptr; // until all of it is known
    must(heddle_op_find(call.op, &plan->op));
    require(call.shape.bytes == plan->op->shape_size, "heddle: ", call.op, " has a shape of ",
            (int64_t)plan->op->shape_size, " bytes");
    const void *shape = call.shape.memory;
    must(heddle_shape_validate(plan->op, shape));
    plan->small = !place.cuda && is_small(plan->op, shape);
    // A GPU's module has to be loaded before one can ask which rungs it has.
    heddle_device *opened = plan->small ? nullptr : device_of(place.cuda, place.index);
    plan->rung = rung_of(plan->op, call, place.cuda ? HEDDLE_CUDA : HEDDLE_CPU);
    heddle_device_info info = {};
    info.threads = 1;
    if (plan->rung->workspace && !place.cuda && opened)
        must(heddle_device_describe(opened, &info));
    plan->scratch = plan->rung->workspace ? plan->rung->workspace(shape, info.threads) : 0;
    memcpy(plan->shape, shape, call.shape.bytes);
    memset(plan->operands, 0, sizeof plan->operands);
    plan->device = device;
    plan->tier = call.tier;
    plan->arithmetic = call.arithmetic;
    plan->made_after = forks;
    plan->name = call.op;
}

// The thread's own, or `once` for a rung by name.
static Plan *plan_of(const Call &call, const Place &place, Plan *once)
{
    enum { KEPT = 64 }; // for each thread: a model's layers, or most of them
    static thread_local Plan kept[KEPT];
    const int device = place.cuda ? place.index : -1;
    uint64_t hash = (uintptr_t)call.op ^ (uint64_t)(unsigned)device << 32;
    for (size_t i = 0; i + sizeof(uint32_t) <= call.shape.bytes; i += sizeof(uint32_t)) {
        uint32_t word;
        memcpy(&word, (const char *)call.shape.memory + i, sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    }
    Plan *plan = *call.rung ? once : &kept[hash >> 32 & (KEPT - 1)];
    if (plan == once || !plan->is_for(call, device))
        make_plan(call, place, device, plan);
    return plan;
}

static void place_operands(Plan *plan, heddle_call *call, std::initializer_list<Operand> operands)
{
    int at = 0;
    for (const Operand &operand : operands) {
        if (plan->operands[at] != operand.name) {
            int slot = 0, index = heddle_operand_find(plan->op, operand.name);
            require(index >= 0, "heddle: ", plan->op->name, " has no operand ", operand.name);
            plan->slots[at] = heddle_operand_slot(plan->op, index, &slot) ? HEDDLE_MAX_OPERANDS + slot : slot;
            plan->operands[at] = operand.name;
        }
        const int slot = plan->slots[at++];
        if (slot >= HEDDLE_MAX_OPERANDS)
            call->output[slot - HEDDLE_MAX_OPERANDS] = const_cast<void *>(operand.memory);
        else
            call->input[slot] = operand.memory;
    }
}

void launch(const Call &call, std::initializer_list<Operand> operands)
{
    const Place place = place_of(call.place);
    // heddle makes the tensors' GPU current, and asks the current one what it can; afterwards it is the caller's again.
    std::optional<torch::stable::accelerator::DeviceGuard> guard;
    if (place.cuda && torch::stable::accelerator::getCurrentDeviceIndex() != place.index)
        guard.emplace(place.index);
    Plan once, *plan = plan_of(call, place, &once);
    heddle_call made = {};
    made.shape = call.shape.memory;
    made.stream = place.cuda ? cuda_stream(place.index) : plan->small ? nullptr : cpu_stream();
    place_operands(plan, &made, operands);

    std::optional<Tensor> scratch;
    if (plan->scratch > 0) {
        const size_t alignment = 256; // the CPU's allocator gives 64
        const int64_t size = (int64_t)(plan->scratch + alignment), stride = 1;
        scratch = empty_strided(place, {&size, 1}, &stride, ScalarType::Byte);
        made.workspace = (void *)(((uintptr_t)scratch->data_ptr() + alignment - 1) / alignment * alignment);
    }
    must(heddle_launch(plan->op, plan->rung, &made));
    if (!place.cuda && made.stream)
        must(heddle_stream_synchronize(made.stream));
}

std::string rungs(std::string name, std::string device)
{
    const heddle_op *op = nullptr;
    must(heddle_op_find(name.c_str(), &op));
    heddle_device_kind kind = device == "cuda" ? HEDDLE_CUDA : HEDDLE_CPU;
    std::string names;
    for (int i = 0; i < op->rungs; i++)
        if (heddle_rung_runs_on(&op->ladder[i], kind))
            names += std::string(op->ladder[i].name) + "\n";
    return names;
}

void check(const Tensor &tensor, const Tensor &place, ScalarType type, const char *op, const char *what)
{
    static const int32_t cpu = aoti_torch_device_type_cpu();
    const Place own = place_of(tensor), other = place_of(place);
    require(own.cuda || own.type == cpu, "heddle.", op, ": ", what, " is neither on the CPU nor on a CUDA GPU");
    require(own.type == other.type && own.index == other.index, "heddle.", op, ": ", what,
            " is on another device than the first tensor");
    const ScalarType given = tensor.scalar_type();
    require(given == type, "heddle.", op, ": ", what, " must be ", torch::headeronly::toString(type), ", not ",
            torch::headeronly::toString(given));
}

} // namespace heddle_torch
