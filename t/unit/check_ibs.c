/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "decode/ibs.h"
#include "decode/ibs_fields.h"
#include "t/records/text.h"
#include "t/unit/unit.h"

static const struct ibs_machine zen3 = { .family = 0x19, .model = 0x01 };
static const struct ibs_machine zen3_later = { .family = 0x19, .model = 0x21 };
static const struct ibs_machine zen4 = {
	.caps = IBS_CAP_ZEN4 | IBS_CAP_BRANCH_TARGET | IBS_CAP_FETCH_EXTENDED,
	.family = 0x19,
	.model = 0x11,
};

/* A sample's raw data as the kernel lays it out. Returns its size. */
static size_t make_raw(uint32_t caps, const uint64_t *reg, size_t nr, uint8_t *raw)
{
	memcpy(raw, &caps, sizeof(caps));
	memcpy(raw + sizeof(caps), reg, nr * sizeof(*reg));
	return sizeof(caps) + nr * sizeof(*reg);
}

static struct ibs_sample make_op(uint64_t data, uint64_t data2, uint64_t data3)
{
	struct ibs_sample s = { .kind = IBS_OP, .caps = IBS_CAP_BRANCH_TARGET };

	s.reg[IBS_OP_CTL] = 3 << 17;
	s.reg[IBS_OP_RIP] = 0x401000;
	s.reg[IBS_OP_DATA] = data;
	s.reg[IBS_OP_DATA2] = data2;
	s.reg[IBS_OP_DATA3] = data3;
	s.reg[IBS_OP_LINEAR] = 0x7000;
	s.reg[IBS_OP_PHYSICAL] = 0x9000;
	s.reg[IBS_OP_TARGET] = 0x402000;
	return s;
}

/* ---- text: registers from Linux's perf-amd-ibs documentation and its history ---- */

