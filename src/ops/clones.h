// Several builds of one function in one program: on x86-64, whose baseline is SSE2, gcc also compiles a HEDDLE_CLONES
// function for AVX2 with FMA and for AVX-512, and the loader chooses. Elsewhere the baseline already has what we use.
#pragma once

// Not with clang, whose clones of static functions leave global symbols behind; and not with sanitizers, whose runtime
// is not ready when the loader chooses.
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&          \
    !defined(__SANITIZE_THREAD__)
#if __GNUC__ >= 12
// By what the processor can do. With the name of a processor, gcc's loader asks for that very model.
#define HEDDLE_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define HEDDLE_CLONES __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#endif
#else
#define HEDDLE_CLONES
#endif
