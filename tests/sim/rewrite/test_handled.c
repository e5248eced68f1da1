// Calls whose status the program looks at are marked; those whose status it throws away stay as they are.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rewritten.h"

#define HANDLED(name) "(sim_handled(\"" name "\"), " name

static void a_call_whose_status_is_looked_at_says_so(void **state)
{
    (void)state;
    becomes("int f() { if (cudaSetDevice(7) != cudaSuccess) return 1; return 0; }",
            "int f() { if (" HANDLED("cudaSetDevice") "(7)) != cudaSuccess) return 1; return 0; }");
    becomes("int f() { cudaError_t e = ::cudaMalloc(&p, (n)); if (e) g(); }",
            "int f() { cudaError_t e = (sim_handled(\"cudaMalloc\"), ::cudaMalloc(&p, (n))); if (e) g(); }");
    becomes("int f() { while (cudaStreamQuery(s)\n== cudaErrorNotReady) ; return cudaFree(p); }",
            "int f() { while (" HANDLED("cudaStreamQuery") "(s))\n== cudaErrorNotReady) ; return " HANDLED(
                "cudaFree") "(p)); }");
    becomes("int f() { E all[] = {cudaFree(p), cudaFree(q)}; return a ? cudaFree(p) : 0; }",
            "int f() { E all[] = {" HANDLED("cudaFree") "(p)), " HANDLED("cudaFree") "(q))}; return a ? " HANDLED(
                "cudaFree") "(p)) : 0; }");
    becomes("int f() { if (cudaMalloc<float>(&p, 4)) return 1; }",
            "int f() { if ((sim_handled(\"cudaMalloc\"), cudaMalloc<float>(&p, 4))) return 1; }");
    becomes("int f() { bool b = good(cudaFree(p)); cudaFree(q) == cudaSuccess || fail(); return b; }",
            "int f() { bool b = good(" HANDLED("cudaFree") "(p))); " HANDLED(
                "cudaFree") "(q)) == cudaSuccess || fail(); return b; }");
}

static void a_status_that_is_assigned_anew_is_read_no_more(void **state)
{
    (void)state;
    becomes("int f() { e = cudaFree(p); e = cudaFree(q); if (e) return 1; return 0; }",
            "int f() { e = cudaFree(p); e = " HANDLED("cudaFree") "(q)); if (e) return 1; return 0; }");
    becomes("int f() { e = cudaFree(p); e = g(e); return 0; }",
            "int f() { e = " HANDLED("cudaFree") "(p)); e = g(e); return 0; }");
    becomes("int f() { e = cudaFree(p); if (x) e = g(); return e == 0; }",
            "int f() { e = " HANDLED("cudaFree") "(p)); if (x) e = g(); return e == 0; }");
    becomes("int f() { if (x) { e = cudaFree(p); } else { e = g(); } return e; }",
            "int f() { if (x) { e = " HANDLED("cudaFree") "(p)); } else { e = g(); } return e; }");
    becomes("int f() { e = cudaFree(p); if (x) goto end; e = g(); end: return e; }",
            "int f() { e = " HANDLED("cudaFree") "(p)); if (x) goto end; e = g(); end: return e; }");
    becomes("void f() { if ((e = cudaFree(p)) != cudaSuccess) g(); e = g(); }",
            "void f() { if ((e = " HANDLED("cudaFree") "(p))) != cudaSuccess) g(); e = g(); }");
}

static void a_status_whose_assignment_is_a_condition_or_a_value_is_looked_at(void **state)
{
    (void)state;
    becomes("int f() { if (auto e = cudaFree(p)) g(); }", "int f() { if (auto e = " HANDLED("cudaFree") "(p))) g(); }");
    becomes("int f() { if (e = cudaFree(p)) g(); while ((e = cudaFree(p))) g(); }",
            "int f() { if (e = " HANDLED("cudaFree") "(p))) g(); while ((e = " HANDLED("cudaFree") "(p)))) g(); }");
    becomes("int f() { if (!(e = cudaFree(p))) g(); }", "int f() { if (!(e = " HANDLED("cudaFree") "(p)))) g(); }");
    becomes("int f() { bool b = (e = cudaFree(p)); return b; }",
            "int f() { bool b = (e = " HANDLED("cudaFree") "(p))); return b; }");
    becomes("int f() { a = e = cudaFree(p); return a; }", "int f() { a = e = " HANDLED("cudaFree") "(p)); return a; }");
    becomes("int f() { return e = cudaFree(p); }", "int f() { return e = " HANDLED("cudaFree") "(p)); }");
    stays("void f() { (e = cudaFree(p)); bool b = (e = cudaFree(p)); a = e = cudaFree(p); check(e = cudaFree(p)); }");
}

