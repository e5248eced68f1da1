// What the rewriter makes of each piece of CUDA that is not C++, and what it leaves alone. Marks of calls whose status
// is looked at are in test_handled.c.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rewritten.h"

#define KERNEL   "__global__ void k(int *p);\n"
#define TEMPLATE "template <class T, int N> __global__ void t(T *p) {}\n"

static void a_launch_becomes_a_call(void **state)
{
    (void)state;
    becomes(KERNEL "void f() { k<<<1, 2>>>(p); }", KERNEL "void f() { SIM_LAUNCH_POINTER((k), (1, 2))(p); }");
    becomes(KERNEL "void f() { if (x) k<<<g, b, 0, s>>>(p); }",
            KERNEL "void f() { if (x) SIM_LAUNCH_POINTER((k), (g, b, 0, s))(p); }");
    becomes("void f() { k << <1, 2>> >(p); }", "void f() { SIM_LAUNCH_POINTER((k ), (1, 2))(p); }");
    becomes("void f() { k <<< dim3(1), 2 >>> (p); }", "void f() { SIM_LAUNCH_POINTER((k ), ( dim3(1), 2 )) (p); }");
}

static void further_barriers_of_a_line_are_numbered(void **state)
{
    (void)state;
    becomes("__global__ void k() { if (x) __syncthreads(); else __syncthreads(); }",
            "__global__ void k() { if (x) __syncthreads(); else sim_syncthreads_at<2>(); }");
    becomes("__device__ int f() { __syncthreads(); n = __syncthreads_count(1) + __syncthreads_or(0);\n"
            "__syncthreads_and(1); return n; }",
            "__device__ int f() { __syncthreads(); n = sim_syncthreads_count_at<2>(1) + "
            "sim_syncthreads_or_at<3>(0);\n__syncthreads_and(1); return n; }");
    stays("__global__ void k() { __syncthreads();\n__syncthreads(); }");
    stays("__global__ void k() { __syncthreads(); own::__syncthreads(); \"__syncthreads()\"; }");
}

static void a_fragment_without_a_value_is_told_of(void **state)
{
    (void)state;
    becomes("__global__ void k() { wmma::fragment<A, 16, half> a; }",
            "__global__ void k() { wmma::fragment<A, 16, half> a; ::sim::unfilled(a); }");
    becomes("__device__ void f() { for (;;) { fragment<A> a, b[2][N + 1]; } }",
            "__device__ void f() { for (;;) { fragment<A> a, b[2][N + 1]; ::sim::unfilled(a); ::sim::unfilled(b); } }");
    becomes("using sum = wmma::fragment<A>; __device__ void f() { sum a[2]; sum b{}; g(sum()); }",
            "using sum = wmma::fragment<A>; __device__ void f() { sum a[2]; ::sim::unfilled(a); sum b{}; g(sum()); }");
    becomes("__device__ void f() { typedef fragment<A> t; t a; }",
            "__device__ void f() { typedef fragment<A> t; t a; ::sim::unfilled(a); }");
    stays("__device__ void f() { fragment<A> a = {}, b; }");
    stays("__device__ void f() { fragment<A> a{}; fragment<A> b(c); const fragment<A> &c = a; }");
    stays("__device__ void f(fragment<A> a) { struct s { fragment<A> a; }; using t = fragment<A>; fragment = a; }");
    stays("__device__ void f() { for (fragment<A> a; i < 2; i++) g<fragment<A>>(fragment<A>()); }");
    stays("template <class T> struct s { fragment<A> a; }; void host() { fragment<A> a; }");
}

static void any_callee_is_taken_whole(void **state)
{
    (void)state;
    becomes("void f() { ::k<<<1, 2>>>(); }", "void f() { SIM_LAUNCH_POINTER((::k), (1, 2))(); }");
    becomes("void f() { a::b::k<<<1, 2>>>(); }", "void f() { SIM_LAUNCH_POINTER((a::b::k), (1, 2))(); }");
    becomes("void f() { X<int>::k<<<1, 2>>>(); }", "void f() { SIM_LAUNCH_POINTER((X<int>::k), (1, 2))(); }");
    becomes("void f() { (*table[i])<<<1, 2>>>(); }", "void f() { SIM_LAUNCH_POINTER(((*table[i])), (1, 2))(); }");
    becomes("void f() { table[i]<<<1, 2>>>(); }", "void f() { SIM_LAUNCH_POINTER((table[i]), (1, 2))(); }");
    becomes("void f() { o.m->k<<<1, 2>>>(); }", "void f() { SIM_LAUNCH_POINTER((o.m->k), (1, 2))(); }");
    becomes("void f() { if (a) (k)<<<1, 2>>>(); }", "void f() { if (a) SIM_LAUNCH_POINTER(((k)), (1, 2))(); }");
    becomes("void f() { return g<int>()<<<1, 2>>>(); }",
            "void f() { return SIM_LAUNCH_POINTER((g<int>()), (1, 2))(); }");
}

