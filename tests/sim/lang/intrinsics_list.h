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

#define HALF_INTRINSICS(X) \
    X(float2half_rn, __float2half_rn(f)) \
    X(short2half_rn, __short2half_rn((short)u)) \
    X(half2short_rn, __half2short_rn(xh)) \
    X(ushort2half_rn, __ushort2half_rn((unsigned short)u)) \
    X(half2ushort_rn, __half2ushort_rn(xh)) \
    X(int2half_rn, __int2half_rn((int)u)) \
    X(half2int_rn, __half2int_rn(xh)) \
    X(uint2half_rn, __uint2half_rn(u)) \
    X(half2uint_rn, __half2uint_rn(xh)) \
    X(ll2half_rn, __ll2half_rn((long long)l)) \
    X(half2ll_rn, __half2ll_rn(xh)) \
    X(ull2half_rn, __ull2half_rn(l)) \
    X(half2ull_rn, __half2ull_rn(xh)) \
    X(float2half_rz, __float2half_rz(f)) \
    X(short2half_rz, __short2half_rz((short)u)) \
    X(half2short_rz, __half2short_rz(xh)) \
    X(ushort2half_rz, __ushort2half_rz((unsigned short)u)) \
    X(half2ushort_rz, __half2ushort_rz(xh)) \
    X(int2half_rz, __int2half_rz((int)u)) \
    X(half2int_rz, __half2int_rz(xh)) \
    X(uint2half_rz, __uint2half_rz(u)) \
    X(half2uint_rz, __half2uint_rz(xh)) \
    X(ll2half_rz, __ll2half_rz((long long)l)) \
    X(half2ll_rz, __half2ll_rz(xh)) \
    X(ull2half_rz, __ull2half_rz(l)) \
    X(half2ull_rz, __half2ull_rz(xh)) \
    X(float2half_ru, __float2half_ru(f)) \
    X(short2half_ru, __short2half_ru((short)u)) \
    X(half2short_ru, __half2short_ru(xh)) \
    X(ushort2half_ru, __ushort2half_ru((unsigned short)u)) \
    X(half2ushort_ru, __half2ushort_ru(xh)) \
    X(int2half_ru, __int2half_ru((int)u)) \
    X(half2int_ru, __half2int_ru(xh)) \
    X(uint2half_ru, __uint2half_ru(u)) \
    X(half2uint_ru, __half2uint_ru(xh)) \
    X(ll2half_ru, __ll2half_ru((long long)l)) \
    X(half2ll_ru, __half2ll_ru(xh)) \
    X(ull2half_ru, __ull2half_ru(l)) \
    X(half2ull_ru, __half2ull_ru(xh)) \
    X(float2half_rd, __float2half_rd(f)) \
    X(short2half_rd, __short2half_rd((short)u)) \
    X(half2short_rd, __half2short_rd(xh)) \
    X(ushort2half_rd, __ushort2half_rd((unsigned short)u)) \
    X(half2ushort_rd, __half2ushort_rd(xh)) \
    X(int2half_rd, __int2half_rd((int)u)) \
    X(half2int_rd, __half2int_rd(xh)) \
    X(uint2half_rd, __uint2half_rd(u)) \
    X(half2uint_rd, __half2uint_rd(xh)) \
    X(ll2half_rd, __ll2half_rd((long long)l)) \
    X(half2ll_rd, __half2ll_rd(xh)) \
    X(ull2half_rd, __ull2half_rd(l)) \
    X(half2ull_rd, __half2ull_rd(xh)) \
    X(double2half, __double2half(d)) \
    X(half2float, __half2float(xh)) \
    X(half2char_rz, __half2char_rz(xh)) \
    X(half2uchar_rz, __half2uchar_rz(xh)) \
    X(hadd_h, __hadd(xh, yh)) \
    X(hsub_h, __hsub(xh, yh)) \
    X(hmul_h, __hmul(xh, yh)) \
    X(hdiv_h, __hdiv(xh, yh)) \
    X(hadd_sat_h, __hadd_sat(xh, yh)) \
    X(hadd_rn_h, __hadd_rn(xh, yh)) \
    X(hsub_sat_h, __hsub_sat(xh, yh)) \
    X(hsub_rn_h, __hsub_rn(xh, yh)) \
    X(hmul_sat_h, __hmul_sat(xh, yh)) \
    X(hmul_rn_h, __hmul_rn(xh, yh)) \
    X(hfma_h, __hfma(xh, yh, zh)) \
    X(hfma_sat_h, __hfma_sat(xh, yh, zh)) \
    X(hfma_relu_h, __hfma_relu(xh, yh, zh)) \
    X(hneg_h, __hneg(xh)) \
    X(habs_h, __habs(xh)) \
    X(hmax_h, __hmax(xh, yh)) \
    X(hmin_h, __hmin(xh, yh)) \
    X(hmax_nan_h, __hmax_nan(xh, yh)) \
    X(hmin_nan_h, __hmin_nan(xh, yh)) \
    X(heq_h, __heq(xh, yh)) \
    X(heq2_h, __heq2(Xh, Yh)) \
    X(heq2_mask_h, __heq2_mask(Xh, Yh)) \
    X(hbeq2_h, __hbeq2(Xh, Yh)) \
    X(hequ_h, __hequ(xh, yh)) \
    X(hequ2_h, __hequ2(Xh, Yh)) \
    X(hequ2_mask_h, __hequ2_mask(Xh, Yh)) \
    X(hbequ2_h, __hbequ2(Xh, Yh)) \
    X(hne_h, __hne(xh, yh)) \
    X(hne2_h, __hne2(Xh, Yh)) \
    X(hne2_mask_h, __hne2_mask(Xh, Yh)) \
    X(hbne2_h, __hbne2(Xh, Yh)) \
    X(hneu_h, __hneu(xh, yh)) \
    X(hneu2_h, __hneu2(Xh, Yh)) \
    X(hneu2_mask_h, __hneu2_mask(Xh, Yh)) \
    X(hbneu2_h, __hbneu2(Xh, Yh)) \
    X(hle_h, __hle(xh, yh)) \
    X(hle2_h, __hle2(Xh, Yh)) \
    X(hle2_mask_h, __hle2_mask(Xh, Yh)) \
    X(hble2_h, __hble2(Xh, Yh)) \
    X(hleu_h, __hleu(xh, yh)) \
    X(hleu2_h, __hleu2(Xh, Yh)) \
    X(hleu2_mask_h, __hleu2_mask(Xh, Yh)) \
    X(hbleu2_h, __hbleu2(Xh, Yh)) \
    X(hge_h, __hge(xh, yh)) \
    X(hge2_h, __hge2(Xh, Yh)) \
    X(hge2_mask_h, __hge2_mask(Xh, Yh)) \
    X(hbge2_h, __hbge2(Xh, Yh)) \
    X(hgeu_h, __hgeu(xh, yh)) \
    X(hgeu2_h, __hgeu2(Xh, Yh)) \
    X(hgeu2_mask_h, __hgeu2_mask(Xh, Yh)) \
    X(hbgeu2_h, __hbgeu2(Xh, Yh)) \
    X(hlt_h, __hlt(xh, yh)) \
    X(hlt2_h, __hlt2(Xh, Yh)) \
    X(hlt2_mask_h, __hlt2_mask(Xh, Yh)) \
    X(hblt2_h, __hblt2(Xh, Yh)) \
    X(hltu_h, __hltu(xh, yh)) \
    X(hltu2_h, __hltu2(Xh, Yh)) \
    X(hltu2_mask_h, __hltu2_mask(Xh, Yh)) \
    X(hbltu2_h, __hbltu2(Xh, Yh)) \
    X(hgt_h, __hgt(xh, yh)) \
    X(hgt2_h, __hgt2(Xh, Yh)) \
    X(hgt2_mask_h, __hgt2_mask(Xh, Yh)) \
    X(hbgt2_h, __hbgt2(Xh, Yh)) \
    X(hgtu_h, __hgtu(xh, yh)) \
    X(hgtu2_h, __hgtu2(Xh, Yh)) \
    X(hgtu2_mask_h, __hgtu2_mask(Xh, Yh)) \
    X(hbgtu2_h, __hbgtu2(Xh, Yh)) \
    X(hisnan_h, __hisnan(xh)) \
    X(hisinf_h, __hisinf(xh)) \
    X(htrunc_h, htrunc(xh)) \
    X(hceil_h, hceil(xh)) \
    X(hfloor_h, hfloor(xh)) \
    X(hrint_h, hrint(xh)) \
    X(hsqrt_h, hsqrt(xh)) \
    X(hadd2_h, __hadd2(Xh, Yh)) \
    X(hsub2_h, __hsub2(Xh, Yh)) \
    X(hmul2_h, __hmul2(Xh, Yh)) \
    X(h2div_h, __h2div(Xh, Yh)) \
    X(hmax2_h, __hmax2(Xh, Yh)) \
    X(hmin2_h, __hmin2(Xh, Yh)) \
    X(hadd2_sat_h, __hadd2_sat(Xh, Yh)) \
    X(hfma2_h, __hfma2(Xh, Yh, Zh)) \
    X(hfma2_relu_h, __hfma2_relu(Xh, Yh, Zh)) \
    X(hcmadd_h, __hcmadd(Xh, Yh, Zh)) \
    X(lowhigh2highlow_h, __lowhigh2highlow(Xh)) \
    X(lows2half2, __lows2half2(Xh, Yh)) \
    X(highs2half2, __highs2half2(Xh, Yh)) \
    X(half22float2_y, __half22float2(Xh).y) \
    X(floats2half2_rn, __floats2half2_rn(f, g)) \
    X(operators_h, (xh + yh) / -zh) \
    X(compare_h, xh < yh || xh == zh) \
    X(pair_equal_h, Xh != Yh) \
    X(to_int_h, (int)xh) \
    X(from_int_h, __half((int)u)) \
    X(from_long_h, __half((long long)l))

