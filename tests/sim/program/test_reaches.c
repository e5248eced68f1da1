// What a kernel can reach: by calls, through other functions, by an address that it passes on, through a pointer.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "machine/options.h"
#include "program/program.h"

#define APART __attribute__((noinline, noclone))

// In the place of functions of the runtime; what they do to `seen` keeps them and their calls in the program.
static volatile int seen;

APART static void fence(void)
{
    seen += 1;
}

APART static void atomic(void)
{
    seen += 2;
}

APART static void barrier(void)
{
    seen += 3;
}

static void plain(void *closure)
{
    (void)closure;
    barrier();
    seen += 4;
}

static void with_fence(void *closure)
{
    if (closure)
        fence();
    seen += 5;
}

APART static void deep(int depth)
{
    if (depth > 0)
        deep(depth - 1);
    else
        atomic();
    seen += 6;
}

static void through_a_function(void *closure)
{
    deep(closure != NULL);
    seen += 7;
}

static void (*volatile kept)(void);

APART static void keep(void (*function)(void))
{
    kept = function;
}

static void passes_an_address_on(void *closure)
{
    (void)closure;
    keep(fence);
    seen += 8;
}

static void through_a_pointer(void *closure)
{
    (*(void (**)(void))closure)();
    seen += 9;
}

static void in_a_switch(void *closure)
{
    switch (*(int *)closure) {
    case 0: seen += 10; break;
    case 1: barrier(); break;
    case 2: seen *= 3; break;
    case 3: seen -= 2; break;
    case 4: seen ^= 5; break;
    case 5: seen |= 6; break;
    case 6: seen /= 7; break;
    default: break;
    }
}

// As the stand-in headers' launch of a kernel by its address does.
static void of_a_known_kernel(void *closure)
{
    (*(void (**)(void *))closure)(NULL);
    seen += 11;
}

static unsigned uses_of(void (*run)(void *), const void *function)
{
    const sim_kernel kernel = {.name = "kernel", .run = run, .function = function};
    return sim_kernel_uses(&kernel);
}

static int tell(void **state)
{
    (void)state;
    sim_use_tell(SIM_USES_FENCES, (uintptr_t)fence);
    sim_use_tell(SIM_USES_ATOMICS, (uintptr_t)atomic);
    return 0;
}

static void a_kernel_without_fences_uses_none(void **state)
{
    (void)state;
    assert_int_equal(uses_of(plain, NULL), 0);
    assert_int_equal(uses_of(in_a_switch, NULL), 0);
}

static void what_is_called_is_used(void **state)
{
    (void)state;
    assert_int_equal(uses_of(with_fence, NULL), SIM_USES_FENCES);
    assert_int_equal(uses_of(through_a_function, NULL), SIM_USES_ATOMICS);
}

static void what_an_address_is_passed_of_is_used(void **state)
{
    (void)state;
    assert_int_equal(uses_of(passes_an_address_on, NULL), SIM_USES_FENCES);
}

static void a_call_through_a_pointer_may_use_everything(void **state)
{
    (void)state;
    assert_int_equal(uses_of(through_a_pointer, NULL), SIM_USES_FENCES | SIM_USES_ATOMICS);
    assert_int_equal(uses_of(plain, (const void *)through_a_pointer), SIM_USES_FENCES | SIM_USES_ATOMICS);
}

static void the_pointer_to_a_known_kernel_is_followed(void **state)
{
    (void)state;
    assert_int_equal(uses_of(of_a_known_kernel, (const void *)plain), 0);
    assert_int_equal(uses_of(of_a_known_kernel, (const void *)with_fence), SIM_USES_FENCES);
    assert_int_equal(uses_of(of_a_known_kernel, NULL), SIM_USES_FENCES | SIM_USES_ATOMICS);
}

static void code_that_is_not_the_programs_may_use_everything(void **state)
{
    (void)state;
    assert_int_equal(uses_of(free, NULL), SIM_USES_FENCES | SIM_USES_ATOMICS);
}

static void a_use_without_a_function_is_every_kernels(void **state)
{
    (void)state;
    sim_program_uses = SIM_USES_PRINTF | SIM_USES_FENCES;
    assert_int_equal(uses_of(plain, NULL), SIM_USES_PRINTF);
    sim_program_uses = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_without_fences_uses_none),
        cmocka_unit_test(what_is_called_is_used),
        cmocka_unit_test(what_an_address_is_passed_of_is_used),
        cmocka_unit_test(a_call_through_a_pointer_may_use_everything),
        cmocka_unit_test(the_pointer_to_a_known_kernel_is_followed),
        cmocka_unit_test(code_that_is_not_the_programs_may_use_everything),
        cmocka_unit_test(a_use_without_a_function_is_every_kernels),
    };
    return cmocka_run_group_tests(tests, tell, NULL);
}