static void template_arguments_may_end_in_angles(void **state)
{
    (void)state;
    becomes(TEMPLATE "void f() { t<int, 4><<<1, 2>>>(p); }",
            TEMPLATE "void f() { SIM_LAUNCH_CALL((t<int, 4>), (1, 2))(p); }");
    becomes(TEMPLATE "void f() { t<V<V<int>>, (a > b)><<<1, 2>>>(p); }",
            TEMPLATE "void f() { SIM_LAUNCH_CALL((t<V<V<int>>, (a > b)>), (1, 2))(p); }");
    becomes("void f() { k<<<A<B<C>>>::n, d<4>(n)>>>(p); }",
            "void f() { SIM_LAUNCH_POINTER((k), (A<B<C>>>::n, d<4>(n)))(p); }");
    becomes("void f() { k<<<1, 8 >> 1>>>(p); }", "void f() { SIM_LAUNCH_POINTER((k), (1, 8 >> 1))(p); }");
}

static void names_that_are_no_single_function_are_called(void **state)
{
    (void)state;
    becomes(
        "__global__ void o(int a) {}\n__global__ void o(float a) {}\nvoid f() { o<<<1, 2>>>(1); }",
        "__global__ void o(int a) {}\n__global__ void o(float a) {}\nvoid f() { SIM_LAUNCH_CALL((o), (1, 2))(1); }");
    becomes("__global__ void d(int a, int b = 2) {}\nvoid f() { d<<<1, 2>>>(1); }",
            "__global__ void d(int a, int b = 2) {}\nvoid f() { SIM_LAUNCH_CALL((d), (1, 2))(1); }");
    // A declaration and its definition are one function, whatever its parameters are called.
    becomes("__global__ void o(const int *, float x);\n__global__ void o(const int *a, float y) {}\n"
            "void f() { o<<<1, 2>>>(1); }",
            "__global__ void o(const int *, float x);\n__global__ void o(const int *a, float y) {}\n"
            "void f() { SIM_LAUNCH_POINTER((o), (1, 2))(1); }");
}

static void launches_in_macros_are_rewritten(void **state)
{
    (void)state;
    becomes("#define RUN k<<<1, 2>>>(p)\n", "#define RUN SIM_LAUNCH_POINTER((k), (1, 2))(p)\n");
    becomes("#define RUN(k, ...) k<<<1, \\\n  2>>>(__VA_ARGS__)\n",
            "#define RUN(k, ...) SIM_LAUNCH_CALL((k), (1, \\\n  2))(__VA_ARGS__)\n");
    becomes("#define RUN(n) n##_kernel<<<1, 2>>>()\n", "#define RUN(n) SIM_LAUNCH_POINTER((n##_kernel), (1, 2))()\n");
}

static void what_only_looks_like_a_launch_stays(void **state)
{
    (void)state;
    stays("const char *s = \"k<<<1, 2>>>(p)\"; // k<<<1, 2>>>(p)\n/* k<<<1, 2>>>(p) */\n");
    stays("const char *s = R\"x(k<<<1, 2>>>(p) )\" )x\";\n");
    stays("std::ostream &operator<< <char>(std::ostream &);\n");
    stays("int x = 1'000'000 << 3 >> 2;\nchar c = '\"', d = '\\'';\n");
    stays("std::vector<std::vector<std::vector<int>>> v;\n");
}

static void a_launch_in_a_kernel_is_one_like_any_other(void **state)
{
    (void)state;
    char *result = rewritten("__global__ void k() {\n    k<<<1, 2>>>();\n}\n");
    assert_non_null(strstr(result, "\n    SIM_LAUNCH_POINTER((k), (1, 2))();"));
    free(result);
}