#define BFLOAT16_INTRINSICS(X) \
    X(float2bfloat16_rn, __float2bfloat16_rn(f)) \
    X(short2bfloat16_rn, __short2bfloat16_rn((short)u)) \
    X(bfloat162short_rn, __bfloat162short_rn(xb)) \
    X(ushort2bfloat16_rn, __ushort2bfloat16_rn((unsigned short)u)) \
    X(bfloat162ushort_rn, __bfloat162ushort_rn(xb)) \
    X(int2bfloat16_rn, __int2bfloat16_rn((int)u)) \
    X(bfloat162int_rn, __bfloat162int_rn(xb)) \
    X(uint2bfloat16_rn, __uint2bfloat16_rn(u)) \
    X(bfloat162uint_rn, __bfloat162uint_rn(xb)) \
    X(ll2bfloat16_rn, __ll2bfloat16_rn((long long)l)) \
    X(bfloat162ll_rn, __bfloat162ll_rn(xb)) \
    X(ull2bfloat16_rn, __ull2bfloat16_rn(l)) \
    X(bfloat162ull_rn, __bfloat162ull_rn(xb)) \
    X(float2bfloat16_rz, __float2bfloat16_rz(f)) \
    X(short2bfloat16_rz, __short2bfloat16_rz((short)u)) \
    X(bfloat162short_rz, __bfloat162short_rz(xb)) \
    X(ushort2bfloat16_rz, __ushort2bfloat16_rz((unsigned short)u)) \
    X(bfloat162ushort_rz, __bfloat162ushort_rz(xb)) \
    X(int2bfloat16_rz, __int2bfloat16_rz((int)u)) \
    X(bfloat162int_rz, __bfloat162int_rz(xb)) \
    X(uint2bfloat16_rz, __uint2bfloat16_rz(u)) \
    X(bfloat162uint_rz, __bfloat162uint_rz(xb)) \
    X(ll2bfloat16_rz, __ll2bfloat16_rz((long long)l)) \
    X(bfloat162ll_rz, __bfloat162ll_rz(xb)) \
    X(ull2bfloat16_rz, __ull2bfloat16_rz(l)) \
    X(bfloat162ull_rz, __bfloat162ull_rz(xb)) \
    X(float2bfloat16_ru, __float2bfloat16_ru(f)) \
    X(short2bfloat16_ru, __short2bfloat16_ru((short)u)) \
    X(bfloat162short_ru, __bfloat162short_ru(xb)) \
    X(ushort2bfloat16_ru, __ushort2bfloat16_ru((unsigned short)u)) \
    X(bfloat162ushort_ru, __bfloat162ushort_ru(xb)) \
    X(int2bfloat16_ru, __int2bfloat16_ru((int)u)) \
    X(bfloat162int_ru, __bfloat162int_ru(xb)) \
    X(uint2bfloat16_ru, __uint2bfloat16_ru(u)) \
    X(bfloat162uint_ru, __bfloat162uint_ru(xb)) \
    X(ll2bfloat16_ru, __ll2bfloat16_ru((long long)l)) \
    X(bfloat162ll_ru, __bfloat162ll_ru(xb)) \
    X(ull2bfloat16_ru, __ull2bfloat16_ru(l)) \
    X(bfloat162ull_ru, __bfloat162ull_ru(xb)) \
    X(float2bfloat16_rd, __float2bfloat16_rd(f)) \
    X(short2bfloat16_rd, __short2bfloat16_rd((short)u)) \
    X(bfloat162short_rd, __bfloat162short_rd(xb)) \
    X(ushort2bfloat16_rd, __ushort2bfloat16_rd((unsigned short)u)) \
    X(bfloat162ushort_rd, __bfloat162ushort_rd(xb)) \
    X(int2bfloat16_rd, __int2bfloat16_rd((int)u)) \
    X(bfloat162int_rd, __bfloat162int_rd(xb)) \
    X(uint2bfloat16_rd, __uint2bfloat16_rd(u)) \
    X(bfloat162uint_rd, __bfloat162uint_rd(xb)) \
    X(ll2bfloat16_rd, __ll2bfloat16_rd((long long)l)) \
    X(bfloat162ll_rd, __bfloat162ll_rd(xb)) \
    X(ull2bfloat16_rd, __ull2bfloat16_rd(l)) \
    X(bfloat162ull_rd, __bfloat162ull_rd(xb)) \
    X(double2bfloat16, __double2bfloat16(d)) \
    X(bfloat162float, __bfloat162float(xb)) \
    X(bfloat162char_rz, __bfloat162char_rz(xb)) \
    X(bfloat162uchar_rz, __bfloat162uchar_rz(xb)) \
    X(hadd_b, __hadd(xb, yb)) \
    X(hsub_b, __hsub(xb, yb)) \
    X(hmul_b, __hmul(xb, yb)) \
    X(hdiv_b, __hdiv(xb, yb)) \
    X(hadd_sat_b, __hadd_sat(xb, yb)) \
    X(hadd_rn_b, __hadd_rn(xb, yb)) \
    X(hsub_sat_b, __hsub_sat(xb, yb)) \
    X(hsub_rn_b, __hsub_rn(xb, yb)) \
    X(hmul_sat_b, __hmul_sat(xb, yb)) \
    X(hmul_rn_b, __hmul_rn(xb, yb)) \
    X(hfma_b, __hfma(xb, yb, zb)) \
    X(hfma_sat_b, __hfma_sat(xb, yb, zb)) \
    X(hfma_relu_b, __hfma_relu(xb, yb, zb)) \
    X(hneg_b, __hneg(xb)) \
    X(habs_b, __habs(xb)) \
    X(hmax_b, __hmax(xb, yb)) \
    X(hmin_b, __hmin(xb, yb)) \
    X(hmax_nan_b, __hmax_nan(xb, yb)) \
    X(hmin_nan_b, __hmin_nan(xb, yb)) \
    X(heq_b, __heq(xb, yb)) \
    X(heq2_b, __heq2(Xb, Yb)) \
    X(heq2_mask_b, __heq2_mask(Xb, Yb)) \
    X(hbeq2_b, __hbeq2(Xb, Yb)) \
    X(hequ_b, __hequ(xb, yb)) \
    X(hequ2_b, __hequ2(Xb, Yb)) \
    X(hequ2_mask_b, __hequ2_mask(Xb, Yb)) \
    X(hbequ2_b, __hbequ2(Xb, Yb)) \
    X(hne_b, __hne(xb, yb)) \
    X(hne2_b, __hne2(Xb, Yb)) \
    X(hne2_mask_b, __hne2_mask(Xb, Yb)) \
    X(hbne2_b, __hbne2(Xb, Yb)) \
    X(hneu_b, __hneu(xb, yb)) \
    X(hneu2_b, __hneu2(Xb, Yb)) \
    X(hneu2_mask_b, __hneu2_mask(Xb, Yb)) \
    X(hbneu2_b, __hbneu2(Xb, Yb)) \
    X(hle_b, __hle(xb, yb)) \
    X(hle2_b, __hle2(Xb, Yb)) \
    X(hle2_mask_b, __hle2_mask(Xb, Yb)) \
    X(hble2_b, __hble2(Xb, Yb)) \
    X(hleu_b, __hleu(xb, yb)) \
    X(hleu2_b, __hleu2(Xb, Yb)) \
    X(hleu2_mask_b, __hleu2_mask(Xb, Yb)) \
    X(hbleu2_b, __hbleu2(Xb, Yb)) \
    X(hge_b, __hge(xb, yb)) \
    X(hge2_b, __hge2(Xb, Yb)) \
    X(hge2_mask_b, __hge2_mask(Xb, Yb)) \
    X(hbge2_b, __hbge2(Xb, Yb)) \
    X(hgeu_b, __hgeu(xb, yb)) \
    X(hgeu2_b, __hgeu2(Xb, Yb)) \
    X(hgeu2_mask_b, __hgeu2_mask(Xb, Yb)) \
    X(hbgeu2_b, __hbgeu2(Xb, Yb)) \
    X(hlt_b, __hlt(xb, yb)) \
    X(hlt2_b, __hlt2(Xb, Yb)) \
    X(hlt2_mask_b, __hlt2_mask(Xb, Yb)) \
    X(hblt2_b, __hblt2(Xb, Yb)) \
    X(hltu_b, __hltu(xb, yb)) \
    X(hltu2_b, __hltu2(Xb, Yb)) \
    X(hltu2_mask_b, __hltu2_mask(Xb, Yb)) \
    X(hbltu2_b, __hbltu2(Xb, Yb)) \
    X(hgt_b, __hgt(xb, yb)) \
    X(hgt2_b, __hgt2(Xb, Yb)) \
    X(hgt2_mask_b, __hgt2_mask(Xb, Yb)) \
    X(hbgt2_b, __hbgt2(Xb, Yb)) \
    X(hgtu_b, __hgtu(xb, yb)) \
    X(hgtu2_b, __hgtu2(Xb, Yb)) \
    X(hgtu2_mask_b, __hgtu2_mask(Xb, Yb)) \
    X(hbgtu2_b, __hbgtu2(Xb, Yb)) \
    X(hisnan_b, __hisnan(xb)) \
    X(hisinf_b, __hisinf(xb)) \
    X(htrunc_b, htrunc(xb)) \
    X(hceil_b, hceil(xb)) \
    X(hfloor_b, hfloor(xb)) \
    X(hrint_b, hrint(xb)) \
    X(hsqrt_b, hsqrt(xb)) \
    X(hadd2_b, __hadd2(Xb, Yb)) \
    X(hsub2_b, __hsub2(Xb, Yb)) \
    X(hmul2_b, __hmul2(Xb, Yb)) \
    X(h2div_b, __h2div(Xb, Yb)) \
    X(hmax2_b, __hmax2(Xb, Yb)) \
    X(hmin2_b, __hmin2(Xb, Yb)) \
    X(hadd2_sat_b, __hadd2_sat(Xb, Yb)) \
    X(hfma2_b, __hfma2(Xb, Yb, Zb)) \
    X(hfma2_relu_b, __hfma2_relu(Xb, Yb, Zb)) \
    X(hcmadd_b, __hcmadd(Xb, Yb, Zb)) \
    X(lowhigh2highlow_b, __lowhigh2highlow(Xb)) \
    X(lows2bfloat162, __lows2bfloat162(Xb, Yb)) \
    X(highs2bfloat162, __highs2bfloat162(Xb, Yb)) \
    X(bfloat1622float2_y, __bfloat1622float2(Xb).y) \
    X(floats2bfloat162_rn, __floats2bfloat162_rn(f, g)) \
    X(operators_b, (xb + yb) / -zb) \
    X(compare_b, xb < yb || xb == zb) \
    X(pair_equal_b, Xb != Yb) \
    X(to_int_b, (int)xb) \
    X(from_int_b, __nv_bfloat16((int)u)) \
    X(from_long_b, __nv_bfloat16((long long)l))

