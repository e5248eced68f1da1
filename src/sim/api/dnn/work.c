// cuDNN calls as work in a stream: operands checked, read into dense arrays, computed, scaled and stored.
#include <stdlib.h>

#include "api/dnn/dnn.h"

enum { PART_ELEMENTS = 8192 }; // where a part of the tensors is read at a time: three of them stay in the cache

cudaDataType sim_dnn_type(cudnnDataType_t type)
{
    switch (type) {
    case CUDNN_DATA_FLOAT: return CUDA_R_32F;
    case CUDNN_DATA_DOUBLE: return CUDA_R_64F;
    case CUDNN_DATA_HALF: return CUDA_R_16F;
    case CUDNN_DATA_BFLOAT16: return CUDA_R_16BF;
    case CUDNN_DATA_INT8: return CUDA_R_8I;
    case CUDNN_DATA_UINT8: return CUDA_R_8U;
    case CUDNN_DATA_INT32: return CUDA_R_32I;
    default: return CUDA_R_4I; // has no size here: not simulated
    }
}

size_t sim_dnn_elements(const dnn_tensor *tensor)
{
    size_t elements = 1;
    for (int i = 0; i < tensor->count; i++)
        elements *= (size_t)tensor->size[i];
    return elements;
}

size_t sim_dnn_bytes(const dnn_tensor *tensor)
{
    size_t last = 0;
    for (int i = 0; i < tensor->count; i++)
        last += (size_t)(tensor->size[i] - 1) * (size_t)tensor->stride[i];
    return (last + 1) * sim_blas_size(sim_dnn_type(tensor->type));
}

bool sim_dnn_same(const dnn_tensor *one, const dnn_tensor *other)
{
    for (int i = 0; i < one->count; i++)
        if (one->size[i] != other->size[i])
            return false;
    return one->count == other->count;
}

dnn_operand sim_dnn_operand(const char *name, cudnnTensorDescriptor_t descriptor, const void *data)
{
    dnn_operand operand = {.name = name, .data = (void *)(uintptr_t)data};
    if (descriptor)
        operand.tensor = descriptor->tensor;
    return operand;
}

dnn_operand sim_dnn_filter(const char *name, cudnnFilterDescriptor_t descriptor, const void *data)
{
    dnn_operand operand = {.name = name, .data = (void *)(uintptr_t)data};
    if (descriptor)
        operand.tensor = descriptor->tensor;
    return operand;
}

double sim_dnn_factor(sim_blas_call call, const dnn_tensor *tensor, const void *pointer)
{
    cudaDataType type = tensor->type == CUDNN_DATA_DOUBLE ? CUDA_R_64F : CUDA_R_32F;
    return sim_blas_scalar_of(call, false, type, pointer).value;
}

bool sim_dnn_spreads(const dnn_tensor *small, const dnn_tensor *large)
{
    for (int i = 0; i < small->count; i++)
        if (small->size[i] != 1 && small->size[i] != large->size[i])
            return false;
    return small->count == large->count;
}

size_t sim_dnn_spread(const dnn_tensor *small, const dnn_tensor *large, size_t index)
{
    size_t at = 0, step = 1;
    for (int i = large->count - 1; i >= 0; i--) {
        size_t here = index % (size_t)large->size[i];
        index /= (size_t)large->size[i];
        if (small->size[i] != 1)
            at += here * step;
        step *= (size_t)small->size[i];
    }
    return at;
}

// Whether the elements lie in memory in the order of the sizes, without gaps.
static bool in_order(const dnn_tensor *tensor)
{
    size_t step = 1;
    for (int i = tensor->count - 1; i >= 0; step *= (size_t)tensor->size[i--])
        if (tensor->size[i] != 1 && (size_t)tensor->stride[i] != step)
            return false;
    return true;
}