static void shifts_by_variables_say_so(void **state)
{
    (void)state;
    becomes("__device__ int f() { return a << b >> (c); }", "__device__ int f() { return a <<sim_gpu<< b >> (c); }");
    becomes("__device__ int f() { return a >> b; }", "__device__ int f() { return a >>sim_gpu>> b; }");
    becomes("__device__ int f() { return a << 2 * b; }", "__device__ int f() { return a <<sim_gpu<< 2 * b; }");
    stays("__device__ int f() { return (a << 3) + (b >> 31); }");
    becomes("__device__ void f() { box<box<int>> a; a <<= b; cells >>= b; a <<= 3; }",
            "__device__ void f() { box<box<int>> a; a <<=sim_gpu= b; cells >>=sim_gpu= b; a <<= 3; }");
    stays("__host__ __device__ int f() { return a << b; }");
    stays("struct s { __device__ s operator<<(int) const; };");
}

static void divisions_by_variables_say_so(void **state)
{
    (void)state;
    becomes("__device__ int f() { return a / b % -c; }", "__device__ int f() { return a /sim_gpu/ b %sim_gpu% -c; }");
    becomes("__device__ void f() { a /= b; c[i] %= *d; }",
            "__device__ void f() { a /=sim_gpu= b; c[i] %=sim_gpu= *d; }");
    becomes("__host__ __device__ int f() { return a / 2 * b / 0; }",
            "__host__ __device__ int f() { return a / 2 * b /sim_gpu/ 0; }");
    becomes("#define UP(a, b) (((a) + (b) - 1) / (b))\n", "#define UP(a, b) (((a) + (b) - 1) /sim_gpu/ (b))\n");
    stays("void f() { return a / b; }");
    stays("#define HALF (a / b)\n#define PART(a) (a / b)\n#if PART(4) > 2\n#endif\n");
    stays("struct s { unsigned n : 3; }; __device__ void f(s *a) { a->n /= b; a->n /= 2; }");
    stays("struct s { __device__ s operator/(int) const; };");
}

static void conversions_to_integers_say_so(void **state)
{
    (void)state;
    becomes("__device__ int f() { return (int)x + (float)(unsigned char)y; }",
            "__device__ int f() { return ~(sim::cast<int>)x + (float)~(sim::cast<unsigned char>)y; }");
    becomes("__device__ int f() { return i < int(x) + static_cast<long long>(y); }",
            "__device__ int f() { return i < sim::converted<int>(x) + sim::converted<long long>(y); }");
    becomes("__device__ void f() { const unsigned int a = x, b = 3; for (int i = y; i < a; i++) g(i); }",
            "__device__ void f() { const unsigned int a = sim::to<unsigned int>() = x, b = 3; "
            "for (int i = sim::to<int>() = y; i < a; i++) g(i); }");
    becomes("__device__ long f() { return lrintf(x) + ::lround(x); }",
            "__device__ long f() { return sim::nearest(x) + ::lround(x); }");
    stays("__device__ void f() { int i = blockIdx.x * blockDim.x + threadIdx.x, *p = q, r[] = {1}, s; }");
    stays("__device__ void f() { int (*g)(int) = h; box<int(float)> b; auto l = [](int) { return sizeof(int); }; }");
    stays("__device__ void f() { constexpr int a = x; static const int b = y; int c{z}; int d(z); (int)3; }");
    stays("void f() { int i = x; i = (int)y + int(z); }");
}