static const struct {
	const struct ibs_machine *machine;
	uint64_t reg[IBS_NR_REGS];
	const char *text;
} vectors[] = {
	{ &zen4,
	  { 0x000002c30006186a, 0xffffffff8204aea7, 0x0000010002550001, 0x13,
	    0x31960092, 0xff110008a5398920, 0x00000008a5398920, 0 },
	  "ibs_op_ctl:\t000002c30006186a MaxCnt    100000 L3MissOnly 0 En 1 Val 1 "
	  "CntCtl 0=cycles CurCnt       707\n"
	  "IbsOpRip:\tffffffff8204aea7\n"
	  "ibs_op_data:\t0000010002550001 CompToRetCtr     1 TagToRetCtr   597 "
	  "BrnRet 0  RipInvalid 0 BrnFuse 0 Microcode 1\n"
	  "ibs_op_data2:\t0000000000000013 RmtNode 1 DataSrc 3=DRAM\n"
	  "ibs_op_data3:\t0000000031960092 LdOp 0 StOp 1 DcL1TlbMiss 0 DcL2TlbMiss 0 "
	  "DcL1TlbHit2M 1 DcL1TlbHit1G 0 DcL2TlbHit2M 0 DcMiss 1 DcMisAcc 0 "
	  "DcWcMemAcc 0 DcUcMemAcc 0 DcLockedOp 0 DcMissNoMabAlloc 0 "
	  "DcLinAddrValid 1 DcPhyAddrValid 1 DcL2TlbHit1G 0 L2Miss 1 SwPf 0 "
	  "OpMemWidth 32 bytes OpDcMissOpenMemReqs 12 DcMissLat     0 "
	  "TlbRefillLat     0\n"
	  "IbsDCLinAd:\tff110008a5398920\n"
	  "IbsDCPhysAd:\t00000008a5398920\n" },
	{ &zen3_later,
	  { 0x0000009e009e8968, 0x000056016b2ea73d, 0xb0002, 2, 0xc60002,
	    0x00007f133c319ce0, 0x0000000270485ce0, 0 },
	  "ibs_op_ctl:\t0000009e009e8968 MaxCnt  10000000 En 1 Val 1 CntCtl 1=uOps "
	  "CurCnt       158\n"
	  "IbsOpRip:\t000056016b2ea73d\n"
	  "ibs_op_data:\t00000000000b0002 CompToRetCtr     2 TagToRetCtr    11 "
	  "BrnRet 0  RipInvalid 0 BrnFuse 0 Microcode 0\n"
	  "ibs_op_data2:\t0000000000000002 CacheHitSt 0=M-state RmtNode 0 "
	  "DataSrc 2=Local node cache\n"
	  "ibs_op_data3:\t0000000000c60002 LdOp 0 StOp 1 DcL1TlbMiss 0 DcL2TlbMiss 0 "
	  "DcL1TlbHit2M 0 DcL1TlbHit1G 0 DcL2TlbHit2M 0 DcMiss 0 DcMisAcc 0 "
	  "DcWcMemAcc 0 DcUcMemAcc 0 DcLockedOp 0 DcMissNoMabAlloc 0 "
	  "DcLinAddrValid 1 DcPhyAddrValid 1 DcL2TlbHit1G 0 L2Miss 0 SwPf 0 "
	  "OpMemWidth  4 bytes OpDcMissOpenMemReqs  0 DcMissLat     0 "
	  "TlbRefillLat     0\n"
	  "IbsDCLinAd:\t00007f133c319ce0\n"
	  "IbsDCPhysAd:\t0000000270485ce0\n" },
	/* the same processor, where erratum 1293 takes words away */
	{ &zen3,
	  { 0x0000004500070008, 0x401000, 0x710002, 2, 0x0000681d1700a1, 0, 0, 0 },
	  "ibs_op_ctl:\t0000004500070008 MaxCnt       128 En 1 Val 1 CntCtl 0=cycles "
	  "CurCnt        69\n"
	  "IbsOpRip:\t0000000000401000\n"
	  "ibs_op_data:\t0000000000710002 CompToRetCtr     2 TagToRetCtr   113 "
	  "BrnRet 0  RipInvalid 0 BrnFuse 0 Microcode 0\n"
	  "ibs_op_data3:\t000000681d1700a1 LdOp 1 StOp 0 DcL1TlbMiss 0 DcL2TlbMiss 0 "
	  "DcL1TlbHit2M 0 DcL1TlbHit1G 1 DcL2TlbHit2M 0 DcMiss 1 DcMisAcc 0 "
	  "DcWcMemAcc 0 DcUcMemAcc 0 DcLockedOp 0 DcMissNoMabAlloc 1 "
	  "DcLinAddrValid 1 DcPhyAddrValid 1 DcL2TlbHit1G 0 SwPf 0 "
	  "OpMemWidth  8 bytes DcMissLat   104 TlbRefillLat     0\n"
	  "IbsDCLinAd:\t0000000000000000\n"
	  "IbsDCPhysAd:\t0000000000000000\n" },
};

START_TEST(documented_registers_read_as_documented)
{
	uint8_t raw[4 + 8 * IBS_NR_REGS];
	struct ibs_sample s;
	struct buf text = { 0 };
	size_t size =
		make_raw(IBS_CAP_BRANCH_TARGET, vectors[_i].reg, IBS_NR_REGS, raw);

	ck_assert_int_eq(ibs_read(IBS_OP, raw, size, &s), 0);
	ibs_text(&s, vectors[_i].machine, &text);
	ck_assert_str_eq(buf_str(&text), vectors[_i].text);
	buf_fini(&text);
}
END_TEST

