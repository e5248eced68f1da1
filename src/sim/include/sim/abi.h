// What the stand-in headers ask of the simulator's runtime: the only functions that compiled CUDA code calls besides
// the CUDA runtime API itself and the compiler's own access hooks (__tsan_*). Plain C, so that the runtime is C and
// only the headers are C++.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// clang may merge two calls of one function on two paths; a barrier merged with another is another barrier.
#if defined(__clang__)
#define SIM_CONVERGENT __attribute__((convergent, nomerge))
#else
#define SIM_CONVERGENT
#endif

typedef struct sim_dim {
    unsigned x, y, z;
} sim_dim;

// --- launching -------------------------------------------------------------------------------------------------------

typedef struct sim_config {
    sim_dim grid, block;
    size_t shared; // bytes of extern __shared__
    void *stream;  // a cudaStream_t
    int cooperative;
    int dependent; // may begin before the kernel before it in the stream has ended
} sim_config;

// A kernel with its arguments bound. `run` executes one CUDA thread; it is called for each, with the same closure.
typedef struct sim_kernel {
    const char *name;     // as written before <<<; lives as long as the program
    const void *function; // the kernel's address: attributes set with cudaFuncSetAttribute are found by it
    void (*run)(void *closure);
    void *closure; // on the heap; the runtime releases it when the last launch of it has ended
    size_t closure_bytes;
    void (*release)(void *closure);
    int own_memory; // SIM_OWN_...: where the first argument points that a kernel launched by a kernel cannot have
    int library;    // a call of a library, not code of the program: its loops end
} sim_kernel;

// Whether an address is in memory that the current thread of a kernel has for itself, or its block; in host code none
// is.
enum { SIM_OWN_NONE, SIM_OWN_SHARED, SIM_OWN_LOCAL };
int sim_own_memory(const volatile void *address);

// Returns a cudaError_t and sets the last error. `pc` names the launching line: pass __builtin_return_address(0) of a
// function that is not inlined, or 0 to have sim_launch take its own return address.
int sim_launch(const sim_config *config, const sim_kernel *kernel, const void *pc);
// Around the making of a kernel's closure, which is memory of the host: in a kernel that launches another, what is
// accessed meanwhile is the simulator's own. `pause` returns what `resume` takes.
void *sim_launch_pause(void);
void sim_launch_resume(void *paused);

// --- block barriers --------------------------------------------------------------------------------------------------

enum { SIM_BARRIER_PLAIN, SIM_BARRIER_COUNT, SIM_BARRIER_AND, SIM_BARRIER_OR };
SIM_CONVERGENT void sim_barrier(void);
SIM_CONVERGENT int sim_barrier_counting(int operation, int predicate);
SIM_CONVERGENT int sim_barrier_on_line(int number, int operation, int predicate); // the second, third, ... of its line
// bar.sync id, threads: `threads` of the block, a multiple of 32; 0 means all. Id 0 to 15; id 0 is __syncthreads'.
SIM_CONVERGENT void sim_barrier_named(int id, int threads);
SIM_CONVERGENT void sim_barrier_arrive(int id, int threads); // bar.arrive id, threads: goes on without waiting
SIM_CONVERGENT void sim_barrier_grid(void);                  // cooperative launches only

// --- programmatic dependent launch -----------------------------------------------------------------------------------

// The kernel before in the stream has ended, for the thread that calls this; the kernel after may begin.
void sim_dependency_wait(void);
void sim_dependency_trigger(void);

// --- warp collectives ------------------------------------------------------------------------------------------------

enum {
    SIM_SHUFFLE_INDEX,
    SIM_SHUFFLE_UP,
    SIM_SHUFFLE_DOWN,
    SIM_SHUFFLE_XOR, // argument: lane or delta; width 1..32
    SIM_BALLOT,
    SIM_ALL,
    SIM_ANY,
    SIM_MATCH_ANY,
    SIM_MATCH_ALL, // match_all: argument unused; 0 or the mask
    SIM_REDUCE_ADD,
    SIM_REDUCE_MIN,
    SIM_REDUCE_MAX, // unsigned 32 bit
    SIM_REDUCE_MIN_SIGNED,
    SIM_REDUCE_MAX_SIGNED,
    SIM_REDUCE_AND,
    SIM_REDUCE_OR,
    SIM_REDUCE_XOR,
};
// __syncwarp, the only one that orders memory. Two functions, so that a program that only ever meets in whole warps is
// known for one: the headers call sim_warp_sync_full where the mask is the constant 0xffffffff (__builtin_constant_p).
// Either file's constructor tells (SIM_USES_WARP_SYNC is set by sim_warp_sync alone).
SIM_CONVERGENT void sim_warp_sync(unsigned mask);
SIM_CONVERGENT void sim_warp_sync_full(void);
SIM_CONVERGENT uint64_t sim_warp(int operation, unsigned mask, uint64_t value, int argument, int width);
// A collective of any kind: the last lane of `mask` to arrive calls `function` once with every lane's argument
// (NULL for lanes outside the mask). Accesses made inside are not watched; announce them with sim_touch.
SIM_CONVERGENT void sim_warp_call(unsigned mask, void *argument, void (*function)(void **arguments, unsigned mask));
// So for a matrix instruction, which needs all 32 lanes of the warp: without one of them nothing is called.
SIM_CONVERGENT void sim_warp_matrix(void *argument, void (*function)(void **arguments, unsigned mask));
// The lanes that have reached this very call together with the caller, once no other lane of the warp can still join.
SIM_CONVERGENT unsigned sim_active_mask(void);