static void a_result_that_is_stored_is_a_value_first(void **state)
{
    (void)state;
    becomes("__device__ void k() { s[i] = f(i); *p = g<int>(i); q->x = c ? f(i) : T{1}; if (c) v = f(i); }",
            "__device__ void k() { s[i] = ::sim::stored() = f(i); *p = ::sim::stored() = g<int>(i); "
            "q->x = ::sim::stored() = c ? f(i) : T{1}; if (c) v = ::sim::stored() = f(i); }");
    becomes("__device__ V operator+(V, V); __device__ void k() { s[i][j] = a + b; at(i) = -a; a.v=table[i](j); }",
            "__device__ V operator+(V, V); __device__ void k() { s[i][j] = ::sim::stored() = a + b; "
            "at(i) = ::sim::stored() = -a; a.v= ::sim::stored() =table[i](j); }");
    becomes("__device__ V __f(int); __device__ void k() { s[i] = __f(i) + __g(i); s[j] = __g(i); }",
            "__device__ V __f(int); __device__ void k() { s[i] = ::sim::stored() = __f(i) + __g(i); s[j] = __g(i); }");
    becomes("__device__ void k() { s[i] = f<T, 4>(i); *p++ = f(i); n::x = f(i); s[j] = b<V, 2>{1}; }",
            "__device__ void k() { s[i] = ::sim::stored() = f<T, 4>(i); *p++ = ::sim::stored() = f(i); "
            "n::x = ::sim::stored() = f(i); s[j] = ::sim::stored() = b<V, 2>{1}; }");
    becomes("struct M { V operator[](int) const; }; __device__ void k() { s[i] = m[i]; s[i] = x; f = [=] { g(); }; }",
            "struct M { V operator[](int) const; }; __device__ void k() { s[i] = ::sim::stored() = m[i]; s[i] = x; "
            "f = [=] { g(); }; }");
    stays("__device__ void k() { s[i] = a[i]; s[i] = a + b; v = {f(i)}; v = sizeof(x); s[i] == f(i); s[i] += f(i); }");
    stays("__device__ void k() { n::T v = f(i), w = f(j); s[i] = a < b; s[i] = a < b, c; T &r = f(i); T *p = f(i); "
          "const auto &t = f(i); }");
    stays("__device__ void k() { auto [a, b] = f(i); auto &[c, d] = f(i); T t = {.x = f(i), .y = f(j)}; }");
    stays("__device__ void k() { using T = decltype(f(i)); T v __attribute__((unused)) = f(i); }");
    stays("__device__ int k(int a = f(1), int b = f(2)); void host() { s[i] = f(i); }");
}

static void copies_by_builtins_become_calls(void **state)
{
    (void)state;
    becomes("__device__ void f() { if (a) { __builtin_memcpy(p, q, 12); } }",
            "__device__ void f() { if (a) { memcpy(p, q, 12); } }");
    stays("void f() { __builtin_memcpy(p, q, 12); }");
    stays("constexpr __device__ void f() { __builtin_memset(p, 0, 12); }");
}

static void an_atomic_without_use_of_its_result_says_so(void **state)
{
    (void)state;
    becomes("__device__ void f() { atomicAdd(p, 1); }", "__device__ void f() { sim_discard(), atomicAdd(p, 1); }");
    becomes(
        "__device__ void f() { if (a) atomicMax_block(p, 1); else ::atomicMin(p, 1); }",
        "__device__ void f() { if (a) sim_discard(), atomicMax_block(p, 1); else sim_discard(), ::atomicMin(p, 1); }");
    becomes("__device__ void f() { (void)atomicExch(p, 1); }",
            "__device__ void f() { sim_discard(), (void)atomicExch(p, 1); }");
    becomes("__device__ void f() { switch (a) { case 1: atomicOr(p, 1); } }",
            "__device__ void f() { switch (a) { case 1: sim_discard(), atomicOr(p, 1); } }");
    stays("__device__ int f() { a = atomicAdd(p, 1); b = a ? 1 : atomicAdd(p, 1); return atomicAdd(p, 1); }");
    stays("__device__ void f() { while (atomicCAS(p, 0, 1) != 0) ; atomicCAS(p, 1, 0); }");
    // The user's own atomic is not CUDA's.
    stays("__device__ double atomicAdd(double *p, double x) { return 0; }\n__device__ void f() { atomicAdd(p, 1.0); }");
}

