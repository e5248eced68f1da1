// rows_trunk on tensor cores, backward. The gradient of a stage's results lies among zeros, as pixels do. Its product
// with the weights at every tap is the gradient of the input, which a lane takes through the pooling and the function
// of the stage before, window by window. Its product with the input, transposed, is the gradient of the weight.
#pragma once

#include "ops/rows_trunk/tensor.h"

// --- before the first image -----------------------------------------------------------------------------------------

// (k, c, r, r) as the right side of products: rows are channels of the results, columns those of the input.
template <bool Pairs>
__device__ static void load_back_weights(const tensor_job &job, int index, const float *from, char *shared)
{
    const tensor_stage &stage = job.layout.stage[index];
    const int all = stage.of.k * stage.size.c * stage.taps;
    for_weights(from, all, [&](int i, float weight) {
        unsigned tap, c;
        const unsigned k = heddle_divide(heddle_divide(i, job.by[index].filter, &tap), job.by[index].c, &c);
        const int fragment = (c / 8 * stage.back_steps + tap * stage.halves + k / 16) * TENSOR_FRAGMENT;
        store_element<Pairs>(shared + stage.weight + fragment + place_in_right(k % 16, c % 8), job.layout.lower,
                             weight);
    });
}

// Where the taps of the first stage, (c, r, r), are in its input; at the end, anywhere.
__device__ static void set_first_places(const tensor_stage &stage, char *shared)
{
    const int r = stage.of.r;
#pragma unroll 1
    for (int i = threadIdx.x; i < 16 * stage.rows; i += blockDim.x) {
        const int c = i / stage.taps, tap = i % stage.taps, x = tap % r;
        ((int *)(shared + stage.places))[i] =
            c < stage.size.c ? c * stage.plane + tap / r * stage.pitch + x / 2 * 4 + x % 2 * stage.copy : 0;
    }
}

// Where the results of a stage are in its gradient and their filters in its input, and where its taps find the
// gradient.
__device__ static void set_places(const tensor_job &job, int index, char *shared)
{
    const tensor_stage &stage = job.layout.stage[index];
    const int w = stage.size.kept_w, pixels = stage.size.kept_h * w, r = stage.of.r;
    int2 *places = (int2 *)(shared + stage.places);
    int *reach = (int *)(shared + stage.reach);
#pragma unroll 1
    for (int i = threadIdx.x; i < (pixels + 31) / 32 * 32; i += blockDim.x) {
        const int y = i / w, x = i % w;
        places[i] = i < pixels ? make_int2(stage.gradient + (y + stage.frame) * stage.gradient_pitch +
                                               (x + stage.frame) * stage.gradient_pixel,
                                           stage.input + y * stage.pitch + x * stage.pixel)
                               : make_int2(job.layout.zeros, stage.input);
    }
#pragma unroll 1
    for (int i = threadIdx.x; i < stage.back_steps; i += blockDim.x) {
        const int tap = i / stage.halves; // beyond the last one, weights are zero
        reach[i] = tap < stage.taps ? (r - 1 - tap / r) * stage.gradient_pitch +
                                          (r - 1 - tap % r) * stage.gradient_pixel + i % stage.halves * 2 * TENSOR_CHUNK
                                    : 0;
    }
}

// --- what an image brings -------------------------------------------------------------------------------------------

// The activations of a window, of channels `channel` and the next.
template <int Window> struct tensor_activations {
    enum { PLACES = Window > 0 ? Window *Window : 1 }; // that a loop over them has at once
    const float *from[2];
    float two_by_two[2][4];
    int pitch;

    __device__ __forceinline__ tensor_activations(const tensor_stage &stage, const float *kept, int channel, int first)
    {
        pitch = stage.size.kept_w;
#pragma unroll
        for (int j = 0; j < 2; j++) {
            from[j] = kept + (channel + j < stage.of.k ? channel + j : 0) * stage.size.kept_h * pitch + first;
            if constexpr (Window == 2)
                load_window(from[j], pitch, true, two_by_two[j]);
        }
    }
    __device__ __forceinline__ float pooled(int average, int j, int window) const
    {
        if constexpr (Window == 2)
            return pool_four(average, two_by_two[j]);
        return pool(j, window).result(average, window);
    }
    __device__ __forceinline__ int winner(int j, int window) const
    {
        return pool(j, window).winner;
    }
    __device__ __forceinline__ trunk_pool pool(int j, int window) const
    {
        trunk_pool pool;
#pragma unroll PLACES
        for (int place = 0; place < window * window; place++)
            pool.add(at(j, place, window), place);
        return pool;
    }
    __device__ __forceinline__ float at(int j, int place, int window) const
    {
        return Window == 2 ? two_by_two[j][place % 4] : __ldg(from[j] + place / window * pitch + place % window);
    }
};

