// The intrinsics that have one right answer, by group: a name and an expression of the random inputs that intrinsics.cu
// draws. u, v, w: 32 bits; l, m: 64 bits; f, g, h: float; d, e, k: double; xh, yh, zh and xb, yb, zb: half and
// bfloat16; capitals: pairs of them.
// clang-format off

#define INTEGER_INTRINSICS(X) \
    X(popc, __popc(u)) \
    X(popcll, __popcll(l)) \
    X(clz, __clz((int)u)) \
    X(clz_small, __clz((int)(u >> (v & 31)))) \
    X(clzll, __clzll((long long)l)) \
    X(ffs, __ffs((int)(u << (v & 31)))) \
    X(ffsll, __ffsll((long long)(l << (v & 63)))) \
    X(brev, __brev(u)) \
    X(brevll, __brevll(l)) \
    X(byte_perm, __byte_perm(u, v, w & 0x7777)) \
    X(mul24, __mul24((int)u, (int)v)) \
    X(umul24, __umul24(u, v)) \
    X(mulhi, __mulhi((int)u, (int)v)) \
    X(umulhi, __umulhi(u, v)) \
    X(mul64hi, __mul64hi((long long)l, (long long)m)) \
    X(umul64hi, __umul64hi(l, m)) \
    X(sad, __sad((int)u, (int)v, w)) \
    X(usad, __usad(u, v, w)) \
    X(hadd, __hadd((int)u, (int)v)) \
    X(rhadd, __rhadd((int)u, (int)v)) \
    X(uhadd, __uhadd(u, v)) \
    X(urhadd, __urhadd(u, v)) \
    X(funnelshift_l, __funnelshift_l(u, v, w)) \
    X(funnelshift_lc, __funnelshift_lc(u, v, w & 63)) \
    X(funnelshift_r, __funnelshift_r(u, v, w)) \
    X(funnelshift_rc, __funnelshift_rc(u, v, w & 63)) \
    X(fns, __fns(u, v & 31, (int)(w % 21) - 10)) \
    X(dp4a, __dp4a((int)u, (int)v, (int)w)) \
    X(dp4a_unsigned, __dp4a(u, v, w)) \
    X(dp2a_lo, __dp2a_lo((int)u, (int)v, (int)w)) \
    X(dp2a_lo_unsigned, __dp2a_lo(u, v, w)) \
    X(dp2a_hi, __dp2a_hi((int)u, (int)v, (int)w)) \
    X(dp2a_hi_unsigned, __dp2a_hi(u, v, w)) \
    X(min_mixed, min((int)u, v)) \
    X(max_mixed, max(u, (int)v)) \
    X(min_long, min((long long)l, m)) \
    X(max_unsigned_long, max(l, m))

