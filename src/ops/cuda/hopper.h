// Hopper's own instructions as functions, for rungs compiled for sm_90a: barriers in shared memory that count bytes
// (mbarrier), copies of boxes of a matrix by the copy engine (TMA), products by four warps together (wgmma), and
// clusters of blocks. How a rung uses them is in its file.
//
// Tiles in shared memory are stacks of boxes with rows of 128 bytes, written by TMA with its 128-byte swizzle: the
// 16-byte chunk c of row r lies at chunk c ^ (r % 8), so that 8 rows of one column touch all 32 banks. Each box starts
// at a multiple of 1024 bytes, after which the pattern repeats. wgmma reads them in two ways:
//
//   K-major: a row is one row of A (or column of B), 128 bytes along k. Groups of 8 rows are 1024 bytes apart. The next
//            32 bytes of k (16 bfloats, 8 floats: what one wgmma takes) start 32 bytes further on.
//   M-major: (bf16 only) a row is one k, 128 bytes along m or n. Groups of 8 k are 1024 bytes apart; if the tile is
//            wider than 64 bfloats, the next box holds the next 64. The next 16 k start 2048 bytes further on.
#pragma once

#include <stdint.h>

#include <cuda.h>
#include <cuda_runtime.h>

#include "device/cuda/cuda.h"

enum {
    HOPPER_WARPGROUP = 128,   // threads that issue a wgmma together
    HOPPER_ROW_BYTES = 128,   // of a box: the width of the swizzle
    HOPPER_ROWS_BYTES = 1024, // eight such rows: the period of the swizzle
};

#define HOPPER_DEVICE static __device__ __forceinline__

HOPPER_DEVICE uint32_t hopper_shared(const void *pointer)
{
    return (uint32_t)__cvta_generic_to_shared(pointer);
}

// Arrives at barrier `Name` of the block; some of its `Threads` wait by __barrier_sync_count, this one does not.
template <int Name, int Threads> HOPPER_DEVICE void hopper_arrive()
{
    asm volatile("bar.arrive %0, %1;" ::"n"(Name), "n"(Threads) : "memory");
}

// --- mbarrier --------------------------------------------------------------------------------------------------------
// A phase ends when `arrivals` arrivals and all bytes announced have come; then the next begins. Whoever waits names
// the parity of the phase whose end is waited for: 0 for the first, 1 for the second, 0 for the third.

HOPPER_DEVICE void mbarrier_init(uint64_t *barrier, unsigned arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(hopper_shared(barrier)), "r"(arrivals) : "memory");
}

// Makes initialised barriers visible to TMA and to the other blocks of the cluster.
HOPPER_DEVICE void mbarrier_init_fence()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

HOPPER_DEVICE void mbarrier_arrive(uint64_t *barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(hopper_shared(barrier)) : "memory");
}

// Arrives at the same barrier of block `rank` of the cluster: enough to release a stage that was only read. It does not
// make writes of this block visible to the other.
HOPPER_DEVICE void mbarrier_arrive_at(uint64_t *barrier, unsigned rank)
{
    asm volatile("{\n\t"
                 ".reg .b32 remote;\n\t"
                 "mapa.shared::cluster.u32 remote, %0, %1;\n\t"
                 "mbarrier.arrive.shared::cluster.b64 _, [remote];\n\t"
                 "}" ::"r"(hopper_shared(barrier)),
                 "r"(rank)
                 : "memory");
}

// Arrives, and announces bytes that copies will deliver.
HOPPER_DEVICE void mbarrier_arrive_expect(uint64_t *barrier, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(hopper_shared(barrier)), "r"(bytes)
                 : "memory");
}

// Only announces them: the thread arrives later.
HOPPER_DEVICE void mbarrier_expect(uint64_t *barrier, unsigned bytes)
{
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(hopper_shared(barrier)), "r"(bytes)
                 : "memory");
}

HOPPER_DEVICE void mbarrier_wait(uint64_t *barrier, unsigned parity)
{
    uint32_t done;
    do {
        asm volatile("{\n\t"
                     ".reg .pred done;\n\t"
                     "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, done;\n\t"
                     "}"
                     : "=r"(done)
                     : "r"(hopper_shared(barrier)), "r"(parity)
                     : "memory");
    } while (!done);
}

// --- TMA -------------------------------------------------------------------------------------------------------------
// A tensor map says where a matrix lies and how large a box is; a copy names the box's first column and row. What of it
// lies outside the matrix is read as zero and not written. One thread copies for all.

// Copies `bytes` in one piece from global to shared memory; `barrier` counts them.
HOPPER_DEVICE void bulk_load(void *shared, const void *from, unsigned bytes, uint64_t *barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     hopper_shared(shared)),
                 "l"(from), "r"(bytes), "r"(hopper_shared(barrier))
                 : "memory");
}

