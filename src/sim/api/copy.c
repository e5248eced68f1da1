// Copies: what is asked for is held against the pointers, then queued; a copy from or to ordinary host memory waits as
// CUDA's does. The functions of the API are in copy_calls.c.
#include "api/copy.h"

#include <stdlib.h>
#include <string.h>

#include "api/call.h"
#include "api/capture.h"
#include "api/pointer.h"
#include "api/run.h"
#include "api/stream.h"
#include "api/submit.h"

// Up to here the source in pageable memory is taken at the call, as CUDA stages it; more is copied at once instead.
static const size_t largest_staging = (size_t)16 << 20;

sim_copy_request sim_copy_flat(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return (sim_copy_request){to, from, bytes, bytes, bytes, bytes, bytes, 1, 1, kind};
}

static size_t span_of(size_t pitch, size_t slice, const sim_copy_request *request)
{
    return (request->depth - 1) * slice + (request->height - 1) * pitch + request->width;
}

static bool host_end(enum cudaMemcpyKind kind, bool source)
{
    return kind == cudaMemcpyHostToHost || kind == (source ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost);
}

static const char *kind_name(enum cudaMemcpyKind kind)
{
    static const char *const names[] = {"cudaMemcpyHostToHost", "cudaMemcpyHostToDevice", "cudaMemcpyDeviceToHost",
                                        "cudaMemcpyDeviceToDevice", "cudaMemcpyDefault"};
    return names[kind];
}

// The direction that the program names must fit what the pointers are.
static cudaError_t check_end(const sim_copy_request *request, bool source, sim_where where)
{
    const enum cudaMemcpyKind kind = request->kind;
    const char *role = source ? "source" : "destination";
    if (kind == cudaMemcpyDefault)
        return cudaSuccess;
    const bool host = host_end(kind, source);
    const bool wrong = host ? where == SIM_AT_DEVICE || where == SIM_AT_SYMBOL : where == SIM_AT_HOST;
    if (!wrong)
        return cudaSuccess;
    // CUDA makes this one all the same: with unified addresses a copy from host to host reaches everything.
    const cudaError_t error = kind == cudaMemcpyHostToHost ? cudaSuccess : cudaErrorInvalidValue;
    return sim_fail(error, "%s wants %s memory as its %s, and this is %s", kind_name(kind), host ? "host" : "device",
                    role, sim_where_words(where));
}

static bool is_host(sim_where where)
{
    return where == SIM_AT_HOST || where == SIM_AT_PINNED || where == SIM_AT_VARIABLE;
}

static bool is_pageable(sim_where where)
{
    return where == SIM_AT_HOST || where == SIM_AT_VARIABLE;
}

// Where row `row` of all slices begins, before the first row's own address is added.
static size_t row_offset(const sim_copy_request *request, size_t pitch, size_t slice, size_t row)
{
    return row / request->height * slice + row % request->height * pitch;
}

// Whether a row of the source has bytes of a row of the destination. Rows of both come in the order of their addresses,
// and those of one may lie between those of the other: a column of a matrix moved to the next.
static bool rows_overlap(const sim_copy_request *request)
{
    const size_t rows = request->height * request->depth;
    for (size_t to_row = 0, from_row = 0; to_row < rows && from_row < rows;) {
        const uintptr_t to = (uintptr_t)request->to + row_offset(request, request->to_pitch, request->to_slice, to_row);
        const uintptr_t from =
            (uintptr_t)request->from + row_offset(request, request->from_pitch, request->from_slice, from_row);
        if (to < from + request->width && from < to + request->width)
            return true;
        if (to < from)
            to_row++;
        else
            from_row++;
    }
    return false;
}

// CUDA leaves open which bytes are read before others are written. A copy of memory to itself changes none.
static cudaError_t check_overlap(const sim_copy_request *request)
{
    const uintptr_t to = (uintptr_t)request->to, from = (uintptr_t)request->from;
    const bool apart = to >= from + span_of(request->from_pitch, request->from_slice, request) ||
                       from >= to + span_of(request->to_pitch, request->to_slice, request);
    if (apart || to == from || !rows_overlap(request))
        return cudaSuccess;
    return sim_fail(cudaSuccess, "source and destination overlap: they begin %zu bytes apart, and a copy's may not",
                    (size_t)(to > from ? to - from : from - to));
}