// Where element `index`, counted in the order of the sizes, lies in memory.
static size_t place(const dnn_tensor *tensor, size_t index)
{
    size_t at = 0;
    for (int i = tensor->count - 1; i >= 0; i--) {
        at += index % (size_t)tensor->size[i] * (size_t)tensor->stride[i];
        index /= (size_t)tensor->size[i];
    }
    return at;
}

static sim_blas_span span_of(const dnn_operand *operand)
{
    cudaDataType type = sim_dnn_type(operand->tensor.type);
    size_t elements = operand->data ? sim_dnn_bytes(&operand->tensor) / sim_blas_size(type) : 0;
    return (sim_blas_span){operand->name, operand->data, type, elements, 1, elements};
}

static bool is_packed(const dnn_tensor *tensor)
{
    return sim_dnn_bytes(tensor) == sim_dnn_elements(tensor) * sim_blas_size(sim_dnn_type(tensor->type));
}

// What lies in gaps may be anything: then only the place is checked, and the elements one by one.
static void reads(sim_blas_call call, const dnn_operand *operand)
{
    sim_blas_span span = span_of(operand);
    if (is_packed(&operand->tensor)) {
        sim_blas_reads(call, &span);
        return;
    }
    sim_blas_writes(call, &span);
    for (size_t i = 0; i < sim_dnn_elements(&operand->tensor); i++) {
        sim_blas_span element = {operand->name,
                                 (char *)operand->data + place(&operand->tensor, i) * sim_blas_size(span.type),
                                 span.type,
                                 1,
                                 1,
                                 1};
        sim_blas_reads(call, &element);
    }
}

static void written(const dnn_operand *operand)
{
    sim_blas_span span = span_of(operand);
    if (is_packed(&operand->tensor)) {
        sim_blas_written(&span);
        return;
    }
    for (size_t i = 0; i < sim_dnn_elements(&operand->tensor); i++) {
        sim_blas_span element = {operand->name,
                                 (char *)operand->data + place(&operand->tensor, i) * sim_blas_size(span.type),
                                 span.type,
                                 1,
                                 1,
                                 1};
        sim_blas_written(&element);
    }
}

// Some elements of all tensors, in the order of their sizes: those that are in the dense arrays at a time.
typedef struct part {
    size_t from, count;
} part;

static bool make_room(dnn_operand *operand, size_t elements)
{
    operand->dense = operand->data ? calloc(elements + 1, sizeof *operand->dense) : NULL;
    return !operand->data || operand->dense;
}

static void load(const dnn_operand *operand, part p)
{
    const bool ordered = in_order(&operand->tensor);
    cudaDataType type = sim_dnn_type(operand->tensor.type);
    for (size_t i = 0; operand->data && i < p.count; i++)
        operand->dense[i] =
            sim_blas_load(type, operand->data, ordered ? p.from + i : place(&operand->tensor, p.from + i));
}

static void store(const dnn_work *w, const dnn_operand *operand, part p)
{
    const bool ordered = in_order(&operand->tensor);
    cudaDataType type = sim_dnn_type(operand->tensor.type);
    double alpha = operand->parameter ? w->alpha_two : w->alpha, beta = operand->parameter ? w->beta_two : w->beta;
    if (operand->kept) // is as it was computed
        alpha = 1, beta = 0;
    for (size_t i = 0; operand->data && i < p.count; i++) {
        size_t at = ordered ? p.from + i : place(&operand->tensor, p.from + i);
        double old = beta != 0 ? beta * sim_blas_load(type, operand->data, at) : 0;
        sim_blas_store(type, operand->data, at, alpha * operand->dense[i] + old);
    }
}

static bool is_read(const dnn_work *w, const dnn_operand *out)
{
    return out->kept || (out->parameter ? w->beta_two : w->beta) != 0;
}

