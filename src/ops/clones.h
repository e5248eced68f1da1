// Several builds of one function for one program: on x86-64, whose baseline is SSE2, a HEDDLE_CLONES function is
// compiled also for AVX2 with FMA and for AVX-512, and the loader picks. Elsewhere the baseline already has what we use.
#ifndef HEDDLE_OPS_CLONES_H
#define HEDDLE_OPS_CLONES_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HEDDLE_SANITIZED 1
#endif
#endif

// The loader picks before a sanitizer's runtime is ready, so sanitized builds keep the baseline.
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) &&  \
    !defined(HEDDLE_SANITIZED)
#define HEDDLE_CLONES __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define HEDDLE_CLONES
#endif

#endif