// The pooled activations of stage `index`, as the input of the next. Window: 0 if not known at compile time.
template <bool Pairs, int Window>
__device__ static void load_pooled(const tensor_job &job, int index, const float *kept, char *shared)
{
    const tensor_stage &stage = job.layout.stage[index];
    const int window = Window > 0 ? Window : stage.of.window, count = (stage.of.k + 1) / 2 * windows_of(stage);
#pragma unroll 2
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        unsigned number;
        const int channel = 2 * (int)heddle_divide(i, job.by[index].windows, &number);
        const tensor_place &place = place_of(stage, shared, number);
        const tensor_activations<Window> y(stage, kept, channel, place.kept);
        float result[2];
#pragma unroll
        for (int j = 0; j < 2; j++)
            result[j] = channel + j < stage.of.k ? y.pooled(stage.of.average, j, window) : 0.0f;
        store_two<Pairs>(shared + place.next + 2 * channel, job.layout.lower, result[0], result[1]);
    }
}

// The number whose 16 bits are the upper ones of `bits`.
__device__ static __forceinline__ float number_of(uint32_t bits, __nv_bfloat16)
{
    return __uint_as_float(bits);
}

__device__ static __forceinline__ float number_of(uint32_t bits, __half)
{
    return __half2float(__ushort_as_half((unsigned short)(bits >> 16)));
}

__device__ static __forceinline__ float number_of(uint32_t bits, rows_pair)
{
    return number_of(bits, __half());
}

// The largest number of a row, without its sign; of pairs, the largest upper half. Numbers are ordered as their bits
// are. Every warp reads the whole row.
template <typename Element> __device__ static float largest_of(const tensor_job &job, const Element *rows, int image)
{
    const uint16_t *row = (const uint16_t *)(rows + (size_t)image * job.columns);
    const uint32_t no_sign = 0x7fff0000;
    uint32_t largest = 0;
    if ((uintptr_t)row % sizeof(uint4) == 0) { // columns are a multiple of eight
#pragma unroll 2
        for (int i = threadIdx.x % 32; i < job.columns / 8; i += 32) {
            const uint4 eight = __ldg((const uint4 *)row + i);
            const uint32_t two[4] = {eight.x, eight.y, eight.z, eight.w};
#pragma unroll
            for (int j = 0; j < 4; j++)
                largest = max(largest, max(two[j] & no_sign, two[j] << 16 & no_sign));
        }
    } else {
#pragma unroll 1
        for (int i = threadIdx.x % 32; i < job.columns; i += 32)
            largest = max(largest, (uint32_t)row[i] << 16 & no_sign);
    }
    return number_of(__reduce_max_sync(0xffffffffu, largest), Element());
}

// A power of two that makes the largest gradient of a row about 32: smaller ones remain normal numbers of fp16, and
// there is room for the sums that the stages before make of them. `back` is its inverse.
__device__ static __forceinline__ float scale_of(float largest, float *back)
{
    const int bias = 127, room = 5, smallest = room + 1;
    const int exponent = max((int)(__float_as_uint(largest) >> 23), smallest);
    if (threadIdx.x == 0)
        *back = __uint_as_float((unsigned)(exponent - room) << 23);
    return __uint_as_float((unsigned)(2 * bias + room - exponent) << 23);
}

// --- the gradient of the input --------------------------------------------------------------------------------------

// rows_slope() as a polynomial of the function's value, times a factor: no branches.
struct tensor_slope {
    float none, once, twice; // coefficients
    bool is_relu;

    __device__ __forceinline__ tensor_slope(int function, float factor)
        : none(function == HEDDLE_ROWS_SIGMOID ? 0.0f : factor), once(function == HEDDLE_ROWS_SIGMOID ? factor : 0.0f),
          twice(function == HEDDLE_ROWS_SIGMOID || function == HEDDLE_ROWS_TANH ? -factor : 0.0f),
          is_relu(function == HEDDLE_ROWS_RELU)
    {
    }
    __device__ __forceinline__ float at(float y) const
    {
        if (is_relu)
            return y > 0.0f ? none : 0.0f;
        return none + y * (once + y * twice);
    }
};