#define SIMD_INTRINSICS(X) \
    X(vabs2, __vabs2(u)) \
    X(vabsss2, __vabsss2(u)) \
    X(vneg2, __vneg2(u)) \
    X(vnegss2, __vnegss2(u)) \
    X(vadd2, __vadd2(u, v)) \
    X(vaddss2, __vaddss2(u, v)) \
    X(vaddus2, __vaddus2(u, v)) \
    X(vsub2, __vsub2(u, v)) \
    X(vsubss2, __vsubss2(u, v)) \
    X(vsubus2, __vsubus2(u, v)) \
    X(vavgs2, __vavgs2(u, v)) \
    X(vavgu2, __vavgu2(u, v)) \
    X(vhaddu2, __vhaddu2(u, v)) \
    X(vabsdiffs2, __vabsdiffs2(u, v)) \
    X(vabsdiffu2, __vabsdiffu2(u, v)) \
    X(vmins2, __vmins2(u, v)) \
    X(vminu2, __vminu2(u, v)) \
    X(vmaxs2, __vmaxs2(u, v)) \
    X(vmaxu2, __vmaxu2(u, v)) \
    X(vsads2, __vsads2(u, v)) \
    X(vsadu2, __vsadu2(u, v)) \
    X(vcmpeq2, __vcmpeq2(u, v)) \
    X(vseteq2, __vseteq2(u, v)) \
    X(vcmpne2, __vcmpne2(u, v)) \
    X(vsetne2, __vsetne2(u, v)) \
    X(vcmpges2, __vcmpges2(u, v)) \
    X(vsetges2, __vsetges2(u, v)) \
    X(vcmpgeu2, __vcmpgeu2(u, v)) \
    X(vsetgeu2, __vsetgeu2(u, v)) \
    X(vcmpgts2, __vcmpgts2(u, v)) \
    X(vsetgts2, __vsetgts2(u, v)) \
    X(vcmpgtu2, __vcmpgtu2(u, v)) \
    X(vsetgtu2, __vsetgtu2(u, v)) \
    X(vcmples2, __vcmples2(u, v)) \
    X(vsetles2, __vsetles2(u, v)) \
    X(vcmpleu2, __vcmpleu2(u, v)) \
    X(vsetleu2, __vsetleu2(u, v)) \
    X(vcmplts2, __vcmplts2(u, v)) \
    X(vsetlts2, __vsetlts2(u, v)) \
    X(vcmpltu2, __vcmpltu2(u, v)) \
    X(vsetltu2, __vsetltu2(u, v)) \
    X(vabs4, __vabs4(u)) \
    X(vabsss4, __vabsss4(u)) \
    X(vneg4, __vneg4(u)) \
    X(vnegss4, __vnegss4(u)) \
    X(vadd4, __vadd4(u, v)) \
    X(vaddss4, __vaddss4(u, v)) \
    X(vaddus4, __vaddus4(u, v)) \
    X(vsub4, __vsub4(u, v)) \
    X(vsubss4, __vsubss4(u, v)) \
    X(vsubus4, __vsubus4(u, v)) \
    X(vavgs4, __vavgs4(u, v)) \
    X(vavgu4, __vavgu4(u, v)) \
    X(vhaddu4, __vhaddu4(u, v)) \
    X(vabsdiffs4, __vabsdiffs4(u, v)) \
    X(vabsdiffu4, __vabsdiffu4(u, v)) \
    X(vmins4, __vmins4(u, v)) \
    X(vminu4, __vminu4(u, v)) \
    X(vmaxs4, __vmaxs4(u, v)) \
    X(vmaxu4, __vmaxu4(u, v)) \
    X(vsads4, __vsads4(u, v)) \
    X(vsadu4, __vsadu4(u, v)) \
    X(vcmpeq4, __vcmpeq4(u, v)) \
    X(vseteq4, __vseteq4(u, v)) \
    X(vcmpne4, __vcmpne4(u, v)) \
    X(vsetne4, __vsetne4(u, v)) \
    X(vcmpges4, __vcmpges4(u, v)) \
    X(vsetges4, __vsetges4(u, v)) \
    X(vcmpgeu4, __vcmpgeu4(u, v)) \
    X(vsetgeu4, __vsetgeu4(u, v)) \
    X(vcmpgts4, __vcmpgts4(u, v)) \
    X(vsetgts4, __vsetgts4(u, v)) \
    X(vcmpgtu4, __vcmpgtu4(u, v)) \
    X(vsetgtu4, __vsetgtu4(u, v)) \
    X(vcmples4, __vcmples4(u, v)) \
    X(vsetles4, __vsetles4(u, v)) \
    X(vcmpleu4, __vcmpleu4(u, v)) \
    X(vsetleu4, __vsetleu4(u, v)) \
    X(vcmplts4, __vcmplts4(u, v)) \
    X(vsetlts4, __vsetlts4(u, v)) \
    X(vcmpltu4, __vcmpltu4(u, v)) \
    X(vsetltu4, __vsetltu4(u, v)) \
    X(viaddmax_s16x2, __viaddmax_s16x2(u, v, w)) \
    X(viaddmin_s16x2, __viaddmin_s16x2(u, v, w)) \
    X(vimax3_s16x2, __vimax3_s16x2(u, v, w)) \
    X(vimin3_s16x2, __vimin3_s16x2(u, v, w)) \
    X(viaddmax_u16x2, __viaddmax_u16x2(u, v, w)) \
    X(viaddmin_u16x2, __viaddmin_u16x2(u, v, w)) \
    X(vimax3_u16x2, __vimax3_u16x2(u, v, w)) \
    X(vimin3_u16x2, __vimin3_u16x2(u, v, w)) \
    X(viaddmax_s32, __viaddmax_s32((int)u, (int)v, (int)w)) \
    X(viaddmin_s32, __viaddmin_s32((int)u, (int)v, (int)w)) \
    X(vimax3_s32, __vimax3_s32((int)u, (int)v, (int)w)) \
    X(vimin3_s32, __vimin3_s32((int)u, (int)v, (int)w)) \
    X(viaddmax_u32, __viaddmax_u32(u, v, w)) \
    X(viaddmin_u32, __viaddmin_u32(u, v, w)) \
    X(vimax3_u32, __vimax3_u32(u, v, w)) \
    X(vimin3_u32, __vimin3_u32(u, v, w)) \
    X(viaddmax_s16x2_relu, __viaddmax_s16x2_relu(u, v, w)) \
    X(viaddmin_s16x2_relu, __viaddmin_s16x2_relu(u, v, w)) \
    X(vimax3_s16x2_relu, __vimax3_s16x2_relu(u, v, w)) \
    X(vimin3_s16x2_relu, __vimin3_s16x2_relu(u, v, w)) \
    X(vimax_s16x2_relu, __vimax_s16x2_relu(u, v)) \
    X(vimin_s16x2_relu, __vimin_s16x2_relu(u, v)) \
    X(viaddmax_s32_relu, __viaddmax_s32_relu((int)u, (int)v, (int)w)) \
    X(viaddmin_s32_relu, __viaddmin_s32_relu((int)u, (int)v, (int)w)) \
    X(vimax3_s32_relu, __vimax3_s32_relu((int)u, (int)v, (int)w)) \
    X(vimin3_s32_relu, __vimin3_s32_relu((int)u, (int)v, (int)w)) \
    X(vimax_s32_relu, __vimax_s32_relu((int)u, (int)v)) \
    X(vimin_s32_relu, __vimin_s32_relu((int)u, (int)v))

