// The intrinsics of half, bfloat16 and 8-bit floats, as those of intrinsics_list.h.
// clang-format off

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