// The gradient of a stage's results in a window, from that of what the window gave: channels `channel` and the next,
// which is zero if there is none.
template <bool Pairs, int Window>
__device__ static __forceinline__ void spread_window(const tensor_job &job, int index,
                                                     const tensor_activations<Window> &y, int channel, int here,
                                                     const float (&gradient)[2], char *shared)
{
    enum { PLACES = tensor_activations<Window>::PLACES };
    const tensor_stage &stage = job.layout.stage[index];
    const int window = Window > 0 ? Window : stage.of.window;
    const tensor_slope slope(stage.of.function, stage.of.average ? 1.0f / (window * window) : 1.0f);
    char *to = shared + here + 2 * channel;
    int winner[2] = {-1, -1}; // all of them
    if (!stage.of.average)
#pragma unroll
        for (int j = 0; j < 2; j++)
            winner[j] = y.winner(j, window);
#pragma unroll PLACES
    for (int place = 0; place < window * window; place++) {
        float value[2];
#pragma unroll
        for (int j = 0; j < 2; j++) {
            value[j] = gradient[j] * slope.at(y.at(j, place, window));
            value[j] = winner[j] < 0 || winner[j] == place ? value[j] : 0.0f;
        }
        store_two<Pairs>(to + place / window * stage.gradient_pitch + place % window * stage.gradient_pixel,
                         job.layout.lower, value[0], value[1]);
    }
}

// Two channels of each window.
__device__ static __forceinline__ int row_items(const tensor_stage &stage)
{
    return (stage.of.k + 1) / 2 * windows_of(stage);
}

// The gradient of the last stage's results.
template <typename Element, bool Pairs, int Window>
__device__ static void spread_row(const tensor_job &job, int index, const float *kept, const Element *rows, int image,
                                  float scale, char *shared)
{
    const tensor_stage &stage = job.layout.stage[index];
    const int count = row_items(stage);
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        unsigned number;
        const int channel = 2 * (int)heddle_divide(i, job.by[index].windows, &number);
        const tensor_place &place = place_of(stage, shared, number);
        const int column = place.next + channel;
        const tensor_activations<Window> y(stage, kept, channel, place.kept);
        const float gradient[2] = {scale * rows_read(rows, image, job.columns, column),
                                   channel + 1 < stage.of.k ? scale * rows_read(rows, image, job.columns, column + 1)
                                                            : 0.0f};
        spread_window<Pairs, Window>(job, index, y, channel, place.here, gradient, shared);
    }
}

// The gradient of 16 pixels of the input of stage `index`, eight channels of them, and from it that of the results of
// the stage before. kept: its activations
template <bool Pairs, int Window>
__device__ static __forceinline__ void spread_tile(const tensor_job &job, int index, const float *kept, int tile,
                                                   int chunk, char *shared)
{
    const tensor_stage &stage = job.layout.stage[index], &before = job.layout.stage[index - 1];
    const int lane = threadIdx.x % 32, lower = job.layout.lower, windows = windows_of(before);
    const int4 *reach = (const int4 *)(shared + stage.reach);
    const char *from =
        shared + place_of(before, shared, min(windows - 1, tile * 16 + lane % 16)).reach + lane / 16 * TENSOR_CHUNK;
    const char *fragment = shared + stage.weight + chunk * stage.back_steps * TENSOR_FRAGMENT;
    enum { AT_ONCE = Pairs ? 2 : 4 }; // steps that load before they multiply: what registers suffice for
    tensor_sum<Pairs> sum[2];         // of every other step: half as many that wait for one another
    tensor_left<Pairs> a[AT_ONCE];
    tensor_right<Pairs> b[AT_ONCE];
    int4 next = *reach;
#pragma unroll 1
    for (int step = 0; step < stage.back_steps; step += 4, fragment += 4 * TENSOR_FRAGMENT) {
        const int at[4] = {next.x, next.y, next.z, next.w};
        next = *++reach; // there is room behind the last ones
#pragma unroll
        for (int first = 0; first < 4; first += AT_ONCE) {
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++) {
                load_left<Pairs>(from + at[first + i], lower, a[i]);
                load_right<Pairs>(fragment + (first + i) * TENSOR_FRAGMENT, lower, b[i]);
            }
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++)
                sum[i % 2].template add<false>(a[i], b[i]);
        }
    }
    const int channel = chunk * 8 + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int number = tile * 16 + i * 8 + lane / 4;
        if (number >= windows || channel >= before.of.k)
            continue;
        const tensor_place &place = place_of(before, shared, number);
        const float gradient[2] = {sum[0].value(2 * i) + sum[1].value(2 * i),
                                   sum[0].value(2 * i + 1) + sum[1].value(2 * i + 1)};
        const tensor_activations<Window> y(before, kept, channel, place.kept);
        spread_window<Pairs, Window>(job, index - 1, y, channel, place.here, gradient, shared);
    }
}