cudaError_t sim_copy_check(const sim_copy_request *request, sim_work *work, bool *pageable)
{
    sim_where to = SIM_AT_NOTHING, from = SIM_AT_NOTHING;
    *pageable = false;
    *work = sim_work_new(SIM_WORK_COPY);
    if ((unsigned)request->kind > cudaMemcpyDefault)
        return sim_fail(cudaErrorInvalidMemcpyDirection, "%d is not a direction of a copy", (int)request->kind);
    if (request->height > 1 && (request->width > request->to_pitch || request->width > request->from_pitch))
        return sim_fail(cudaErrorInvalidPitchValue, "rows of %zu bytes are wider than a pitch of %zu", request->width,
                        request->width > request->to_pitch ? request->to_pitch : request->from_pitch);
    cudaError_t error =
        sim_pointer_check(request->to, span_of(request->to_pitch, request->to_slice, request), "destination", &to);
    if (error == cudaSuccess)
        error = sim_pointer_check(request->from, span_of(request->from_pitch, request->from_slice, request), "source",
                                  &from);
    if (error == cudaSuccess)
        error = check_end(request, false, to);
    if (error == cudaSuccess)
        error = check_end(request, true, from);
    if (error == cudaSuccess && !is_host(to) && !is_host(from))
        error = check_overlap(request);
    if (error != cudaSuccess)
        return error;
    *pageable = is_pageable(to) || is_pageable(from);
    work->copy = (sim_copy){.to = request->to,
                            .from = request->from,
                            .to_pitch = request->to_pitch,
                            .to_slice = request->to_slice,
                            .from_pitch = request->from_pitch,
                            .from_slice = request->from_slice,
                            .width = request->width,
                            .height = request->height,
                            .depth = request->depth,
                            .to_host = is_host(to) || (to == SIM_AT_MANAGED && host_end(request->kind, false)),
                            .from_host = is_host(from)};
    return cudaSuccess;
}

static bool is_empty(const sim_copy_request *request)
{
    return request->width == 0 || request->height == 0 || request->depth == 0;
}

cudaError_t sim_copy_now(const sim_copy_request *request)
{
    struct CUstream_st *stream = sim_stream_of(NULL);
    sim_work work;
    bool pageable;
    if (is_empty(request))
        return cudaSuccess;
    cudaError_t error = sim_copy_check(request, &work, &pageable);
    if (error != cudaSuccess)
        return error;
    const bool host = pageable || work.copy.to_host || work.copy.from_host;
    error = sim_stream_submit(stream, &work);
    // Between two places of the device even cudaMemcpy does not wait.
    return error == cudaSuccess && host ? sim_wait_until(stream->last, &stream->clock) : error;
}

static void keep_block(const void *pointer, sim_host_block *block)
{
    const sim_extent zone = sim_memory_zone();
    const uintptr_t address = (uintptr_t)pointer;
    if (address - zone.start < zone.end - zone.start || !sim_host_heap_find(address, block))
        return;
    if (address - block->start >= block->bytes)
        *block = (sim_host_block){0};
}

void sim_copy_keep_blocks(sim_work *work)
{
    keep_block(work->copy.to, &work->copy.to_block);
    keep_block(work->copy.from, &work->copy.from_block);
}

// Takes the rows of the source into memory of our own.
static void stage(sim_copy *copy)
{
    const size_t row = copy->width, slice = row * copy->height;
    uint8_t *staging = malloc(slice * copy->depth);
    if (staging == NULL)
        return;
    for (size_t z = 0; z < copy->depth; z++) {
        for (size_t y = 0; y < copy->height; y++)
            memcpy(staging + z * slice + y * row, copy->from + z * copy->from_slice + y * copy->from_pitch, row);
    }
    copy->staging = staging;
    copy->from = staging;
    copy->from_pitch = row;
    copy->from_slice = slice;
}

cudaError_t sim_copy_in(const sim_copy_request *request, cudaStream_t handle)
{
    struct CUstream_st *stream = sim_stream_of(handle);
    sim_work work;
    bool pageable;
    if (stream == NULL)
        return cudaErrorInvalidResourceHandle;
    if (is_empty(request))
        return cudaSuccess;
    cudaError_t error = sim_copy_check(request, &work, &pageable);
    if (error != cudaSuccess)
        return error;
    if (stream->capture != NULL)
        pageable = false; // a graph reads its source when it runs
    if (!pageable)
        sim_copy_keep_blocks(&work);
    const size_t bytes = request->width * request->height * request->depth;
    if (pageable && !work.copy.to_host && bytes <= largest_staging)
        stage(&work.copy);
    const bool staged = work.copy.staging != NULL;
    error = sim_stream_submit(stream, &work);
    if (error != cudaSuccess || !pageable || staged)
        return error;
    if (work.copy.to_host)
        return sim_wait_until(stream->last, &stream->clock);
    sim_run_until(stream->last);
    return sim_error_broken();
}
