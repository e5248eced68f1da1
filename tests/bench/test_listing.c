// Listings of what a compiler made: instructions below the lines that they come from.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bench/listing.h"

static const char ptx[] = ".version 9.0\n"
                          "\t// .globl\t_Z5saxpyifPKfPf\n"
                          ".extern .func (.param .b32 func_retval0) vprintf\n(\n\t.param .b64 vprintf_param_0\n)\n;\n"
                          ".extern .func _Z4stopv;\n"
                          ".visible .entry _Z5saxpyifPKfPf(\n\t.param .u32 saxpy_param_0\n)\n.maxntid 256, 1, 1\n{\n"
                          "\t.reg .b32 \t%r<6>;\n"
                          "\t.loc\t1 4 5\n"
                          "\tmov.u32 \t%r3, %ctaid.x;\n"
                          "\t.loc\t2 1 48, function_name $L__info_string0, inlined_at 1 6 9\n"
                          "\t{ // callseq 0\n"
                          "\tmul.f32 \t%f3, %f1, 0f40400000;\n"
                          "\t}\n"
                          "\t.loc\t1 0 9\n"
                          "\t@%p1 bra \t$L__BB0_2;\n"
                          "$L__BB0_2:\n"
                          "\tret;\n"
                          "}\n"
                          ".func  (.param .b32 func_retval0) _Z5scalef(\n\t.param .b32 scale_param_0\n)\n{\n"
                          "\tret;\n}\n"
                          "\t.file\t1 \"/home/me/saxpy.cu\"\n"
                          "\t.file\t2 \"/home/me/scale.h\"\n";

static void ptx_is_shown_by_source_lines(void **state)
{
    heddle_listing *listing = heddle_listing_of_ptx(ptx);
    (void)state;
    assert_non_null(listing);
    assert_int_equal(listing->count, 2); // a declaration is none
    const heddle_listing_function *kernel = &listing->function[0];
    assert_string_equal(kernel->symbol, "_Z5saxpyifPKfPf");
    assert_string_equal(kernel->name, "saxpy");
    assert_true(kernel->kernel);
    assert_int_equal(kernel->instructions, 4);
    assert_int_equal(kernel->count, 8);
    assert_null(kernel->line[0].file); // a register's declaration stands before every line
    assert_string_equal(kernel->line[1].text, "mov.u32 %r3, %ctaid.x;");
    assert_string_equal(kernel->line[1].file, "/home/me/saxpy.cu");
    assert_int_equal(kernel->line[1].number, 4);
    assert_string_equal(kernel->line[3].file, "/home/me/scale.h"); // what was inlined is at its own place
    assert_int_equal(kernel->line[5].number, 1);                   // line 0 is none
    assert_string_equal(kernel->line[6].text, "$L__BB0_2:");
    assert_true(kernel->line[6].label);
    assert_string_equal(listing->function[1].name, "scale");
    assert_false(listing->function[1].kernel);
    heddle_listing_free(listing);
}

static const char sass[] = "\t.target\tsm_90\n"
                           "\t.section\t.text._Z4fillIdEvPT_i,\"ax\",@progbits\n"
                           "        .global         _Z4fillIdEvPT_i\n"
                           "_Z4fillIdEvPT_i:\n"
                           ".text._Z4fillIdEvPT_i:\n"
                           "\t//## File \"/home/me/fill.cu\", line 8\n"
                           "        /*0000*/                   LDC R1, c[0x0][0x28] ;  /* 0x00000a00ff017b82 */\n"
                           ".L_x_10:\n"
                           "        /*0010*/               @P0 EXIT ;\n"
                           "\t//## File \"/home/me/fill.h\", line 3 inlined at \"/home/me/fill.cu\", line 9\n"
                           "        /*0020*/                   BRA `(.L_x_10) ;\n"
                           "        /*0030*/                   NOP ;\n"
                           "\t.section\t.nv.info,\"\",@\"SHT_CUDA_INFO\"\n";

static const char said[] = "ptxas info    : 0 bytes gmem\n"
                           "ptxas info    : Compiling entry function '_Z4fillIdEvPT_i' for 'sm_90'\n"
                           "ptxas info    : Function properties for _Z4fillIdEvPT_i\n"
                           "    16 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads\n"
                           "ptxas info    : Used 40 registers, used 1 barriers, 4224 bytes smem, 400 bytes cmem[0]\n"
                           "ptxas info    : Compiling entry function 'other' for 'sm_90'\n"
                           "ptxas info    : Used 7 registers\n";

static void machine_code_is_shown_with_what_it_takes(void **state)
{
    heddle_listing *listing = heddle_listing_of_sass(sass);
    (void)state;
    assert_non_null(listing);
    assert_int_equal(listing->count, 1);
    const heddle_listing_function *kernel = &listing->function[0];
    assert_false(kernel->has_usage);
    heddle_listing_add_usage(listing, said);
    assert_true(kernel->has_usage);
    assert_int_equal(kernel->registers, 40);
    assert_int_equal(kernel->shared_bytes, 4224);
    assert_int_equal(kernel->stack_bytes, 16);
    assert_int_equal(kernel->spill_stores, 12);
    assert_int_equal(kernel->spill_loads, 8);
    assert_int_equal(kernel->count, 5);
    assert_int_equal(kernel->instructions, 3); // NOP fills the size up
    assert_string_equal(kernel->line[0].text, "LDC R1, c[0x0][0x28] ;");
    assert_int_equal(kernel->line[2].number, 8);
    assert_true(kernel->line[1].label);
    assert_string_equal(kernel->line[3].file, "/home/me/fill.h");
    assert_int_equal(kernel->line[3].number, 3);
    heddle_listing_add_names(listing, "void fill<double>\n");
    assert_string_equal(kernel->name, "fill<double>");
    heddle_listing_free(listing);
}

static void text_that_is_cut_anywhere_is_read_to_its_end(void **state)
{
    char part[sizeof ptx > sizeof sass ? sizeof ptx : sizeof sass];
    (void)state;
    for (size_t length = 0; length < sizeof ptx; length++) {
        memcpy(part, ptx, length);
        part[length] = '\0';
        heddle_listing *listing = heddle_listing_of_ptx(part);
        assert_non_null(listing);
        heddle_listing_add_usage(listing, part);
        heddle_listing_free(listing);
    }
    for (size_t length = 0; length < sizeof sass; length++) {
        memcpy(part, sass, length);
        part[length] = '\0';
        heddle_listing *listing = heddle_listing_of_sass(part);
        assert_non_null(listing);
        heddle_listing_free(listing);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ptx_is_shown_by_source_lines),
        cmocka_unit_test(machine_code_is_shown_with_what_it_takes),
        cmocka_unit_test(text_that_is_cut_anywhere_is_read_to_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
