// Inline PTX: what is known becomes C++, the rest a report of its line.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "rewrite/rewrite.h"

// The statement alone, as device code.
static void becomes(const char *statement, const char *expected)
{
    static const char start[] = "__device__ void f() { ", end[] = "; }";
    char text[2048], wanted[4096];
    assert_true(strlen(start) + strlen(statement) + strlen(end) < sizeof text);
    strcat(strcat(strcpy(text, start), statement), end);
    strcat(strcat(strcpy(wanted, start), expected), end);
    size_t bytes;
    char *result = sim_rewrite_text("test.cu", text, strlen(text), &bytes);
    assert_non_null(result);
    assert_string_equal(result, wanted);
    free(result);
}

static void is_refused(const char *statement, const char *quoted)
{
    char text[2048];
    strcat(strcat(strcpy(text, "__device__ void f() { "), statement), "; }");
    size_t bytes;
    char *result = sim_rewrite_text("test.cu", text, strlen(text), &bytes);
    assert_non_null(result);
    char *refusal = strstr(result, "sim_unsupported(\"inline PTX: ");
    assert_non_null(refusal);
    assert_non_null(strstr(refusal, quoted));
    assert_null(strstr(result, "asm"));
    free(result);
}

static void special_registers_are_read(void **state)
{
    (void)state;
    becomes("asm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(x))",
            "sim::ptx_set(x, (unsigned int)(sim::ptx_get<unsigned int>(sim_register_special(SIM_LANE_ID))))");
    becomes("asm(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(t))",
            "sim::ptx_set(t, (unsigned long long)(sim::ptx_get<unsigned long long>(sim_time_ns())))");
    becomes("asm(\"mov.u32 %0, %%dynamic_smem_size;\" : \"=r\"(x))",
            "sim::ptx_set(x, (unsigned int)(sim::ptx_get<unsigned int>((unsigned int)sim_dynamic_shared_bytes())))");
    becomes("asm(\"mov.u32 %0, %tid.x;\" : \"=r\"(x))",
            "sim::ptx_set(x, (unsigned int)(sim::ptx_get<unsigned int>(threadIdx.x)))");
}

static void loads_and_stores_are_accesses_of_their_size(void **state)
{
    (void)state;
    becomes("asm(\"ld.global.cg.f32 %0, [%1+4];\" : \"=f\"(v) : \"l\"(p + 1))",
            "sim::ptx_set(v, __ldcg((const float *)sim::ptx_address(p + 1, 4)))");
    becomes("asm(\"ld.global.cg.v2.f32 {%0, %1}, [%2];\" : \"=f\"(v), \"=f\"(w) : \"l\"(p))",
            "sim::ptx_load_vector_past_cache<float>(sim::ptx_address(p, 0), v, w)");
    becomes("asm volatile(\"ld.volatile.global.s32 %0, [%1];\" : \"=r\"(v) : \"l\"(p))",
            "sim::ptx_set(v, (int)*(const volatile int *)sim::ptx_address(p, 0))");
    becomes("asm volatile(\"st.volatile.shared.u32 [%0], %1;\" : : \"r\"(a), \"r\"(v))",
            "*(volatile unsigned int *)sim::ptx_address(a, 0) = sim::ptx_get<unsigned int>(v)");
    becomes("asm(\"ld.global.nc.v2.f64 {%0, %1}, [%2];\" : \"=d\"(a), \"=d\"(b) : \"l\"(p))",
            "sim::ptx_load_vector_read_only<double>(sim::ptx_address(p, 0), a, b)");
}