HOPPER_DEVICE void tma_load(void *shared, const CUtensorMap *map, int column, int row, uint64_t *barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
                 "[%4];" ::"r"(hopper_shared(shared)),
                 "l"(map), "r"(column), "r"(row), "r"(hopper_shared(barrier))
                 : "memory");
}

// The same for boxes of 3 and 5 dimensions, the innermost first.
HOPPER_DEVICE void tma_load3(void *shared, const CUtensorMap *map, int c0, int c1, int c2, uint64_t *barrier)
{
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], "
        "[%5];" ::"r"(hopper_shared(shared)),
        "l"(map), "r"(c0), "r"(c1), "r"(c2), "r"(hopper_shared(barrier))
        : "memory");
}
HOPPER_DEVICE void tma_load5(void *shared, const CUtensorMap *map, int c0, int c1, int c2, int c3, int c4,
                             uint64_t *barrier)
{
    asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, "
                 "%5, %6}], [%7];" ::"r"(hopper_shared(shared)),
                 "l"(map), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4), "r"(hopper_shared(barrier))
                 : "memory");
}

// Copies to the same place in every block of the cluster that has a bit in `blocks`; each block's own barrier counts.
HOPPER_DEVICE void tma_load_multicast(void *shared, const CUtensorMap *map, int column, int row, uint64_t *barrier,
                                      uint16_t blocks)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
                 "[%1, {%2, %3}], [%4], %5;" ::"r"(hopper_shared(shared)),
                 "l"(map), "r"(column), "r"(row), "r"(hopper_shared(barrier)), "h"(blocks)
                 : "memory");
}

HOPPER_DEVICE void tma_store(const CUtensorMap *map, const void *shared, int column, int row)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(column),
                 "r"(row), "r"(hopper_shared(shared))
                 : "memory");
}

// The same for a box of 3 dimensions, the innermost first.
HOPPER_DEVICE void tma_store3(const CUtensorMap *map, const void *shared, int c0, int c1, int c2)
{
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(map), "r"(c0),
                 "r"(c1), "r"(c2), "r"(hopper_shared(shared))
                 : "memory");
}

// Ends a group of this thread's stores.
HOPPER_DEVICE void tma_store_commit()
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until all but the last `Pending` groups of this thread's stores have read their shared memory.
template <int Pending> HOPPER_DEVICE void tma_store_wait_read()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
}