static void check_all(const dnn_work *w)
{
    sim_blas_span workspace = {"the workspace", w->workspace, CUDA_R_8U, w->workspace_bytes, 1, w->workspace_bytes};
    for (int i = 0; i < DNN_MOST_OPERANDS; i++) {
        if (w->in[i].data)
            reads(w->call, &w->in[i]);
        if (w->out[i].data && is_read(w, &w->out[i]))
            reads(w->call, &w->out[i]);
        sim_blas_span out = span_of(&w->out[i]);
        sim_blas_writes(w->call, &out);
    }
    sim_blas_writes(w->call, &workspace);
    sim_blas_used(&workspace, true);
}

static bool room_for(dnn_work *w, size_t most)
{
    bool room = true;
    for (int i = 0; i < DNN_MOST_OPERANDS; i++) {
        dnn_operand *both[] = {&w->in[i], &w->out[i]};
        for (int j = 0; j < 2; j++) {
            size_t elements = both[j]->data ? sim_dnn_elements(&both[j]->tensor) : 0;
            room = make_room(both[j], elements < most ? elements : most) && room;
        }
    }
    return room;
}

static part part_of(const dnn_operand *operand, size_t from, size_t most)
{
    size_t elements = operand->data ? sim_dnn_elements(&operand->tensor) - from : 0;
    return (part){from, elements < most ? elements : most};
}

static void compute_part(const dnn_work *w, size_t from, size_t most)
{
    for (int i = 0; i < DNN_MOST_OPERANDS; i++) {
        load(&w->in[i], part_of(&w->in[i], from, most));
        if (w->out[i].kept)
            load(&w->out[i], part_of(&w->out[i], from, most));
    }
    if (w->compute)
        w->compute(w);
    for (size_t i = 0; w->element && i < part_of(&w->out[0], from, most).count; i++)
        w->out[0].dense[i] = w->element(w, i);
    for (int i = 0; i < DNN_MOST_OPERANDS; i++)
        store(w, &w->out[i], part_of(&w->out[i], from, most));
}

static void dnn_run(const void *work)
{
    dnn_work w = *(const dnn_work *)work;
    const size_t most = w.element ? PART_ELEMENTS : SIZE_MAX;
    check_all(&w);
    if (room_for(&w, most)) {
        for (size_t from = 0; from < (w.element ? sim_dnn_elements(&w.out[0].tensor) : 1); from += PART_ELEMENTS)
            compute_part(&w, from, most);
        for (int i = 0; i < DNN_MOST_OPERANDS; i++)
            if (w.out[i].data)
                written(&w.out[i]);
    }
    for (int i = 0; i < DNN_MOST_OPERANDS; i++) {
        free(w.in[i].dense);
        free(w.out[i].dense);
    }
}

static cudnnStatus_t check_operand(sim_blas_call call, const dnn_operand *operand)
{
    if (!operand->name)
        return CUDNN_STATUS_SUCCESS;
    if (operand->tensor.count == 0)
        return DNN_WRONG(call, "the descriptor of %s is NULL or was not set", operand->name);
    return sim_blas_size(sim_dnn_type(operand->tensor.type)) ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED;
}

cudnnStatus_t sim_dnn_queue(cudnnHandle_t handle, const dnn_work *work)
{
    if (!handle)
        return CUDNN_STATUS_NOT_INITIALIZED;
    for (int i = 0; i < DNN_MOST_OPERANDS; i++) {
        cudnnStatus_t status = check_operand(work->call, &work->in[i]);
        if (status == CUDNN_STATUS_SUCCESS)
            status = check_operand(work->call, &work->out[i]);
        if (status != CUDNN_STATUS_SUCCESS)
            return status;
        if ((work->in[i].name && !work->in[i].data) || (work->out[i].name && !work->out[i].data))
            return DNN_WRONG(work->call, "%s is NULL",
                             work->in[i].name && !work->in[i].data ? work->in[i].name : work->out[i].name);
    }
    return sim_library_queue(handle->stream, work->call, dnn_run, work, sizeof *work, false)
               ? CUDNN_STATUS_SUCCESS
               : CUDNN_STATUS_EXECUTION_FAILED;
}