static void variables_of_the_device_are_marked(void **state)
{
    (void)state;
    becomes("__device__ int a, b[4];\n", "SIM_DEVICE_VARIABLE __device__ int a, b[4];\n");
    becomes("static __constant__ float c[4] = {1};\n", "SIM_CONSTANT_VARIABLE static __constant__ float c[4] = {1};\n");
    becomes("__constant__ struct params p;\n", "SIM_CONSTANT_VARIABLE __constant__ struct params p;\n");
    becomes("__device__ struct n::P q[4];\n", "SIM_DEVICE_VARIABLE __device__ struct n::P q[4];\n");
    becomes("__managed__ struct { int a; } s;\n", "SIM_MANAGED_VARIABLE __managed__ struct { int a; } s;\n");
    becomes("__device__ enum class E : int { RED } e;\n",
            "SIM_DEVICE_VARIABLE __device__ enum class E : int { RED } e;\n");
    stays("struct P;\n__device__ struct P make(int);\n__device__ struct Q;\n");
    becomes("__managed__ const float *p;\n", "SIM_MANAGED_VARIABLE __managed__ const float *p;\n");
    becomes("namespace n {\n__device__ float (*f)(float);\n}\n",
            "namespace n {\nSIM_DEVICE_VARIABLE __device__ float (*f)(float);\n}\n");
    becomes("__device__ P p(4), q(-1);\n", "SIM_DEVICE_VARIABLE __device__ P p(4), q(-1);\n");
    becomes("__constant__ n::P p(n::size / 2, 3);\n", "SIM_CONSTANT_VARIABLE __constant__ n::P p(n::size / 2, 3);\n");
    becomes("__device__ P p(twice(3), 4);\n", "SIM_DEVICE_VARIABLE __device__ P p(twice(3), 4);\n");
    becomes("__device__ P p(n::most<T<int>>(), 4);\n", "SIM_DEVICE_VARIABLE __device__ P p(n::most<T<int>>(), 4);\n");
    becomes("__device__ P p(P{3}), q(float(2));\n", "SIM_DEVICE_VARIABLE __device__ P p(P{3}), q(float(2));\n");
    stays("__device__ P f(n::T (&a)[4]);\n__device__ P f(T (*g)(T));\n__device__ P f(T (n::P::*member)(int));\n");
    stays("__device__ P f(A<T<int>> (&a)[4]);\n__device__ P f(ALIGNED(16) float x);\n__device__ P f(int(x));\n");
    stays("__device__ P f(n::T);\n__device__ P f(T x = 3);\ntemplate <class... T> __device__ P f(T... x);\n");
    stays("__device__ P::P(int x) : a(4) { a = x; }\n__device__ P f(float (*g)(float));\n");
    stays("__device__ const int a = 3;\nconstexpr __device__ int b = 3;\nextern __device__ int c;\n");
    stays("__device__ int f(int x);\n__device__ int g(int x) { auto y = x; return y; }\n");
    stays("template <class T> __device__ T v;\n");
}

static void alignment_comes_first(void **state)
{
    (void)state;
    becomes("__global__ void k() { __shared__ alignas(16) float s[4]; }",
            "__global__ void k() { alignas(16) SIM_SHARED  float s[4]; }");
    becomes("__global__ void k() { extern __shared__ alignas(T) char s[]; }",
            "__global__ void k() { alignas(T) extern SIM_SHARED_EXTERN  char s[]; }");
    becomes("struct alignas(16) X { int a; };\nalignas(16) __shared__ int x;\n",
            "struct alignas(16) X { int a; };\nalignas(16) SIM_SHARED int x;\n");
}

static void the_architecture_is_known_in_device_code_alone(void **state)
{
    (void)state;
    becomes("__device__ void f() {\n#if __CUDA_ARCH__ >= 700\n#elif defined(__CUDA_ARCH__)\n#endif\n}\n",
            "__device__ void f() {\n#if SIM_CUDA_ARCH >= 700\n#elif defined(SIM_CUDA_ARCH)\n#endif\n}\n");
    becomes("#if __CUDA_ARCH__ < 600\n__device__ double f(double x) { return x; }\n#endif\n",
            "#if SIM_CUDA_ARCH < 600\n__device__ double f(double x) { return x; }\n#endif\n");
    becomes("__global__ void k() { if (__CUDA_ARCH__ > 1) return; }",
            "__global__ void k() { if (SIM_CUDA_ARCH > 1) return; }");
    stays("void f() {\n#ifdef __CUDA_ARCH__\n    return;\n#endif\n}\n");
    stays("#ifndef __CUDA_ARCH__\nvoid f() {}\n#endif\n");
}

static void a_function_of_both_sides_asks_when_it_runs(void **state)
{
    (void)state;
    becomes(
        "__host__ __device__ int f() {\n#ifdef __CUDA_ARCH__\n    return 1;\n#else // host\n    g(2); return "
        "2;\n#endif\n}\n",
        "__host__ __device__ int f() {\nif (sim_in_kernel()) {\n    return 1;\n} else {\n    g(2); return 2;\n}\n}\n");
    becomes("__host__ __device__ void f() {\n#if !defined(__CUDA_ARCH__)\n    g();\n#endif\n}\n",
            "__host__ __device__ void f() {\nif (!sim_in_kernel()) {\n    g();\n}\n}\n");
    // A name that is used afterwards, half a statement, a version: these are decided when compiling, which is told.
    becomes("__host__ __device__ int f() {\n#ifdef __CUDA_ARCH__\n    int x = 1;\n#else\n    int x = 2;\n#endif\n "
            "return x; }\n",
            "__host__ __device__ int f() {sim_one_side();\n#ifdef SIM_CUDA_ARCH\n    int x = 1;\n#else\n    int x = "
            "2;\n#endif\n "
            "return x; }\n");
    becomes("__host__ __device__ int f() {\n return 1 +\n#ifdef __CUDA_ARCH__\n    2;\n#else\n    3;\n#endif\n}\n",
            "__host__ __device__ int f() {sim_one_side();\n return 1 +\n#ifdef SIM_CUDA_ARCH\n    2;\n#else\n    "
            "3;\n#endif\n}\n");
    becomes("__host__ __device__ int f() {\n#if __CUDA_ARCH__ >= 700\n    g();\n#endif\n}\n",
            "__host__ __device__ int f() {sim_one_side();\n#if SIM_CUDA_ARCH >= 700\n    g();\n#endif\n}\n");
}