// --- the gradient of the weight -------------------------------------------------------------------------------------

template <bool Pairs>
__device__ static __forceinline__ void load_transposed(const char *row, int lower, uint32_t (&to)[Pairs ? 2 : 1][4])
{
#pragma unroll
    for (int i = 0; i < (Pairs ? 2 : 1); i++)
        ldmatrix_x4_transposed(to[i], row + i * lower);
}

// Adds a lane's results to its own sums.
template <bool Pairs>
__device__ static __forceinline__ void add_to_slot(const tensor_sum<Pairs> &sum, float back, char *slot)
{
    float4 *to = (float4 *)slot + threadIdx.x % 32, four = *to;
    four.x += back * sum.value(0), four.y += back * sum.value(1);
    four.z += back * sum.value(2), four.w += back * sum.value(3);
    *to = four;
}

// Both halves of every element of a column are one: the product is the sum of the left side's.
template <bool Pairs> __device__ static __forceinline__ void set_ones(tensor_right<Pairs> &b)
{
    const uint32_t ones = 0x3c003c00;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        b.part[0][i] = ones;
        if constexpr (Pairs)
            b.part[1][i] = 0;
    }
}

// 16 channels of the results by two chunks of the filter; behind the last of them is the bias.
template <bool Pairs>
__device__ static __forceinline__ void add_unit(const tensor_job &job, int index, int row, int unit, float back,
                                                char *shared)
{
    const tensor_stage &stage = job.layout.stage[index];
    const int lane = threadIdx.x % 32, lower = job.layout.lower, last = stage.taps * stage.chunks;
    const int pixels = stage.size.kept_h * stage.size.kept_w;
    const int2 *places = (const int2 *)(shared + stage.places);
    const char *left = shared + (2 * row + lane / 8 % 2) * TENSOR_CHUNK;
    const char *right = shared + ((const int *)(shared + stage.offsets))[2 * unit + lane / 16];
    enum { AT_ONCE = Pairs ? 1 : 2 }; // products that load before they multiply: what registers suffice for
    tensor_sum<Pairs> sum[2];
    tensor_left<Pairs> a[AT_ONCE];
    uint32_t both[AT_ONCE][Pairs ? 2 : 1][4];
#pragma unroll 1
    for (int pixel = 0; pixel < pixels; pixel += 16 * AT_ONCE) {
#pragma unroll
        for (int s = 0; s < AT_ONCE; s++) {
            const int2 *at = places + pixel + 16 * s;
            load_transposed<Pairs>(left + at[lane % 8 + lane / 16 * 8].x, lower, a[s].part);
            load_transposed<Pairs>(right + at[lane % 16].y, lower, both[s]);
        }
#pragma unroll
        for (int i = 0; i < 2 * AT_ONCE; i++) {
            const int s = i / 2, j = i % 2;
            tensor_right<Pairs> b;
#pragma unroll
            for (int part = 0; part < (Pairs ? 2 : 1); part++)
                b.part[part][0] = both[s][part][2 * j], b.part[part][1] = both[s][part][2 * j + 1];
            if (2 * unit + j == last)
                set_ones<Pairs>(b);
            sum[j].template add<false>(a[s], b);
        }
    }
    char *slots = shared + stage.slots + (row * stage.units + unit) * 2 * TENSOR_SUM;
#pragma unroll
    for (int j = 0; j < 2; j++)
        add_to_slot<Pairs>(sum[j], back, slots + j * TENSOR_SUM);
}