// --- memory ----------------------------------------------------------------------------------------------------------

enum { SIM_SCOPE_BLOCK, SIM_SCOPE_DEVICE, SIM_SCOPE_SYSTEM };
enum {
    SIM_ATOMIC_LOAD = 1,
    SIM_ATOMIC_STORE = 2,
    SIM_ATOMIC_UPDATE = 3,
    SIM_ATOMIC_ACQUIRE = 4,
    SIM_ATOMIC_RELEASE = 8,
    SIM_ATOMIC_REPLACE = 16, // an exchange: what was there does not matter where the result is not used
    SIM_ATOMIC_CONFIRM = 32, // decides by what it finds itself (CAS, min, max, and, or): a stale guess does no harm
    SIM_ATOMIC_COMMUTES = 64 // min, max, and, or: several of them give the same in every order
};
// Announces an atomic access, just before it is made. `what`: one of LOAD, STORE, UPDATE, with ACQUIRE or RELEASE where
// the operation itself orders (cuda::atomic); CUDA's own atomics are relaxed.
void sim_atomic(const volatile void *address, int bytes, int scope, int what);
void sim_ordering_atomic(const volatile void *address, int bytes, int scope, int what); // with ACQUIRE or RELEASE
#define SIM_ANY_ATOMIC(address, bytes, scope, what)                                                                    \
    ((what) & (SIM_ATOMIC_ACQUIRE | SIM_ATOMIC_RELEASE) ? sim_ordering_atomic(address, bytes, scope, what)             \
                                                        : sim_atomic(address, bytes, scope, what))
// The rewriter puts a call to this before an atomic whose result nobody uses: the next sim_atomic of this thread then
// reads nothing. Always returns 0.
int sim_discard(void);
// A compare-and-swap failed, a flag was not yet set, __nanosleep: others run before this thread goes on.
void sim_spin(void);
// The thread waits for a phase of a barrier in memory: others run. The end of a phase, or of its copies, lets all that
// wait in the block look again.
void sim_phase_waits(void);
void sim_phase_ended(void);
void sim_fence(int scope);
void sim_fence_sides(int scope, int sides); // SIM_ATOMIC_ACQUIRE, SIM_ATOMIC_RELEASE or both, as sim_fence does
// Announces accesses that the compiler's hooks cannot see (wmma loads, cp.async, ldmatrix). write: 0 or 1.
void sim_touch(const volatile void *address, size_t bytes, int write);

void sim_touch_texture(const volatile void *address, size_t bytes); // a read through the textures' cache

void *sim_device_malloc(size_t bytes); // malloc and new in a kernel; NULL when the device heap is full
void sim_device_free(void *memory);

// --- branches, in a program that counts divergent ones ---------------------------------------------------------------

// Each branch, loop and function of device code has a number, its place (sim/branches.h).
void sim_branch(uint64_t place, int way);                // the current thread goes this way
void sim_loop(uint64_t place, int taken, int is_branch); // before each iteration; not taken: the loop ends
void sim_enter(uint64_t place);                          // a function
void sim_leave(uint64_t place);                          // a function, or a loop by break

// --- other -----------------------------------------------------------------------------------------------------------

int sim_in_kernel(void);                // whether the caller runs as a CUDA thread
void sim_handled(const char *function); // the status of the call that follows is looked at
void sim_one_side(void);                // of this __host__ __device__ function only the path for device code was built
// printf in a kernel. `kinds`: what the arguments are, a letter for each.
enum {
    SIM_PRINTS_WORD = 'i', // an integer of up to 4 bytes
    SIM_PRINTS_LONG = 'l', // of 8
    SIM_PRINTS_DOUBLE = 'f',
    SIM_PRINTS_TEXT = 's',
    SIM_PRINTS_POINTER = 'p',
    SIM_PRINTS_OTHER = '?'
};
int sim_printf(const char *kinds, const char *format, ...);
void sim_assert_failed(const char *expression, const char *file, unsigned line, const char *function)
    __attribute__((noreturn));
int sim_divided_by_zero(void); // an integer: a finding at the caller's line; 0: in host code, which does as it does
void sim_trap(void) __attribute__((noreturn));
void sim_exit_thread(void) __attribute__((noreturn));
long long sim_clock(void);                // the SM's cycle counter: counts simulated steps, always rising
unsigned long long sim_time_ns(void);     // %globaltimer
unsigned sim_register_special(int which); // enum below
enum { SIM_LANE_ID, SIM_WARP_ID, SIM_SM_ID };
// A feature that is not simulated was used: a finding at the caller's line, and the kernel ends.
void sim_unsupported(const char *feature, const char *instead) __attribute__((noreturn));
// A texture or surface object that does not exist, an access outside of a surface: the same.
void sim_object_destroyed(const char *object) __attribute__((noreturn));
void sim_surface_outside(int x, int y, int z) __attribute__((noreturn));
void sim_fragment_unfilled(void); // one of wmma's is used as if it had been filled
// Where one is loaded from or stored to: reports addresses and leading dimensions that wmma does not take.
void sim_fragment_memory(const void *memory, unsigned leading_dimension, unsigned element_bytes, int write);
// The start of this block's dynamic shared memory and its size.
void *sim_dynamic_shared(void);
size_t sim_dynamic_shared_bytes(void);

#ifdef __cplusplus
}
#endif