#define FLOAT_INTRINSICS(X) \
    X(fadd_rn, __fadd_rn(f, g)) \
    X(fsub_rn, __fsub_rn(f, g)) \
    X(fmul_rn, __fmul_rn(f, g)) \
    X(fdiv_rn, __fdiv_rn(f, g)) \
    X(frcp_rn, __frcp_rn(f)) \
    X(fsqrt_rn, __fsqrt_rn(fabsf(f))) \
    X(fmaf_rn, __fmaf_rn(f, g, h)) \
    X(dadd_rn, __dadd_rn(d, e)) \
    X(dsub_rn, __dsub_rn(d, e)) \
    X(dmul_rn, __dmul_rn(d, e)) \
    X(ddiv_rn, __ddiv_rn(d, e)) \
    X(drcp_rn, __drcp_rn(d)) \
    X(dsqrt_rn, __dsqrt_rn(fabs(d))) \
    X(fma_rn, __fma_rn(d, e, k)) \
    X(double2float_rn, __double2float_rn(d)) \
    X(float2int_rn, __float2int_rn(f)) \
    X(float2uint_rn, __float2uint_rn(f)) \
    X(float2ll_rn, __float2ll_rn(f)) \
    X(float2ull_rn, __float2ull_rn(f)) \
    X(double2int_rn, __double2int_rn(d)) \
    X(double2uint_rn, __double2uint_rn(d)) \
    X(double2ll_rn, __double2ll_rn(d)) \
    X(double2ull_rn, __double2ull_rn(d)) \
    X(int2float_rn, __int2float_rn((int)u)) \
    X(uint2float_rn, __uint2float_rn(u)) \
    X(ll2float_rn, __ll2float_rn((long long)l)) \
    X(ull2float_rn, __ull2float_rn(l)) \
    X(ll2double_rn, __ll2double_rn((long long)l)) \
    X(ull2double_rn, __ull2double_rn(l)) \
    X(fadd_rz, __fadd_rz(f, g)) \
    X(fsub_rz, __fsub_rz(f, g)) \
    X(fmul_rz, __fmul_rz(f, g)) \
    X(fdiv_rz, __fdiv_rz(f, g)) \
    X(frcp_rz, __frcp_rz(f)) \
    X(fsqrt_rz, __fsqrt_rz(fabsf(f))) \
    X(fmaf_rz, __fmaf_rz(f, g, h)) \
    X(dadd_rz, __dadd_rz(d, e)) \
    X(dsub_rz, __dsub_rz(d, e)) \
    X(dmul_rz, __dmul_rz(d, e)) \
    X(ddiv_rz, __ddiv_rz(d, e)) \
    X(drcp_rz, __drcp_rz(d)) \
    X(dsqrt_rz, __dsqrt_rz(fabs(d))) \
    X(fma_rz, __fma_rz(d, e, k)) \
    X(double2float_rz, __double2float_rz(d)) \
    X(float2int_rz, __float2int_rz(f)) \
    X(float2uint_rz, __float2uint_rz(f)) \
    X(float2ll_rz, __float2ll_rz(f)) \
    X(float2ull_rz, __float2ull_rz(f)) \
    X(double2int_rz, __double2int_rz(d)) \
    X(double2uint_rz, __double2uint_rz(d)) \
    X(double2ll_rz, __double2ll_rz(d)) \
    X(double2ull_rz, __double2ull_rz(d)) \
    X(int2float_rz, __int2float_rz((int)u)) \
    X(uint2float_rz, __uint2float_rz(u)) \
    X(ll2float_rz, __ll2float_rz((long long)l)) \
    X(ull2float_rz, __ull2float_rz(l)) \
    X(ll2double_rz, __ll2double_rz((long long)l)) \
    X(ull2double_rz, __ull2double_rz(l)) \
    X(fadd_ru, __fadd_ru(f, g)) \
    X(fsub_ru, __fsub_ru(f, g)) \
    X(fmul_ru, __fmul_ru(f, g)) \
    X(fdiv_ru, __fdiv_ru(f, g)) \
    X(frcp_ru, __frcp_ru(f)) \
    X(fsqrt_ru, __fsqrt_ru(fabsf(f))) \
    X(fmaf_ru, __fmaf_ru(f, g, h)) \
    X(dadd_ru, __dadd_ru(d, e)) \
    X(dsub_ru, __dsub_ru(d, e)) \
    X(dmul_ru, __dmul_ru(d, e)) \
    X(ddiv_ru, __ddiv_ru(d, e)) \
    X(drcp_ru, __drcp_ru(d)) \
    X(dsqrt_ru, __dsqrt_ru(fabs(d))) \
    X(fma_ru, __fma_ru(d, e, k)) \
    X(double2float_ru, __double2float_ru(d)) \
    X(float2int_ru, __float2int_ru(f)) \
    X(float2uint_ru, __float2uint_ru(f)) \
    X(float2ll_ru, __float2ll_ru(f)) \
    X(float2ull_ru, __float2ull_ru(f)) \
    X(double2int_ru, __double2int_ru(d)) \
    X(double2uint_ru, __double2uint_ru(d)) \
    X(double2ll_ru, __double2ll_ru(d)) \
    X(double2ull_ru, __double2ull_ru(d)) \
    X(int2float_ru, __int2float_ru((int)u)) \
    X(uint2float_ru, __uint2float_ru(u)) \
    X(ll2float_ru, __ll2float_ru((long long)l)) \
    X(ull2float_ru, __ull2float_ru(l)) \
    X(ll2double_ru, __ll2double_ru((long long)l)) \
    X(ull2double_ru, __ull2double_ru(l)) \
    X(fadd_rd, __fadd_rd(f, g)) \
    X(fsub_rd, __fsub_rd(f, g)) \
    X(fmul_rd, __fmul_rd(f, g)) \
    X(fdiv_rd, __fdiv_rd(f, g)) \
    X(frcp_rd, __frcp_rd(f)) \
    X(fsqrt_rd, __fsqrt_rd(fabsf(f))) \
    X(fmaf_rd, __fmaf_rd(f, g, h)) \
    X(dadd_rd, __dadd_rd(d, e)) \
    X(dsub_rd, __dsub_rd(d, e)) \
    X(dmul_rd, __dmul_rd(d, e)) \
    X(ddiv_rd, __ddiv_rd(d, e)) \
    X(drcp_rd, __drcp_rd(d)) \
    X(dsqrt_rd, __dsqrt_rd(fabs(d))) \
    X(fma_rd, __fma_rd(d, e, k)) \
    X(double2float_rd, __double2float_rd(d)) \
    X(float2int_rd, __float2int_rd(f)) \
    X(float2uint_rd, __float2uint_rd(f)) \
    X(float2ll_rd, __float2ll_rd(f)) \
    X(float2ull_rd, __float2ull_rd(f)) \
    X(double2int_rd, __double2int_rd(d)) \
    X(double2uint_rd, __double2uint_rd(d)) \
    X(double2ll_rd, __double2ll_rd(d)) \
    X(double2ull_rd, __double2ull_rd(d)) \
    X(int2float_rd, __int2float_rd((int)u)) \
    X(uint2float_rd, __uint2float_rd(u)) \
    X(ll2float_rd, __ll2float_rd((long long)l)) \
    X(ull2float_rd, __ull2float_rd(l)) \
    X(ll2double_rd, __ll2double_rd((long long)l)) \
    X(ull2double_rd, __ull2double_rd(l)) \
    X(saturatef, __saturatef(f)) \
    X(double2hiint, __double2hiint(d)) \
    X(double2loint, __double2loint(d)) \
    X(hiloint2double, __hiloint2double((int)u, (int)v)) \
    X(min_float, min(f, g)) \
    X(max_float_double, max(f, d)) \
    X(copysign, copysign(d, e)) \
    X(remainder, remainder(d, e)) \
    X(fmod, fmodf(f, g)) \
    X(rint, rintf(f)) \
    X(round, round(d))
// clang-format on