HOPPER_DEVICE void tma_prefetch_map(const CUtensorMap *map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// Orders threads' writes to shared memory before reads by TMA (or a wgmma).
HOPPER_DEVICE void tma_fence_written()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// --- wgmma -----------------------------------------------------------------------------------------------------------

// The descriptor of a wgmma operand: `leading` bytes between boxes of an M-major tile, 1024 between groups of 8 rows,
// and the 128-byte swizzle. Addresses and distances are in units of 16 bytes.
HOPPER_DEVICE uint64_t wgmma_descriptor(const void *shared, unsigned leading)
{
    uint64_t address = (hopper_shared(shared) & 0x3ffff) >> 4;
    return address | (uint64_t)(leading >> 4) << 16 | (uint64_t)(HOPPER_ROWS_BYTES >> 4) << 32 | (uint64_t)1 << 62;
}

// The compiler assumes that a product's sums are ready when it is issued. After the wait for it, this keeps reads of
// them from being moved before the wait; before the next product, it keeps reads from being moved after it.
template <int Count> HOPPER_DEVICE void wgmma_settle(float (&sums)[Count])
{
#pragma unroll
    for (int i = 0; i < Count; i++)
        asm volatile("" : "+f"(sums[i])::"memory");
}

template <int Count> HOPPER_DEVICE void wgmma_settle(int (&sums)[Count])
{
#pragma unroll
    for (int i = 0; i < Count; i++)
        asm volatile("" : "+r"(sums[i])::"memory");
}

// The descriptor of what lies `bytes` further on.
HOPPER_DEVICE uint64_t wgmma_descriptor_at(uint64_t descriptor, unsigned bytes)
{
    return descriptor + (bytes >> 4);
}

// Before the first wgmma that uses registers written by ordinary instructions.
HOPPER_DEVICE void wgmma_fence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

HOPPER_DEVICE void wgmma_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits until all but the last `Pending` groups of products are done.
template <int Pending> HOPPER_DEVICE void wgmma_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

// The accumulators of a tile, 128 of 64 by 256. Thread t of the warpgroup, with warp w = t / 32 and lane l = t % 32,
// holds in d[4 j + 2 h + e] row 16 w + 8 h + l / 4, column 8 j + 2 (l % 4) + e.
#define HOPPER_D4(d, i)  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define HOPPER_D16(d, i) HOPPER_D4(d, i), HOPPER_D4(d, i + 4), HOPPER_D4(d, i + 8), HOPPER_D4(d, i + 12)
#define HOPPER_D32(d, i) HOPPER_D16(d, i), HOPPER_D16(d, i + 16)
#define HOPPER_D64(d, i) HOPPER_D32(d, i), HOPPER_D32(d, i + 32)
#define HOPPER_D128(d)   HOPPER_D64(d, 0), HOPPER_D64(d, 64)
#define HOPPER_D128_NAMES                                                                                              \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "  \
    "%24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, "   \
    "%46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, "   \
    "%68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, "   \
    "%90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, "   \
    "%110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}"

#define HOPPER_D32_NAMES                                                                                               \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, "       \
    "%23, %24, %25, %26, %27, %28, %29, %30, %31}"
#define HOPPER_D64_NAMES                                                                                               \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, "       \
    "%23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, "   \
    "%45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}"

// d = a (64, 16) * b (16, 256) + (add ? d : 0); a and b are M-major if the template says so.
template <int MMajorA, int MMajorB>
HOPPER_DEVICE void wgmma_m64n256k16_bf16(float (&d)[128], uint64_t a, uint64_t b, int add)
{
    asm volatile("{\n\t"
                 ".reg .pred add;\n\t"
                 "setp.ne.b32 add, %130, 0;\n\t"
                 "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 " HOPPER_D128_NAMES
                 ", %128, %129, add, 1, 1, %131, %132;\n\t"
                 "}"
                 : HOPPER_D128(d)
                 : "l"(a), "l"(b), "r"(add), "n"(MMajorA), "n"(MMajorB));
}

// The same for 128 columns of b.
template <int MMajorA, int MMajorB>
HOPPER_DEVICE void wgmma_m64n128k16_bf16(float (&d)[64], uint64_t a, uint64_t b, int add)
{
    asm volatile("{\n\t"
                 ".reg .pred add;\n\t"
                 "setp.ne.b32 add, %66, 0;\n\t"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 " HOPPER_D64_NAMES
                 ", %64, %65, add, 1, 1, %67, %68;\n\t"
                 "}"
                 : HOPPER_D64(d, 0)
                 : "l"(a), "l"(b), "r"(add), "n"(MMajorA), "n"(MMajorB));
}

// The same for 64 columns of b.
template <int MMajorA, int MMajorB>
HOPPER_DEVICE void wgmma_m64n64k16_bf16(float (&d)[32], uint64_t a, uint64_t b, int add)
{
    asm volatile("{\n\t"
                 ".reg .pred add;\n\t"
                 "setp.ne.b32 add, %34, 0;\n\t"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " HOPPER_D32_NAMES
                 ", %32, %33, add, 1, 1, %35, %36;\n\t"
                 "}"
                 : HOPPER_D32(d, 0)
                 : "l"(a), "l"(b), "r"(add), "n"(MMajorA), "n"(MMajorB));
}

// d = a (64, 8) * b (8, 256) + (add ? d : 0), both K-major; only the upper 19 bits of each float count.
HOPPER_DEVICE void wgmma_m64n256k8_tf32(float (&d)[128], uint64_t a, uint64_t b, int add)
{
    asm volatile("{\n\t"
                 ".reg .pred add;\n\t"
                 "setp.ne.b32 add, %130, 0;\n\t"
                 "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 " HOPPER_D128_NAMES
                 ", %128, %129, add, 1, 1;\n\t"
                 "}"
                 : HOPPER_D128(d)
                 : "l"(a), "l"(b), "r"(add));
}

// The same with a in registers: a[2 c + h] is row 16 w + 8 h + l / 4, column 4 c + l % 4. They may be overwritten only
// after a wait for this product.
HOPPER_DEVICE void wgmma_m64n256k8_tf32_registers(float (&d)[128], const uint32_t (&a)[4], uint64_t b, int add)
{
    asm volatile("{\n\t"
                 ".reg .pred add;\n\t"
                 "setp.ne.b32 add, %133, 0;\n\t"
                 "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 " HOPPER_D128_NAMES
                 ", {%128, %129, %130, %131}, %132, add, 1, 1;\n\t"
                 "}"
                 : HOPPER_D128(d)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}

// Moves registers between warpgroups: each requests its own number per thread, a multiple of 8.
template <int Registers> HOPPER_DEVICE void registers_give_back()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}
template <int Registers> HOPPER_DEVICE void registers_take()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}

// --- clusters and barriers -------------------------------------------------------------------------------------------