// The first stage: 16 taps by eight channels of the results, of some lines; behind the last tap is the bias.
template <bool Pairs>
__device__ static __forceinline__ void add_first_unit(const tensor_job &job, int split, int row, int unit, float back,
                                                      char *shared)
{
    const tensor_stage &stage = job.layout.stage[0];
    const int lane = threadIdx.x % 32, lower = job.layout.lower, all = stage.size.c * stage.taps;
    const int begin = split * stage.lines_per_split, end = min(stage.size.kept_h, begin + stage.lines_per_split);
    const char *taps[2];
    bool is_bias[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int number = row * 16 + i * 8 + lane / 4;
        is_bias[i] = number == all;
        taps[i] =
            shared + stage.input + begin * stage.pitch + lane % 4 * 4 + ((const int *)(shared + stage.places))[number];
    }
    const char *gradient =
        shared + stage.gradient + begin * stage.gradient_pitch + lane % 16 * stage.gradient_pixel + unit * TENSOR_CHUNK;
    const uint32_t ones = 0x3c003c00;
    tensor_sum<Pairs> sum;
    for (int y = begin; y < end; y++) {
#pragma unroll 2
        for (int x = 0; x < stage.size.kept_w; x += 16) {
            tensor_left<Pairs> a = {};
            tensor_right<Pairs> b;
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const uint32_t two = *(const uint32_t *)(taps[i % 2] + x * 2 + i / 2 * 16);
                a.part[0][i] = is_bias[i % 2] ? ones : two;
            }
#pragma unroll
            for (int i = 0; i < (Pairs ? 2 : 1); i++)
                ldmatrix_x2_transposed(b.part[i], gradient + x * stage.gradient_pixel + i * lower);
            sum.template add<true>(a, b);
        }
        taps[0] += stage.pitch, taps[1] += stage.pitch, gradient += stage.gradient_pitch;
    }
    add_to_slot<Pairs>(sum, back,
                       shared + stage.slots + ((split * stage.rows + row) * stage.units + unit) * TENSOR_SUM);
}

// --- an image, and what all images leave ----------------------------------------------------------------------------

template <bool Pairs>
__device__ static __forceinline__ void go_back(const tensor_job &job, int index, const float *kept, float back,
                                               char *shared)
{
    const tensor_stage &stage = job.layout.stage[index], &before = job.layout.stage[index - 1];
    const int tiles = (windows_of(before) + 15) / 16, spreads = tiles * stage.chunks;
    const bool is_fast = has_pairs_of_lines(before, kept);
#pragma unroll 1
    for (int item = threadIdx.x / 32; item < spreads + stage.rows * stage.units; item += blockDim.x / 32) {
        int place;
        const int group = item < spreads ? few(item, tiles, &place) : few(item - spreads, stage.units, &place);
        if (item >= spreads)
            add_unit<Pairs>(job, index, group, place, back, shared);
        else if (is_fast)
            spread_tile<Pairs, 2>(job, index, kept, place, group, shared);
        else
            spread_tile<Pairs, 0>(job, index, kept, place, group, shared);
    }
}

// All gradients of one image, added to the block's sums.
template <typename Element, bool Pairs>
__device__ static void add_image(const tensor_job &job, const trunk_operands &on, int image, size_t from, char *shared)
{
    const tensor_layout &layout = job.layout;
    const tensor_stage &first = layout.stage[0];
    const float *kept = on.activations + (size_t)image * job.kept;
    const int last = layout.stages - 1;
    const Element *rows = (const Element *)on.grad_output;
    load_image(job, on.dataset + from * (job.c * job.h * job.w), shared);
    for (int i = 0; i < last; i++)
        if (has_pairs_of_lines(layout.stage[i], kept + layout.stage[i].size.kept))
            load_pooled<Pairs, 2>(job, i, kept + layout.stage[i].size.kept, shared);
        else
            load_pooled<Pairs, 0>(job, i, kept + layout.stage[i].size.kept, shared);
    if ((int)threadIdx.x / 32 * 32 < row_items(layout.stage[last])) {
        const float *activations = kept + layout.stage[last].size.kept;
        const float scale = scale_of(largest_of(job, rows, image), (float *)(shared + layout.back));
        if (has_pairs_of_lines(layout.stage[last], activations))
            spread_row<Element, Pairs, 2>(job, last, activations, rows, image, scale, shared);
        else
            spread_row<Element, Pairs, 0>(job, last, activations, rows, image, scale, shared);
    }
    __syncthreads();
    const float back = *(const float *)(shared + layout.back);
#pragma unroll
    for (int i = HEDDLE_ROWS_TRUNK_STAGES - 1; i > 0; i--) // unrolled, so that sizes are constants of the launch
        if (i <= last) {
            go_back<Pairs>(job, i, kept + layout.stage[i - 1].size.kept, back, shared);
            __syncthreads();
        }
#pragma unroll 1
    for (int item = threadIdx.x / 32; item < first.splits * first.rows * first.units; item += blockDim.x / 32) {
        int row, unit;
        const int split = few(few(item, first.units, &unit), first.rows, &row);
        add_first_unit<Pairs>(job, split, row, unit, back, shared);
    }
    __syncthreads();
}