static void a_status_that_the_next_round_of_a_loop_reads_is_looked_at(void **state)
{
    (void)state;
    becomes("void f() { while (e) { e = cudaFree(p); g(); } }",
            "void f() { while (e) { e = " HANDLED("cudaFree") "(p)); g(); } }");
    becomes("void f() { for (int d = 7; e != 0; d = 0) e = cudaFree(p); e = g(); }",
            "void f() { for (int d = 7; e != 0; d = 0) e = " HANDLED("cudaFree") "(p)); e = g(); }");
    becomes("void f() { for (; e; e = cudaFree(p)) g(); while (x) { if (e) g(); if (x) { e = cudaFree(p); } } }",
            "void f() { for (; e; e = " HANDLED("cudaFree") "(p))) g(); while (x) { if (e) g(); if (x) { e = " HANDLED(
                "cudaFree") "(p)); } } }");
    becomes("void f() { do { if (e) g(); e = cudaFree(p); } while (x); }",
            "void f() { do { if (e) g(); e = " HANDLED("cudaFree") "(p)); } while (x); }");
    stays("void f() { while (e) { e = cudaFree(p); e = 0; } for (e = 0; x; x--) e = cudaFree(p); }");
    stays("void f() { if (e) { e = cudaFree(p); } } void h() { while (x) { e = 0; if (e) g(); e = cudaFree(p); } }");
}

static void the_mark_of_a_call_in_a_macro_stands_before_the_macro(void **state)
{
    (void)state;
    becomes(
        "#define TRY(call) show((call), #call)\nvoid f() { if (TRY(cudaFree(p))) return; }",
        "#define TRY(call) show((call), #call)\nvoid f() { if ((sim_handled(\"cudaFree\"), TRY(cudaFree(p)))) return; "
        "}");
}

static void a_call_whose_status_is_thrown_away_or_goes_to_a_checker_stays(void **state)
{
    (void)state;
    stays("void f() { cudaFree(p); (void)cudaFree(q); if (x) cudaFree(r); else ::cudaFree(s); }");
    stays("void f() { CHECK(cudaMalloc(&p, 4)); check((cudaFree(p)), __FILE__, __LINE__); a::b->check(cudaFree(q)); }");
    stays("#define TRY(call) show((call), #call)\nvoid f() { TRY(cudaFree(p)); }");
    stays("void f() { a ? cudaFree(p) : cudaFree(q); }");
    stays("void f() { cudaError_t unused = cudaFree(p); }");
    stays("void f() { e = cudaFree(p); e = cudaFree(q); }");
    stays("#define TRY(call) show((call), #call)\nvoid f() { TRY([&] { E e = cudaFree(p); if (e) g(); }()); }");
    stays("#define TRY(call) show((call), #call)\nvoid f() { TRY(e = cudaFree(p)); if (e) g(); }");
    stays("void f() { assert(cudaFree(p) == cudaSuccess); }");
    stays("cudaError_t cudaOwn(int a); void f() { cudaError_t (*g)(int) = h; if (cudaGetLastError()) return; }");
    stays("#define FREE(p) if (cudaFree(p)) exit(1)\n");
    stays("__global__ void k() { if (cudaDeviceSynchronize()) return; }");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_whose_status_is_looked_at_says_so),
        cmocka_unit_test(a_status_that_is_assigned_anew_is_read_no_more),
        cmocka_unit_test(a_status_whose_assignment_is_a_condition_or_a_value_is_looked_at),
        cmocka_unit_test(a_status_that_the_next_round_of_a_loop_reads_is_looked_at),
        cmocka_unit_test(the_mark_of_a_call_in_a_macro_stands_before_the_macro),
        cmocka_unit_test(a_call_whose_status_is_thrown_away_or_goes_to_a_checker_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