START_TEST(load_latency_filters_are_told_of_where_they_are)
{
	struct ibs_machine zen5 = zen4;
	struct ibs_sample s = make_op(0, 0, 0);
	struct buf text = { 0 };

	zen5.caps |= IBS_CAP_LOAD_LATENCY;
	s.reg[IBS_OP_CTL] |= 1ULL << 63 | 7ULL << 59;
	ibs_text(&s, &zen5, &text);
	ck_assert_ptr_nonnull(strstr(buf_str(&text), " LdLatThrsh  7 LdLatEn 1\n"));
	buf_fini(&text);
}
END_TEST

/* ---- reading ---- */

START_TEST(raw_data_that_is_short_or_not_valid_is_refused)
{
	const uint64_t valid[IBS_NR_REGS] = { 3ULL << 17 | 3ULL << 48 };
	const uint64_t not_valid[IBS_NR_REGS] = { 1ULL << 17 | 1ULL << 48 };
	static const size_t at_least[] = { [IBS_FETCH] = 3, [IBS_OP] = 7 };
	uint8_t raw[4 + 8 * IBS_NR_REGS];
	struct ibs_sample s = { .caps = 42 };
	size_t size = make_raw(0, valid, IBS_NR_REGS, raw);

	for (enum ibs_kind kind = IBS_FETCH; kind <= IBS_OP; kind++) {
		for (size_t n = 0; n < size; n++)
			ck_assert_int_eq(ibs_read(kind, raw, n, &s),
					 n < 4 + 8 * at_least[kind] ? -EBADMSG : 0);
	}
	s.caps = 42;
	make_raw(0, not_valid, IBS_NR_REGS, raw);
	ck_assert_int_eq(ibs_read(IBS_OP, raw, size, &s), -EBADMSG);
	ck_assert_int_eq(ibs_read(IBS_FETCH, raw, size, &s), -EBADMSG);
	ck_assert_uint_eq(s.caps, 42);
}
END_TEST

START_TEST(the_branch_target_is_there_only_where_the_processor_has_it)
{
	const uint64_t reg[IBS_NR_REGS] = {
		[IBS_OP_CTL] = 3 << 17, [IBS_OP_TARGET] = 0x1234
	};
	uint8_t raw[4 + 8 * IBS_NR_REGS];
	struct ibs_sample s;
	size_t size = make_raw(0, reg, IBS_NR_REGS, raw);

	ck_assert_int_eq(ibs_read(IBS_OP, raw, size, &s), 0);
	ck_assert_uint_eq(s.reg[IBS_OP_TARGET], 0);
	make_raw(IBS_CAP_BRANCH_TARGET, reg, IBS_NR_REGS, raw);
	ck_assert_int_eq(ibs_read(IBS_OP, raw, size, &s), 0);
	ck_assert_uint_eq(s.reg[IBS_OP_TARGET], 0x1234);
}
END_TEST

/* Each field is the bits that it says, and no others. */
START_TEST(fields_lie_side_by_side_in_their_registers)
{
	static const struct {
		enum ibs_field field;
		unsigned int reg, low, bits;
	} fields[] = {
#define PLACE(name, in, low, bits) { IBS_F_##name, IBS_##in, low, bits },
		IBS_FIELDS(PLACE)
#undef PLACE
	};
	struct ibs_sample s = { .kind = IBS_OP };

	for (size_t i = 0; i < NR(fields); i++) {
		for (unsigned int bit = 0; bit < 64; bit++) {
			bool in = bit >= fields[i].low &&
				  bit < fields[i].low + fields[i].bits;

			s.reg[fields[i].reg] = 1ULL << bit;
			ck_assert_uint_eq(ibs_get(&s, fields[i].field),
					  in ? 1u << (bit - fields[i].low) : 0);
		}
		s.reg[fields[i].reg] = 0;
	}
}
END_TEST

/* ---- records ---- */