static void ordered_accesses_are_announced(void **state)
{
    (void)state;
    becomes("asm volatile(\"ld.acquire.gpu.global.s32 %0, [%1];\" : \"=r\"(v) : \"l\"(p) : \"memory\")",
            "sim::ptx_set(v, sim::ptx_load_atomic<int>(sim::ptx_address(p, 0), SIM_SCOPE_DEVICE, SIM_ATOMIC_LOAD | "
            "SIM_ATOMIC_ACQUIRE))");
    becomes("asm volatile(\"ld.relaxed.gpu.global.v2.f32 {%0, %1}, [%2];\" : \"=f\"(a), \"=f\"(b) : \"l\"(p))",
            "sim::ptx_load_vector_atomic<float>(sim::ptx_address(p, 0), SIM_SCOPE_DEVICE, SIM_ATOMIC_LOAD, a, b)");
    becomes("asm volatile(\"st.release.gpu.global.v2.f32 [%0], {%1, %2};\" :: \"l\"(p), \"f\"(a), \"f\"(b))",
            "sim::ptx_store_vector_atomic<float>(sim::ptx_address(p, 0), SIM_SCOPE_DEVICE, SIM_ATOMIC_STORE | "
            "SIM_ATOMIC_RELEASE, a, b)");
    becomes("asm volatile(\"st.release.cta.u32 [%0], 1;\" :: \"l\"(p))",
            "sim::ptx_store_atomic<unsigned int>(sim::ptx_address(p, 0), SIM_SCOPE_BLOCK, SIM_ATOMIC_STORE | "
            "SIM_ATOMIC_RELEASE, sim::ptx_get<unsigned int>(1))");
    becomes("asm volatile(\"red.release.sys.global.add.s32 [%0], %1;\" :: \"l\"(p), \"r\"(v))",
            "(sim_fence(SIM_SCOPE_SYSTEM), sim_discard(), atomicAdd_system((int *)sim::ptx_address(p, 0), "
            "sim::ptx_get<int>(v)))");
    becomes("asm volatile(\"fence.acq_rel.gpu;\" ::: \"memory\")", "sim_fence(SIM_SCOPE_DEVICE)");
    becomes("asm volatile(\"membar.cta;\")", "sim_fence(SIM_SCOPE_BLOCK)");
}

static void barriers_and_copies_are_calls(void **state)
{
    (void)state;
    becomes("asm volatile(\"bar.sync %0, %1;\" : : \"r\"(1), \"r\"(64))", "sim_barrier_named(1, 64)");
    becomes("asm volatile(\"bar.sync 0;\")", "sim_barrier_named(0, 0)");
    becomes("asm volatile(\"bar.arrive 1, 64;\")", "sim_barrier_arrive(1, 64)");
    becomes("asm volatile(\"barrier.cta.arrive.aligned %0, %1;\" : : \"r\"(2), \"r\"(96))",
            "sim_barrier_arrive(2, 96)");
    becomes("asm volatile(\"cp.async.wait_all;\")", "sim::ptx_copy_wait_all()");
    becomes("asm volatile(\"griddepcontrol.wait;\" ::: \"memory\")", "sim_dependency_wait()");
    becomes("asm volatile(\"griddepcontrol.launch_dependents;\")", "sim_dependency_trigger()");
    becomes("asm volatile(\"cp.async.cg.shared.global [%0], [%1], %2;\\n\" :: \"r\"(s), \"l\"(g), \"n\"(16))",
            "sim::ptx_copy(sim::ptx_address(s, 0), sim::ptx_address(g, 0), 16, 16)");
    becomes("asm volatile(\"cp.async.wait_group %0;\\n\" :: \"n\"(N))", "sim::ptx_copy_wait(N)");
}

static void a_float_is_rounded_to_tf32(void **state)
{
    (void)state;
    becomes("asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(x) : \"f\"(v))",
            "sim::ptx_set(x, sim::ptx_to_tf32(sim::ptx_get<float>(v)))");
}

static void several_instructions_share_registers(void **state)
{
    (void)state;
    becomes("asm(\"{ .reg .u32 t; add.u32 t, %1, 1; mul.lo.u32 %0, t, 2; }\" : \"=r\"(x) : \"r\"(y))",
            "[&]() __attribute__((always_inline)) { unsigned int sim_ptx_t{}; sim::ptx_set(sim_ptx_t, (unsigned "
            "int)(sim::ptx_get<unsigned int>(y) + sim::ptx_get<unsigned int>(1))); sim::ptx_set(x, (unsigned "
            "int)(sim::ptx_get<unsigned int>(sim_ptx_t) * sim::ptx_get<unsigned int>(2))); }()");
    becomes("asm(\"{ .reg .pred p; setp.ne.s32 p, %1, 0; @!p mov.u32 %0, 7; }\" : \"+r\"(x) : \"r\"(y))",
            "[&]() __attribute__((always_inline)) { bool sim_ptx_p{}; sim::ptx_set(sim_ptx_p, (sim::ptx_get<int>(y) != "
            "sim::ptx_get<int>(0))); if (!(sim_ptx_p)) sim::ptx_set(x, (unsigned int)(sim::ptx_get<unsigned int>(7))); "
            "}()");
}

static void operands_may_have_names(void **state)
{
    (void)state;
    becomes("asm(\"add.f32 %[sum], %[a], 0f3F800000;\" : [sum] \"=f\"(s) : [a] \"f\"(x))",
            "sim::ptx_set(s, (float)(sim::ptx_get<float>(x) + sim::ptx_get<float>(0x3F800000u)))");
}

