// CUDA's keywords for a host compiler. Almost all of them say nothing to it; __shared__ is thread-local storage,
// because a worker thread runs one block at a time. Keywords that cannot be macros are the rewriter's: __CUDA_ARCH__,
// defined in device code alone, and __noinline__, which the standard library writes inside __attribute__.
#pragma once

#if defined(SIM_WATCHED) // set by build/compiler.c, which hides the compiler's own macro from the program
#elif defined(__SANITIZE_THREAD__)
#define SIM_WATCHED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SIM_WATCHED 1
#endif
#endif
#ifndef SIM_WATCHED
#define SIM_WATCHED 0
#endif

// Every function of the stand-in headers: its accesses and calls belong to the line of the program that called it.
#define SIM_INLINE   inline __attribute__((always_inline))
#define SIM_NOINLINE __attribute__((noinline))
// Accesses made inside are the simulator's own. clang would still watch the atomics of a function with no_sanitize, and
// all of it once it is inlined.
#if !SIM_WATCHED
#define SIM_UNWATCHED
#elif defined(__clang__)
#define SIM_UNWATCHED __attribute__((disable_sanitizer_instrumentation, noinline))
#else
#define SIM_UNWATCHED __attribute__((__no_sanitize__("thread")))
#endif
// A program's own arrangements with a sanitizer are not about the simulated GPU.
#define no_sanitize(...)       unused
#define no_sanitize_thread     unused
#define __no_sanitize_thread__ unused

// What nvcc defines in every pass. SIM_CUDA_ARCH is what the rewriter puts for __CUDA_ARCH__ in device code.
#define __CUDACC__                   1
#define __NVCC__                     1
#define __CUDACC_VER_MAJOR__         13
#define __CUDACC_VER_MINOR__         0
#define __CUDACC_VER_BUILD__         88
#define __CUDACC_EXTENDED_LAMBDA__   1
#define __CUDACC_RELAXED_CONSTEXPR__ 1
#define __CUDA_ARCH_LIST__           900
#define __CUDA_API_VER_MAJOR__       13
#define __CUDA_API_VER_MINOR__       0
#define SIM_CUDA_ARCH                900

#define __host__
#define __device__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __block_size__(...)
#define __maxnreg__(...)
#define __local_maxnreg__(...)
#define __annotate__(...)
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define __nv_pure__   __attribute__((pure))
#define __no_return__ __attribute__((noreturn))
#define __inline_hint__
#define __thread__ __thread
#define __import__
#define __export__
#define __location__(...)
#define __specialization_static
#define __align__(n)         __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __forceinline__      __inline__ __attribute__((always_inline))
#ifndef CUDARTAPI
#define CUDARTAPI
#endif
#ifndef CUDARTAPI_CDECL
#define CUDARTAPI_CDECL
#endif
#ifndef CUDART_CB
#define CUDART_CB
#endif

// Of what a thread returns from when it ends. Between its start and its end other threads have run on other stacks, so
// a processor that predicts returns from the calls before them is wrong each time; core/fiber.c has a jump instead.
#if defined(__x86_64__) && __has_attribute(function_return)
#define SIM_ENDS_THREAD function_return("thunk-extern")
#else
#define SIM_ENDS_THREAD unused
#endif

// A kernel keeps its own frame and name, so that reports can tell it from what launched it.
// Watched by gcc, what it calls is put into it: a structure that a call returns in registers and that goes straight to
// memory (`out[i] = f(i)`) would be stored unseen.
#if defined(__clang__)
#define __global__ __attribute__((noinline, SIM_ENDS_THREAD))
#elif SIM_WATCHED
#define __global__ __attribute__((noinline, noclone, flatten, SIM_ENDS_THREAD))
#else
#define __global__ __attribute__((noinline, noclone, SIM_ENDS_THREAD))
#endif

// The rewriter marks the card's variables with these: from __start_sim_device to __stop_sim_device the memory of the
// program is the card's. __constant__ ones, which kernels cannot write, and __managed__ ones, which are the host's as
// well, have sections of their own.
#define SIM_DEVICE_VARIABLE   __attribute__((section("sim_device")))
#define SIM_CONSTANT_VARIABLE __attribute__((section("sim_constant")))
#define SIM_MANAGED_VARIABLE  __attribute__((section("sim_managed")))
// Static variables of device functions have a tag in their names instead, which only C++ has.
#if defined(__cplusplus)
#define SIM_DEVICE_STATIC   __attribute__((abi_tag("sim_device")))
#define SIM_CONSTANT_STATIC __attribute__((abi_tag("sim_constant")))
#else
#define SIM_DEVICE_STATIC
#define SIM_CONSTANT_STATIC
#endif

// At block scope thread_local means static, and `extern thread_local T name[]` is C++ as well: one macro serves all
// forms of __shared__. Nothing is ever initialised when a thread starts; gcc is told so by -fno-extern-tls-init, clang,
// which has no such flag, by the rewriter, which writes the older keyword for what is extern.
#if defined(__cplusplus)
#define __shared__ thread_local
#else
#define __shared__ _Thread_local
#endif
// Where it sees the whole declaration, the rewriter writes these: they have no guard that says whether a variable was
// constructed, which would be shared memory that no program asked for. Types that do need it, because they have an
// empty constructor, are compiled again with thread_local.
#if defined(__clang__) && SIM_WATCHED
// Kept whole: clang would make several small variables of one.
#define SIM_SHARED_STATIC __attribute__((require_constant_initialization, used)) thread_local
#elif defined(__clang__)
#define SIM_SHARED_STATIC __attribute__((require_constant_initialization)) thread_local
#elif defined(__cplusplus)
#define SIM_SHARED_STATIC __constinit thread_local
#else
#define SIM_SHARED_STATIC __thread
#endif
#define SIM_SHARED        static SIM_SHARED_STATIC
#define SIM_SHARED_EXTERN __thread

#if !defined(__clang__)
#define __builtin_assume(condition) ((condition) ? (void)0 : __builtin_unreachable())
#endif
#define __assume(condition)                               __builtin_assume(condition)
#define __nv_associate_access_property(pointer, property) (pointer)