START_TEST(an_op_tells_its_branch_and_its_latencies)
{
	struct ibs_sample s = make_op(5 | 20 << 16 | 1ULL << 35 | 1ULL << 37, 0, 0);
	struct hw_record r;

	ibs_record(&s, &zen4, &r);
	ck_assert(hw_is(&r, HW_RETIRED));
	ck_assert(hw_is(&r, HW_BRANCH) && hw_is(&r, HW_TAKEN));
	ck_assert(hw_knows(&r, HW_MISPREDICTED) && !hw_is(&r, HW_MISPREDICTED));
	ck_assert_uint_eq(r.value[HW_PC], 0x401000);
	ck_assert_uint_eq(r.value[HW_TARGET], 0x402000);
	ck_assert_uint_eq(r.value[HW_DISPATCH_TO_RETIRE], 20);
	ck_assert_uint_eq(r.value[HW_COMPLETE_TO_RETIRE], 5);
	ck_assert_uint_eq(r.value[HW_DISPATCH_TO_COMPLETE], 15);
	ck_assert(hw_knows(&r, HW_LOAD) && !hw_is(&r, HW_LOAD));
	ck_assert(!hw_knows(&r, HW_L1D_MISS) && !hw_has(&r, HW_DATA_ADDRESS));
	s.reg[IBS_OP_DATA] = 1ULL << 38;
	ibs_record(&s, &zen4, &r);
	ck_assert(!hw_has(&r, HW_PC) && !hw_knows(&r, HW_TAKEN));
}
END_TEST

enum { NO, YES, UNKNOWN };

static int told(const struct hw_record *r, enum hw_flag flag)
{
	return hw_knows(r, flag) ? hw_is(r, flag) : UNKNOWN;
}

#define LD     1ULL
#define ST     2ULL
#define MISS   (1ULL << 7)
#define NO_MAB (1ULL << 16)
#define L2MISS (1ULL << 20)
#define LAT(n) ((uint64_t)(n) << 32)

static const struct {
	const struct ibs_machine *machine;
	uint64_t data2, data3;
	int l1, l2, llc, remote, modified;
	int source; /* -1: unknown */
	int memory; /* -1: unknown */
} accesses[] = {
	{ &zen4, 0, LD, NO, NO, NO, UNKNOWN, UNKNOWN, HW_FROM_L1, -1 },
	{ &zen4, 0, LD | MISS | LAT(9), YES, NO, NO, UNKNOWN, UNKNOWN, HW_FROM_L2, 9 },
	{ &zen4, 1, LD | MISS | L2MISS | LAT(40), YES, YES, NO, NO, UNKNOWN,
	  HW_FROM_LOCAL_CACHE, 40 },
	{ &zen4, 2, LD | MISS | L2MISS, YES, YES, YES, NO, YES, HW_FROM_NEAR_CACHE, 0 },
	{ &zen4, 5 | 1 << 4 | 1 << 5, LD | MISS | L2MISS, YES, YES, YES, YES, NO,
	  HW_FROM_FAR_CACHE, 0 },
	{ &zen4, 3 | 1 << 4, LD | MISS | L2MISS, YES, YES, YES, YES, UNKNOWN,
	  HW_FROM_FAR_RAM, 0 },
	{ &zen4, 1 << 6, LD | MISS | L2MISS, YES, YES, YES, NO, UNKNOWN,
	  HW_FROM_SLOW_RAM, 0 }, /* 8 */
	{ &zen4, 4 | 1 << 6, LD | MISS | L2MISS, YES, YES, YES, NO, UNKNOWN,
	  HW_FROM_PEER, 0 }, /* 12 */
	{ &zen4, 4, LD | MISS | L2MISS, YES, YES, UNKNOWN, UNKNOWN, UNKNOWN, -1, 0 },
	{ &zen4, 0, LD | MISS | L2MISS | NO_MAB, YES, YES, UNKNOWN, UNKNOWN, UNKNOWN,
	  HW_FROM_FILL_BUFFER, 0 },
	/* stores say neither how long nor from where */
	{ &zen4, 3, ST | MISS | L2MISS | LAT(9), YES, YES, UNKNOWN, UNKNOWN, UNKNOWN,
	  -1, -1 },
	/* without the finer numbers, the last-level cache is one of the node's */
	{ &zen3_later, 2, LD | MISS | L2MISS, YES, YES, UNKNOWN, NO, UNKNOWN,
	  HW_FROM_LOCAL_CACHE, 0 },
	{ &zen3_later, 4 | 1 << 4 | 1 << 5, LD | MISS | L2MISS, YES, YES, YES, YES, NO,
	  HW_FROM_FAR_CACHE, 0 },
	{ &zen3_later, 3 | 1 << 6, LD | MISS | L2MISS, YES, YES, YES, NO, UNKNOWN,
	  HW_FROM_RAM, 0 },
	/* erratum 1293 */
	{ &zen3, 3, LD | MISS | L2MISS | NO_MAB | LAT(7), YES, UNKNOWN, UNKNOWN,
	  UNKNOWN, UNKNOWN, -1, 7 },
};