#define FP8_INTRINSICS(X) \
    X(float_to_e4m3_nosat, __nv_cvt_float_to_fp8(f, __NV_NOSAT, __NV_E4M3)) \
    X(double_to_e4m3_nosat, __nv_cvt_double_to_fp8(d, __NV_NOSAT, __NV_E4M3)) \
    X(half_to_e4m3_nosat, __nv_cvt_halfraw_to_fp8(xh, __NV_NOSAT, __NV_E4M3)) \
    X(float_to_e4m3_satfinite, __nv_cvt_float_to_fp8(f, __NV_SATFINITE, __NV_E4M3)) \
    X(double_to_e4m3_satfinite, __nv_cvt_double_to_fp8(d, __NV_SATFINITE, __NV_E4M3)) \
    X(half_to_e4m3_satfinite, __nv_cvt_halfraw_to_fp8(xh, __NV_SATFINITE, __NV_E4M3)) \
    X(e4m3_to_half, __half(__nv_cvt_fp8_to_halfraw((unsigned char)u, __NV_E4M3))) \
    X(float_to_e5m2_nosat, __nv_cvt_float_to_fp8(f, __NV_NOSAT, __NV_E5M2)) \
    X(double_to_e5m2_nosat, __nv_cvt_double_to_fp8(d, __NV_NOSAT, __NV_E5M2)) \
    X(half_to_e5m2_nosat, __nv_cvt_halfraw_to_fp8(xh, __NV_NOSAT, __NV_E5M2)) \
    X(float_to_e5m2_satfinite, __nv_cvt_float_to_fp8(f, __NV_SATFINITE, __NV_E5M2)) \
    X(double_to_e5m2_satfinite, __nv_cvt_double_to_fp8(d, __NV_SATFINITE, __NV_E5M2)) \
    X(half_to_e5m2_satfinite, __nv_cvt_halfraw_to_fp8(xh, __NV_SATFINITE, __NV_E5M2)) \
    X(e5m2_to_half, __half(__nv_cvt_fp8_to_halfraw((unsigned char)u, __NV_E5M2)))
// clang-format on