static void calls_in_device_code_are_the_kernels_own(void **state)
{
    (void)state;
    becomes("__global__ void k() { printf(\"a\"); free(malloc(4)); clock(); }",
            "__global__ void k() { SIM_PRINTF(\"a\"); sim_kernel_free(sim_kernel_malloc(4)); sim_kernel_clock(); }");
    becomes("__device__ void f() { int *p = new int[4]; delete[] p; delete q; new (p) int; }",
            "__device__ void f() { int *p = new (sim::heap) int[4]; sim::heap_delete_array % p; sim::heap_delete % q; "
            "new (p) int; }");
    becomes("auto l = [=] __device__ (int i) { printf(\"a\"); };",
            "auto l = [=] __device__ (int i) { SIM_PRINTF(\"a\"); };");
    becomes("#define HD __host__ __device__\nHD void f() { printf(\"a\"); }",
            "#define HD __host__ __device__\nHD void f() { SIM_PRINTF(\"a\"); }");
    stays("void f() { printf(\"a\"); int *p = new int; delete p; }");
    stays("__device__ void f() { a.printf(1); b->free(2); std::malloc(3); }\nstruct X { X(const X &) = delete; };");
}

static void the_address_of_a_kernel_keeps_its_type(void **state)
{
    (void)state;
    becomes(KERNEL "void f() { g((void *)k, (const void *)&k); }",
            KERNEL "void f() { g(sim::kernel_address->*k, sim::kernel_address->*&k); }");
    stays("void f() { g((void *)pointer); }");
}

static void noinline_is_a_keyword_outside_attributes(void **state)
{
    (void)state;
    becomes("__noinline__ __device__ void f();", "SIM_NOINLINE __device__ void f();");
    stays("__attribute__((__noinline__)) void f();");
}

static void shared_variables_need_no_constructor(void **state)
{
    (void)state;
    becomes("__global__ void k() { extern __shared__ float s[]; }",
            "__global__ void k() { extern SIM_SHARED_EXTERN float s[]; }");
    becomes("extern volatile __align__(16) __shared__ char s[];",
            "extern volatile __align__(16) SIM_SHARED_EXTERN char s[];");
    becomes("#define SHARED(T) extern __shared__ T\n", "#define SHARED(T) extern SIM_SHARED_EXTERN T\n");
    becomes("__global__ void k() { __shared__ T s[4]; static __shared__ int n; volatile __shared__ int v; }",
            "__global__ void k() { SIM_SHARED T s[4]; static SIM_SHARED_STATIC int n; volatile SIM_SHARED int v; }");
    becomes("extern \"C\" { __shared__ int x; }\n", "extern \"C\" { SIM_SHARED int x; }\n");
    stays("#define SHARED __shared__\n__shared__ static int x;\n");
}

static void both_branches_of_a_conditional_are_seen(void **state)
{
    (void)state;
    becomes("#ifdef A\n__global__ void k(int a) {\n#else\n__global__ void k() {\n#endif\n    printf(\"a\");\n}\n"
            "void f() { printf(\"b\"); }\n",
            "#ifdef A\n__global__ void k(int a) {\n#else\n__global__ void k() {\n#endif\n    SIM_PRINTF(\"a\");\n}\n"
            "void f() { printf(\"b\"); }\n");
}

static void constructors_and_classes_do_not_confuse_scopes(void **state)
{
    (void)state;
    becomes(
        "struct X { int a, b; __device__ X(int i) : a{i}, b{i} { printf(\"a\"); } void h() { printf(\"b\"); } };",
        "struct X { int a, b; __device__ X(int i) : a{i}, b{i} { SIM_PRINTF(\"a\"); } void h() { printf(\"b\"); } };");
    becomes("struct __align__(8) X { public: __device__ int g() const { printf(\"a\"); return 1; } };",
            "struct __align__(8) X { public: __device__ int g() const { SIM_PRINTF(\"a\"); return 1; } };");
}