START_TEST(an_access_tells_how_far_it_went)
{
	struct ibs_sample s = make_op(0, accesses[_i].data2, accesses[_i].data3);
	struct hw_record r;

	ibs_record(&s, accesses[_i].machine, &r);
	ck_assert_int_eq(told(&r, HW_L1D_MISS), accesses[_i].l1);
	ck_assert_int_eq(told(&r, HW_L2_MISS), accesses[_i].l2);
	ck_assert_int_eq(told(&r, HW_LLC_MISS), accesses[_i].llc);
	ck_assert_int_eq(told(&r, HW_REMOTE), accesses[_i].remote);
	ck_assert_int_eq(told(&r, HW_MODIFIED), accesses[_i].modified);
	ck_assert_int_eq(hw_has(&r, HW_DATA_SOURCE) ? (int)r.value[HW_DATA_SOURCE] : -1,
			 accesses[_i].source);
	ck_assert_int_eq(hw_has(&r, HW_MEMORY) ? (int)r.value[HW_MEMORY] : -1,
			 accesses[_i].memory);
}
END_TEST

START_TEST(translations_are_told_of_valid_addresses_alone)
{
	const uint64_t refill = 33ULL << 48, missed = LD | 1 << 2 | 1 << 3;
	struct ibs_sample s = make_op(0, 0, refill | missed | 4 << 22);
	struct hw_record r;

	ibs_record(&s, &zen4, &r);
	ck_assert(!hw_knows(&r, HW_DTLB_MISS) && !hw_has(&r, HW_TRANSLATION));
	ck_assert(!hw_has(&r, HW_DATA_ADDRESS) && !hw_has(&r, HW_DATA_PHYSICAL));
	ck_assert_uint_eq(r.value[HW_DATA_BYTES], 8);
	s.reg[IBS_OP_DATA3] |= 3 << 17;
	ibs_record(&s, &zen4, &r);
	ck_assert(hw_is(&r, HW_DTLB_MISS) && hw_is(&r, HW_DTLB_WALK));
	ck_assert_uint_eq(r.value[HW_TRANSLATION], 33);
	ck_assert_uint_eq(r.value[HW_DATA_ADDRESS], 0x7000);
	ck_assert_uint_eq(r.value[HW_DATA_PHYSICAL], 0x9000);
	s.reg[IBS_OP_DATA3] &= ~(1ULL << 3);
	ibs_record(&s, &zen4, &r);
	ck_assert(hw_is(&r, HW_DTLB_MISS) && hw_knows(&r, HW_DTLB_WALK) &&
		  !hw_is(&r, HW_DTLB_WALK));
}
END_TEST