static void a_carry_goes_on_to_the_next_instruction(void **state)
{
    (void)state;
    becomes("asm(\"add.cc.u32 %0, %2, %3; addc.u32 %1, %2, 0;\" : \"=r\"(a), \"=r\"(b) : \"r\"(c), \"r\"(d))",
            "[&]() __attribute__((always_inline)) { unsigned int sim_ptx_carry = 0; "
            "sim::ptx_set(a, (unsigned int)(sim::ptx_add(sim::ptx_get<unsigned int>(c), "
            "sim::ptx_get<unsigned int>(d), 0, &sim_ptx_carry))); "
            "sim::ptx_set(b, (unsigned int)(sim::ptx_add(sim::ptx_get<unsigned int>(c), "
            "sim::ptx_get<unsigned int>(0), sim_ptx_carry))); }()");
}

static void a_carry_from_elsewhere_is_refused(void **state)
{
    (void)state;
    is_refused("asm volatile(\"addc.u32 %0, %1, %2;\" : \"=r\"(a) : \"r\"(b), \"r\"(c))", "addc.u32");
    is_refused("asm(\"{ .reg .pred p; setp.eq.u32 p, %1, 0; @p add.cc.u32 %0, %1, %1; addc.u32 %0, %0, 0; }\" "
               ": \"=r\"(a) : \"r\"(b))",
               ".reg .pred p");
}

static void a_hint_to_the_compiler_stays(void **state)
{
    (void)state;
    becomes("asm volatile(\"\" ::: \"memory\")", "asm volatile(\"\" ::: \"memory\")");
}

static void host_assembly_stays(void **state)
{
    (void)state;
    static const char text[] = "static int f() { int x; asm(\"mov %0, 1\" : \"=r\"(x)); return x; }";
    size_t bytes;
    char *result = sim_rewrite_text("test.cu", text, strlen(text), &bytes);
    assert_string_equal(result, text);
    free(result);
}

static void each_branch_inside_a_statement_becomes_one_of_its_own(void **state)
{
    (void)state;
    becomes("asm volatile(\"bar.sync %0, %1;\" :: \"r\"(1),\n#if A\n \"r\"(32)\n#elif B\n\"r\"(x)\n#else\n  "
            "\"r\"(64)\n#endif\n "
            ": \"memory\")",
            "\n#if A\nsim_barrier_named(1, 32)\n#elif B\nsim_barrier_named(1, x)\n#else\nsim_barrier_named(1, "
            "64)\n#endif\n");
    becomes("asm(\n#ifdef WIDE\n\"ld.global.f64 %0, [%1];\"\n#else\n\"ld.global.f32 %0, [%1];\"\n#endif\n: \"=f\"(v) : "
            "\"l\"(p))",
            "\n#ifdef WIDE\nsim::ptx_set(v, *(const double *)sim::ptx_address(p, 0))\n#else\n"
            "sim::ptx_set(v, *(const float *)sim::ptx_address(p, 0))\n#endif\n");
    is_refused("asm volatile(\"bar.sync %0\"\n#if A\n\", 32\"\n#endif\n \";\" :: \"r\"(1))", "bar.sync");
}

static void what_is_not_known_is_refused(void **state)
{
    (void)state;
    is_refused("asm volatile(\"wgmma.fence.sync.aligned;\")", "wgmma.fence.sync.aligned");
    is_refused("asm volatile(\"{ .reg .pred p; L: bra L; }\")", ".reg .pred p");
    is_refused("asm volatile(\"barrier.cluster.arrive;\")", "barrier.cluster.arrive");
    is_refused("asm volatile(\"mov.u32 %0, %5;\" : \"=r\"(a))", "mov.u32");
    is_refused("asm volatile(\"ld.global.f32 %0, [%1\" : \"=f\"(a) : \"l\"(b))", "ld.global.f32");
    is_refused("asm volatile(MACRO \"add\")", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_registers_are_read),
        cmocka_unit_test(loads_and_stores_are_accesses_of_their_size),
        cmocka_unit_test(ordered_accesses_are_announced),
        cmocka_unit_test(barriers_and_copies_are_calls),
        cmocka_unit_test(a_float_is_rounded_to_tf32),
        cmocka_unit_test(several_instructions_share_registers),
        cmocka_unit_test(operands_may_have_names),
        cmocka_unit_test(a_carry_goes_on_to_the_next_instruction),
        cmocka_unit_test(a_carry_from_elsewhere_is_refused),
        cmocka_unit_test(a_hint_to_the_compiler_stays),
        cmocka_unit_test(host_assembly_stays),
        cmocka_unit_test(each_branch_inside_a_statement_becomes_one_of_its_own),
        cmocka_unit_test(what_is_not_known_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