// A result of a product among the lanes' sums.
__device__ static __forceinline__ float slot_value(const char *slots, unsigned row, unsigned column)
{
    return ((const float *)slots)[((row % 8) * 4 + column / 2) * 4 + row / 8 * 2 + column % 2];
}

// The sum of weight or bias number i of a stage.
__device__ static float sum_of(const tensor_job &job, int index, int i, const char *shared)
{
    const tensor_stage &stage = job.layout.stage[index];
    const int weights = job.left.stage[index].weights, all = stage.size.c * stage.taps;
    const char *slots = shared + stage.slots;
    unsigned tap = 0, c = 0;
    const unsigned k =
        i < weights ? heddle_divide(heddle_divide(i, job.by[index].filter, &tap), job.by[index].c, &c) : i - weights;
    if (index > 0) {
        const int chunk = i < weights ? tap * stage.chunks + c / 8 : stage.taps * stage.chunks;
        return slot_value(slots + (k / 16 * stage.units * 2 + chunk) * TENSOR_SUM, k % 16, c % 8);
    }
    const int row = i < weights ? c * stage.taps + tap : all;
    float sum = 0;
    for (int split = 0; split < stage.splits; split++)
        sum +=
            slot_value(slots + ((split * stage.rows + row / 16) * stage.units + k / 8) * TENSOR_SUM, row % 16, k % 8);
    return i < weights ? sum * (1.0f / 255.0f) : sum;
}

// The block's sums: for the other blocks of the part, or as the gradients if it is alone.
__device__ static void leave_sums(const tensor_job &job, const trunk_operands &on, int part, const char *shared)
{
    float *left = on.left + (size_t)blockIdx.x * job.left.floats;
    for (int s = 0; s < job.layout.stages; s++) {
        const int from = job.left.stage[s].begin, all = job.left.stage[s].weights + job.left.stage[s].k;
        for (int i = threadIdx.x; i < (all + 3) / 4 * 4; i += blockDim.x) {
            const float sum = i < all ? sum_of(job, s, i, shared) : 0.0f;
            if (job.blocks == 1)
                store_gradient(job.left, on, part, s, i, sum);
            else
                left[from + i] = sum;
        }
    }
}

template <typename Element>
__global__ void __launch_bounds__(32 * TENSOR_MOST_WARPS, 1)
    rows_trunk_backward(const tensor_job job, const trunk_operands on)
{
    constexpr bool Pairs = tensor_has_pairs<Element>;
    extern __shared__ float4 vectors[];
    char *shared = (char *)vectors;
    const tensor_layout &layout = job.layout;
    trunk_clear(shared, layout.bytes);
    __syncthreads();
    set_first_places(layout.stage[0], shared);
    for (int i = 0; i < layout.stages; i++) {
        set_windows<true>(job, i, shared);
        if (i > 0) {
            set_places(job, i, shared);
            set_offsets(layout.stage[i], 2 * layout.stage[i].units, shared);
        }
    }
    __syncthreads();
    heddle_wait_for_previous();
    heddle_release_next();
    const int part = blockIdx.x / job.blocks, first = part * job.part + blockIdx.x % job.blocks;
    const int end = min(job.n, (part + 1) * job.part);
    const int64_t begin = *on.cursor;
    int next = first < end ? on.order[begin + first] : 0;
    for (int i = 1; i < layout.stages; i++)
        load_back_weights<Pairs>(job, i, on.weight[i], shared);
    for (int image = first; image < end; image += job.blocks) {
        const size_t from = next;
        if (image + job.blocks < end)
            next = on.order[begin + image + job.blocks];
        add_image<Element, Pairs>(job, on, image, from, shared);
    }
    __syncthreads();
    leave_sums(job, on, part, shared);
    if (job.blocks > 1)
        arrive_and_add(job.left, on, part, job.blocks);
}