HOPPER_DEVICE unsigned cluster_rank()
{
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

// All threads of all blocks of the cluster.
HOPPER_DEVICE void cluster_sync()
{
    asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
}

// The threads of one warpgroup; `name` is 1 to 15, __syncthreads has 0.
HOPPER_DEVICE void warpgroup_sync(int name)
{
    asm volatile("bar.sync %0, %1;" ::"r"(name), "n"((int)HOPPER_WARPGROUP) : "memory");
}

// Two multiplying warpgroups, 0 and 1, start products alternately: at named barriers 1 and 2 each waits for the other's
// signal. Otherwise they would share the tensor cores, finish at the same time and leave them idle at the same time.
enum { HOPPER_FIRST_TURN = 1, HOPPER_TURN_THREADS = 2 * HOPPER_WARPGROUP };

HOPPER_DEVICE void hopper_turn_begin(int warpgroup)
{
    asm volatile("bar.sync %0, %1;" ::"r"(HOPPER_FIRST_TURN + warpgroup), "n"((int)HOPPER_TURN_THREADS) : "memory");
}

HOPPER_DEVICE void hopper_turn_end(int warpgroup)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(HOPPER_FIRST_TURN + 1 - warpgroup), "n"((int)HOPPER_TURN_THREADS)
                 : "memory");
}

// Transposes an 8×8 matrix of 16-bit elements in the registers of a warp: a lane has two of row lane / 4, before and
// after.
HOPPER_DEVICE uint32_t movmatrix_transposed(uint32_t matrix)
{
    uint32_t turned;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(turned) : "r"(matrix));
    return turned;
}

// Stores four 8 by 8 matrices of 16-bit elements to shared memory: lane i gives the address of row i % 8 of matrix i /
// 8, and holds of each matrix two elements of row lane / 4, from column 2 (lane % 4) on.
HOPPER_DEVICE void stmatrix_x4(void *row, uint32_t r0, uint32_t r1, uint32_t r2, uint32_t r3)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(hopper_shared(row)), "r"(r0),
                 "r"(r1), "r"(r2), "r"(r3)
                 : "memory");
}

// --- tensor maps (host) ----------------------------------------------------------------------------------------------

// Whether a product's operands are 16-byte aligned, as TMA requires. A table's `supports` checks the length of their
// rows.
static inline bool tma_takes(const heddle_call *call)
{
    const size_t alignment = 16;
    return ((size_t)call->input[0] | (size_t)call->input[1] | (size_t)call->output[0]) % alignment == 0;
}

// A map of `dimensions` dimensions, the innermost first, with `pitch` bytes between elements of all others, in boxes.
// The driver's function is looked up at run time: nothing links against the driver.
static inline heddle_status tma_map_boxes(CUtensorMap *map, CUtensorMapDataType type, const void *from, int dimensions,
                                          const cuuint64_t *size, const cuuint64_t *pitch, const cuuint32_t *box,
                                          CUtensorMapSwizzle swizzle)
{
    typedef CUresult encode_function(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                                     const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
                                     CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
    static void *kept;
    void *encode = __atomic_load_n(&kept, __ATOMIC_RELAXED);
    if (!encode) {
        cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
        cudaError_t error =
            cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found);
#else
        cudaError_t error = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &encode, cudaEnableDefault, &found);
#endif
        if (error != cudaSuccess || found != cudaDriverEntryPointSuccess || !encode)
            return heddle_cuda_fail(HEDDLE_UNSUPPORTED,
                                    "the driver has no cuTensorMapEncodeTiled; update it to CUDA 12");
        __atomic_store_n(&kept, encode, __ATOMIC_RELAXED);
    }
    const cuuint32_t steps[5] = {1, 1, 1, 1, 1};
    CUresult result = ((encode_function *)encode)(
        map, type, dimensions, (void *)from, size, pitch, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
        CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS)
        return heddle_cuda_fail(HEDDLE_UNSUPPORTED, "cuTensorMapEncodeTiled refused a tensor of %lld by %lld: error %d",
                                (long long)size[1], (long long)size[0], (int)result);
    return HEDDLE_OK;
}

// A map of matrix (rows, columns), row-major with `pitch` bytes between rows, in boxes of box_rows by 128 bytes,
// swizzled.
static inline heddle_status tma_map_rows(CUtensorMap *map, CUtensorMapDataType type, int element_bytes,
                                         const void *matrix, long long rows, long long columns, size_t pitch,
                                         unsigned box_rows)
{
    const cuuint64_t size[2] = {(cuuint64_t)columns, (cuuint64_t)rows}, pitches[1] = {(cuuint64_t)pitch};
    const cuuint32_t box[2] = {(cuuint32_t)(HOPPER_ROW_BYTES / element_bytes), box_rows};
    return tma_map_boxes(map, type, matrix, 2, size, pitches, box, CU_TENSOR_MAP_SWIZZLE_128B);
}

// The same without gaps between rows.
static inline heddle_status tma_map(CUtensorMap *map, CUtensorMapDataType type, int element_bytes, const void *matrix,
                                    long long rows, long long columns, unsigned box_rows)
{
    return tma_map_rows(map, type, element_bytes, matrix, rows, columns, (size_t)(columns * element_bytes), box_rows);
}