START_TEST(a_fetch_tells_what_its_processor_can)
{
	struct ibs_sample s = { .kind = IBS_FETCH, .caps = IBS_CAP_FETCH_EXTENDED };
	struct hw_record r;

	s.reg[IBS_FETCH_CTL] = 17ULL << 32 | 3ULL << 48 | 1ULL << 51 | 1ULL << 55 |
			       1ULL << 58 | 1ULL << 61;
	s.reg[IBS_FETCH_LINEAR] = 0x403000;
	s.reg[IBS_FETCH_EXTENDED] = 12;
	ibs_record(&s, &zen4, &r);
	ck_assert_uint_eq(r.value[HW_PC], 0x403000);
	ck_assert_uint_eq(r.value[HW_FETCH], 17);
	ck_assert_uint_eq(r.value[HW_FETCH_TRANSLATION], 12);
	ck_assert(hw_is(&r, HW_L1I_MISS) && hw_is(&r, HW_ITLB_MISS));
	ck_assert_int_eq(told(&r, HW_ITLB_WALK), NO);
	ck_assert_int_eq(told(&r, HW_LLC_MISS), YES);
	ck_assert_int_eq(told(&r, HW_OP_CACHE_MISS), NO);
	ck_assert_int_eq(told(&r, HW_L2_MISS), UNKNOWN); /* it is not complete */
	ck_assert_int_eq(told(&r, HW_RETIRED), UNKNOWN);
	s.reg[IBS_FETCH_CTL] |= 1ULL << 50;
	ibs_record(&s, &zen3, &r);
	ck_assert_int_eq(told(&r, HW_L2_MISS), YES);
	ck_assert_int_eq(told(&r, HW_L1I_MISS), UNKNOWN); /* erratum 1238 */
	ck_assert_int_eq(told(&r, HW_LLC_MISS), UNKNOWN);
}
END_TEST

/* I1 and I2 of hwrecord.h, and that no register value is beyond its words. */
START_TEST(any_registers_make_a_record_and_a_text)
{
	uint64_t seed = unit_seed(), state = seed | 1;
	struct ibs_machine machine = zen4;

	for (int round = 0; round < 4000; round++) {
		struct ibs_sample s = { .kind = round & 1 };
		struct hw_record r;
		struct buf text = { 0 };

		machine.caps = unit_random(&state);
		machine.model = unit_random(&state) & 0x1f;
		s.caps = machine.caps;
		for (int i = 0; i < IBS_NR_REGS; i++)
			s.reg[i] = unit_random(&state) & unit_random(&state);
		ibs_record(&s, &machine, &r);
		ck_assert_msg(!(r.is & ~r.known), "seed %#" PRIx64, seed);
		for (int i = 0; i < HW_NR_VALUES; i++)
			ck_assert_msg(hw_has(&r, i) || !r.value[i], "seed %#" PRIx64,
				      seed);
		ck_assert(!hw_has(&r, HW_DATA_SOURCE) ||
			  r.value[HW_DATA_SOURCE] < HW_NR_DATA_SOURCES);
		ibs_text(&s, &machine, &text);
		ck_assert_ptr_null(strstr(buf_str(&text), "(null)"));
		buf_fini(&text);
	}
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("ibs");
	TCase *tc = tcase_create("ibs");

	tcase_add_loop_test(tc, documented_registers_read_as_documented, 0,
			    NR(vectors));
	tcase_add_test(tc, load_latency_filters_are_told_of_where_they_are);
	tcase_add_test(tc, raw_data_that_is_short_or_not_valid_is_refused);
	tcase_add_test(tc, the_branch_target_is_there_only_where_the_processor_has_it);
	tcase_add_test(tc, fields_lie_side_by_side_in_their_registers);
	tcase_add_test(tc, an_op_tells_its_branch_and_its_latencies);
	tcase_add_loop_test(tc, an_access_tells_how_far_it_went, 0, NR(accesses));
	tcase_add_test(tc, translations_are_told_of_valid_addresses_alone);
	tcase_add_test(tc, a_fetch_tells_what_its_processor_can);
	tcase_add_test(tc, any_registers_make_a_record_and_a_text);
	suite_add_tcase(suite, tc);
	return suite;
}

UNIT_MAIN(make_suite)