static int lines_of(const char *text)
{
    int lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

static void a_cast_of_a_variable_hides_its_address(void **state)
{
    (void)state;
#define BYTES "__shared__ char c[8];\n"
#define MADE  "SIM_SHARED char c[8];\n"
    becomes("__global__ void k() { " BYTES "*(int *)(c + 1) = 1; }",
            "__global__ void k() { " MADE "*~(sim::hidden<int *>)(c + 1) = 1; }");
    becomes("__global__ void k() { " BYTES "f((const int *)&c[4], reinterpret_cast<n::v<2> *>(c)[1]); }",
            "__global__ void k() { " MADE
            "f(~(sim::hidden<const int *>)&c[4], sim::hide(reinterpret_cast<n::v<2> *>(c))[1]); }");
    becomes("__global__ void k() { " BYTES "char *p = c + 1; int *q = (int *)p; }",
            "__global__ void k() { " MADE "char *p = c + 1; int *q = ~(sim::hidden<int *>)p; }");
    becomes("__device__ float g[4], *h;\n__device__ int f(float *) { return *(int *)g + *(int *)(h + 1); }",
            "SIM_DEVICE_VARIABLE __device__ float g[4], *h;\n__device__ int f(float *) { return "
            "*~(sim::hidden<int *>)g + *~(sim::hidden<int *>)(h + 1); }");
    becomes("__global__ void k() { " BYTES "auto n = sizeof(char *) + f(int *(c)); g((int *)p, (float)c[1]); }",
            "__global__ void k() { " MADE "auto n = sizeof(char *) + f(int *(c)); g((int *)p, (float)c[1]); }");
    stays("__global__ void k(char *c) { *(int *)(c + 1) = 1; }");
#undef BYTES
#undef MADE
}

static void every_line_stays_where_it_was(void **state)
{
    (void)state;
    const char *text = "#define A(k) \\\n  k<<<1, \\\n 2 \\\n >>>(1)\n"
                       "__device__ void f() {\n  asm volatile(\"membar.gl;\"\n   :\n   :\n   : \"memory\");\n}\n"
                       "void g() {\n  k<<<\n   1,\n   2\n  >>>(\n   p);\n int end; }\n"
                       "#define B asm volatile(\"mov.u32 %0, 1;\" \\\n  : \"=r\"(x))\n"
                       "int last;\n";
    char *result = rewritten(text);
    assert_int_equal(lines_of(result), lines_of(text));
    const char *last = strstr(text, "int last;"), *last_after = strstr(result, "int last;");
    assert_non_null(last_after);
    char *before = strndup(text, (size_t)(last - text)), *after = strndup(result, (size_t)(last_after - result));
    assert_int_equal(lines_of(before), lines_of(after));
    // A macro's lines stay joined, or its end would become code.
    assert_non_null(strstr(result, "sim::ptx_set(x, (unsigned int)(sim::ptx_get<unsigned int>(1))) \\\n"));
    free(before);
    free(after);
    free(result);
}

static void a_kernel_that_returns_something_is_an_error_where_it_is_declared(void **state)
{
    (void)state;
#define REFUSAL "_Pragma(\"GCC error \\\"a __global__ function must return void\\\"\") "
    becomes("__global__ int k();\nvoid f() { k<<<1, 2>>>(); }",
            REFUSAL "__global__ int k();\nvoid f() { SIM_LAUNCH_REFUSED((k), (1, 2))(); }");
    becomes("template <int N> static __global__ __launch_bounds__(N) void *k() {}",
            REFUSAL "template <int N> static __global__ __launch_bounds__(N) void *k() {}");
    stays("template <int N> __global__ __launch_bounds__(int(N)) void k(int a, float *b) {}");
    stays("template <class T> __global__ std::enable_if_t<sizeof(int) == 4, void> k(T *a) {}");
    stays("int a; __global__ void k(int *);");
    stays("struct S { int a; static __device__ int b(); }; __global__ VOID k(int *);");
}

static void the_bounds_of_a_kernel_are_told_behind_its_body(void **state)
{
    (void)state;
#define TOLD(kernel, bound)                                                                                            \
    " static const int sim_bound_of_" kernel " __attribute__((unused)) = sim_launch_bound((const void *)&" kernel      \
    ", (unsigned)(" bound "));"
    becomes("__global__ void __launch_bounds__(64) k(int *a) { if (a) { } } int b;",
            "__global__ void __launch_bounds__(64) k(int *a) { if (a) { } }" TOLD("k", "64") " int b;");
    becomes("namespace n { static __launch_bounds__(f(1, 2) * M, 4) __global__ void k()\n{\n} }",
            "namespace n { static __launch_bounds__(f(1, 2) * M, 4) __global__ void k()\n{\n}" TOLD(
                "k", "f(1, 2) * M") " }");
    stays("__global__ void __launch_bounds__(64) k(int *a);");
    stays("__global__ void k(int *a) {}");
    stays("template <int N> __global__ void __launch_bounds__(N) k(int *a) {}");
    stays("__global__ void __launch_bounds__(s<1, 2>::n) k(int *a) {}");
    stays("__global__ void __launch_bounds__(8) k(int *a) {} __global__ void k(float *a) {}");
    stays("__global__ void __launch_bounds__() k(int *a) {}");
}

static void broken_source_is_left_to_the_compiler(void **state)
{
    (void)state;
    stays("k<<<1, 2");
    stays("<<<1>>>()");
    stays("void f() { \"open\n k }");
    stays("R\"(");
    stays("#define");
    stays("asm(");
    stays("/* open");
    stays("}}}})))]]]");
    stays("");
}

#define CAST "template <class T> struct c { int x; template <int n> static __device__ T f(T a) { return a + n; } };\n"

static void member_templates_are_called_with_the_word_template(void **state)
{
    (void)state;
    becomes(CAST "template <class T> __device__ T g(T a, c<T> *p) { return c<T>::f<3>(a) + p->f<1>(a) + p->x; }",
            CAST "template <class T> __device__ T g(T a, c<T> *p) { return c<T>::template f<3>(a) + p->template "
                 "f<1>(a) + p->x; }");
    stays(CAST "template <class T> __device__ T g(T a) { return c<T>::template f<3>(a); }");
    stays(CAST "template <class T> __device__ bool g(c<T> a, int f) { return a.x < 3 && f > (4); }");
    stays(CAST "template <class T> T g(T a) { return c<T>::f<3>(a); }"); // nvcc refuses that, too
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launch_becomes_a_call),
        cmocka_unit_test(further_barriers_of_a_line_are_numbered),
        cmocka_unit_test(any_callee_is_taken_whole),
        cmocka_unit_test(a_fragment_without_a_value_is_told_of),
        cmocka_unit_test(template_arguments_may_end_in_angles),
        cmocka_unit_test(names_that_are_no_single_function_are_called),
        cmocka_unit_test(launches_in_macros_are_rewritten),
        cmocka_unit_test(what_only_looks_like_a_launch_stays),
        cmocka_unit_test(a_launch_in_a_kernel_is_one_like_any_other),
        cmocka_unit_test(shifts_by_variables_say_so),
        cmocka_unit_test(divisions_by_variables_say_so),
        cmocka_unit_test(conversions_to_integers_say_so),
        cmocka_unit_test(a_result_that_is_stored_is_a_value_first),
        cmocka_unit_test(copies_by_builtins_become_calls),
        cmocka_unit_test(an_atomic_without_use_of_its_result_says_so),
        cmocka_unit_test(variables_of_the_device_are_marked),
        cmocka_unit_test(alignment_comes_first),
        cmocka_unit_test(the_bounds_of_a_kernel_are_told_behind_its_body),
        cmocka_unit_test(the_architecture_is_known_in_device_code_alone),
        cmocka_unit_test(a_function_of_both_sides_asks_when_it_runs),
        cmocka_unit_test(calls_in_device_code_are_the_kernels_own),
        cmocka_unit_test(the_address_of_a_kernel_keeps_its_type),
        cmocka_unit_test(noinline_is_a_keyword_outside_attributes),
        cmocka_unit_test(shared_variables_need_no_constructor),
        cmocka_unit_test(both_branches_of_a_conditional_are_seen),
        cmocka_unit_test(constructors_and_classes_do_not_confuse_scopes),
        cmocka_unit_test(a_cast_of_a_variable_hides_its_address),
        cmocka_unit_test(every_line_stays_where_it_was),
        cmocka_unit_test(a_kernel_that_returns_something_is_an_error_where_it_is_declared),
        cmocka_unit_test(broken_source_is_left_to_the_compiler),
        cmocka_unit_test(member_templates_are_called_with_the_word_template),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
