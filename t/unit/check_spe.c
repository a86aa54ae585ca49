/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "decode/spe.h"
#include "t/records/text.h"
#include "t/unit/unit.h"

/* ---- packets ---- */

/* Most are a recorded stream: the cover letter of KVM's SPE support, 2020. */
static const struct {
	uint8_t bytes[16];
	int length;
	const char *text;
} packets[] = {
	{ { 0xb0, 0xf4, 0xd3, 0x29, 0x10, 0x00, 0x80, 0xff, 0xa0 },
	  9,
	  "PC 0xff80001029d3f4 el1 ns=1" },
	{ { 0x99, 0x0b, 0x00 }, 3, "LAT 11 ISSUE" },
	{ { 0x98, 0x0d, 0x00 }, 3, "LAT 13 TOT" },
	{ { 0x52, 0x16, 0x00 }, 3, "EV RETIRED L1D-ACCESS TLB-ACCESS" },
	{ { 0x49, 0x00 }, 2, "LD" },
	{ { 0xb2, 0xd0, 0x40, 0xd8, 0x70, 0x00, 0x00, 0xff, 0x00 },
	  9,
	  "VA 0xff000070d840d0" },
	{ { 0x9a, 0x01, 0x00 }, 3, "LAT 1 XLAT" },
	{ { 0x00, 0x00, 0x00, 0x01 }, 3, "PAD" },
	{ { 0x71, 0xa5, 0x1f, 0xb3, 0x20, 0x14, 0x00, 0x00, 0x00 },
	  9,
	  "TS 86447955877" },
	{ { 0x01 }, 1, "END" },
	{ { 0x65, 0x7b, 0x00, 0x00, 0x00 }, 5, "CONTEXT 0x7b el2" },
	{ { 0x43, 0x0e }, 2, "DATA-SOURCE 14" },
	{ { 0x4a, 0x03 }, 2, "B COND IND" },
	{ { 0x4a, 0x10 }, 2, "B CR-RET" },
	{ { 0x49, 0x1f }, 2, "ST AT EXCL AR" },
	{ { 0x49, 0x04 }, 2, "LD SIMD-FP" },
	{ { 0x49, 0xdc }, 2, "LD SVE-SME-REG EVLEN 1024 PRED SG" },
	{ { 0x48, 0x00 }, 2, "OTHER INSN-OTHER" },
	{ { 0x48, 0x01 }, 2, "OTHER COND-SELECT" },
	{ { 0x48, 0x2e }, 2, "SVE-OTHER EVLEN 128 FP PRED" },
	{ { 0x4b, 0x05 }, 2, "OP-TYPE 0x5 (3)" },
	{ { 0x62, 0x02, 0x10, 0x08, 0x00 }, 5, "EV RETIRED L2D-ACCESS IMPDEF:12" },
	{ { 0x42, 0xff },
	  2,
	  "EV EXCEPTION-GEN RETIRED L1D-ACCESS L1D-REFILL TLB-ACCESS TLB-REFILL "
	  "NOT-TAKEN MISPRED" },
	{ { 0x20, 0xb4, 0x10, 0, 0, 0, 0, 0, 0, 0x20 }, 10, "PBT 0x10 el1 ns=0" },
	{ { 0x21, 0xb1, 0x10, 0, 0, 0, 0, 0, 0, 0 }, 10, "ADDR 0x10 (9)" },
	{ { 0xb3, 0x42, 0x0c, 0x13, 0xf8, 0xf5, 0xd4, 0x0f, 0xec },
	  9,
	  "PA 0xfd4f5f8130c42 ns=1 ch=1 pat=c" },
	{ { 0x23, 0x00, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 }, 16, "PAD" },
};

START_TEST(packets_read_as_documented)
{
	const struct spe_stream s = { .data = packets[_i].bytes, .size = 16 };
	struct spe_packet p;
	struct buf text = { 0 };

	ck_assert_int_eq(spe_read_packet(&s, 0, &p), packets[_i].length);
	spe_packet_text(&p, &text);
	ck_assert_str_eq(buf_str(&text), packets[_i].text);
	buf_fini(&text);
}
END_TEST

START_TEST(a_packet_that_is_cut_off_is_none)
{
	struct spe_packet p = { .type = SPE_COUNTER };

	for (int n = 0; n < packets[_i].length; n++) {
		struct spe_stream s = { .data = packets[_i].bytes, .size = n };
		int length = spe_read_packet(&s, 0, &p);

		if (packets[_i].bytes[0]) /* padding is padding at any length */
			ck_assert_int_eq(length, 0);
	}
}
END_TEST

START_TEST(what_is_no_header_is_said_to_be_none)
{
	static const uint8_t bad[] = { 0x02, 0x1f, 0x24, 0x40, 0x60, 0x74, 0xa0, 0xff };
	static const uint8_t bad_extended[] = { 0x20, 0x52, 0, 0, 0, 0, 0, 0, 0, 0 };
	struct spe_packet p;

	for (size_t i = 0; i < NR(bad); i++) {
		struct spe_stream s = { .data = bad, .size = sizeof(bad) };

		ck_assert_int_eq(spe_read_packet(&s, i, &p), -EBADMSG);
	}
	ck_assert_int_eq(
		spe_read_packet(&(struct spe_stream){ .data = bad_extended,
						      .size = sizeof(bad_extended) },
				0, &p),
		-EBADMSG);
}
END_TEST

START_TEST(an_alignment_packet_reaches_the_next_boundary_of_the_buffer)
{
	uint8_t data[64];
	struct spe_packet p;

	memset(data, 0xff, sizeof(data));
	for (unsigned int power = 0; power < 4; power++) {
		const uint64_t alignment = 2ULL << power;

		data[0] = 0x20 | power;
		data[1] = 0;
		for (uint64_t offset = 4096; offset < 4096 + 16; offset += 2) {
			struct spe_stream s = { data, sizeof(data), offset };
			int length = spe_read_packet(&s, 0, &p);

			ck_assert_int_ge(length, 2);
			ck_assert_uint_eq((offset + length) % alignment, 0);
			ck_assert_uint_le(length, alignment);
		}
	}
}
END_TEST

/* It would have one byte: the packets have lost their places. */
START_TEST(an_alignment_packet_one_byte_before_the_boundary_is_damage)
{
	static const uint8_t data[] = { 0x20, 0, 0, 0 };
	const struct spe_stream s = { data, sizeof(data), 4097 };
	struct spe_packet p;

	ck_assert_int_eq(spe_read_packet(&s, 0, &p), -EBADMSG);
}
END_TEST

/* ---- records ---- */

static const uint8_t recorded[] = {
	0xb0, 0xf4, 0xd3, 0x29, 0x10, 0x00, 0x80, 0xff, 0xa0, /* PC */
	0x99, 0x0b, 0x00, 0x98, 0x0d, 0x00,                   /* LAT 11, 13 */
	0x52, 0x16, 0x00, 0x49, 0x00,                         /* EV, LD */
	0xb2, 0xd0, 0x40, 0xd8, 0x70, 0x00, 0x00, 0xff, 0x00, /* VA */
	0x9a, 0x01, 0x00, 0x00, 0x00, 0x00,                   /* XLAT, PAD */
	0x71, 0xa5, 0x1f, 0xb3, 0x20, 0x14, 0x00, 0x00, 0x00, /* TS */
};

static void check_recorded(const struct hw_record *r)
{
	ck_assert_uint_eq(r->value[HW_PC], 0xffff80001029d3f4);
	ck_assert_uint_eq(r->value[HW_DATA_ADDRESS], 0xffff000070d840d0);
	ck_assert_uint_eq(r->value[HW_DISPATCH_TO_ISSUE], 11);
	ck_assert_uint_eq(r->value[HW_DISPATCH_TO_COMPLETE], 13);
	ck_assert_uint_eq(r->value[HW_TRANSLATION], 1);
	ck_assert_uint_eq(r->value[HW_TIMESTAMP], 86447955877);
	ck_assert(hw_is(r, HW_RETIRED) && hw_is(r, HW_LOAD));
	ck_assert(hw_knows(r, HW_STORE) && !hw_is(r, HW_STORE));
	ck_assert(hw_knows(r, HW_L1D_MISS) && !hw_is(r, HW_L1D_MISS));
	ck_assert(hw_knows(r, HW_DTLB_WALK) && !hw_is(r, HW_DTLB_WALK));
	ck_assert(!hw_knows(r, HW_LLC_MISS) && !hw_knows(r, HW_MISPREDICTED));
}

START_TEST(a_recorded_load_is_one_record)
{
	struct spe_reader reader = { .stream = { recorded, sizeof(recorded), 0 } };
	struct hw_record r;

	ck_assert(spe_next(&reader, &r));
	check_recorded(&r);
	ck_assert(!spe_next(&reader, &r));
	ck_assert_uint_eq(reader.at, sizeof(recorded));
	ck_assert_uint_eq(reader.skipped, 0);
}
END_TEST

START_TEST(a_record_that_is_cut_off_waits_for_its_end)
{
	for (size_t n = 0; n < sizeof(recorded); n++) {
		struct spe_reader reader = { .stream = { recorded, n, 0 } };
		struct hw_record r;

		ck_assert(!spe_next(&reader, &r));
		ck_assert_uint_eq(reader.at, 0);
		reader.stream.size = sizeof(recorded);
		ck_assert(spe_next(&reader, &r));
		check_recorded(&r);
	}
}
END_TEST

static const size_t boundaries[] = { 0, 9, 12, 15, 18, 20, 29, 32, 35 };

static int count_recorded(const uint8_t *data, size_t size, uint64_t *skipped)
{
	struct spe_reader reader = { .stream = { data, size, 0 } };
	struct hw_record r;
	int nr = 0;

	for (; spe_next(&reader, &r); nr++)
		check_recorded(&r);
	ck_assert_uint_eq(reader.at, size);
	*skipped = reader.skipped;
	return nr;
}

START_TEST(a_damaged_record_is_left_out_and_a_later_one_is_whole)
{
	const size_t hit = sizeof(recorded) + boundaries[_i];
	uint8_t data[3 * sizeof(recorded)];
	uint64_t skipped;

	for (int i = 0; i < 3; i++)
		memcpy(data + i * sizeof(recorded), recorded, sizeof(recorded));
	memset(data + hit, 0xff, 2 * sizeof(recorded) - hit);
	/* which end is the damaged record's cannot be told: it takes the next one along
	 */
	ck_assert_int_eq(count_recorded(data, sizeof(data), &skipped), 1);
	ck_assert_uint_eq(skipped, 2 * sizeof(recorded));
}
END_TEST

START_TEST(a_record_whose_end_is_missing_does_not_leak_into_the_next)
{
	const size_t cut = sizeof(recorded) - boundaries[_i];
	uint8_t data[3 * sizeof(recorded)];
	uint64_t skipped;

	for (int i = 0; i < 3; i++)
		memcpy(data + i * sizeof(recorded), recorded, sizeof(recorded));
	memcpy(data + 2 * sizeof(recorded) - cut, recorded, sizeof(recorded));
	ck_assert_int_eq(count_recorded(data, sizeof(data) - cut, &skipped), 2);
	ck_assert_uint_eq(skipped, boundaries[_i]);
}
END_TEST

static const struct {
	uint8_t operation, events;
	bool taken, mispredicted, conditional, indirect;
} branches[] = {
	{ 0x01, 0x02, true, false, true, false },
	{ 0x01, 0x42, false, false, true, false },
	{ 0x02, 0x82, true, true, false, true },
	{ 0x00, 0x02, true, false, false, false },
};

START_TEST(branches_tell_their_outcome_whichever_packet_is_first)
{
	const uint8_t orders[2][5] = {
		{ 0x4a, branches[_i].operation, 0x42, branches[_i].events, 0x01 },
		{ 0x42, branches[_i].events, 0x4a, branches[_i].operation, 0x01 },
	};

	for (int i = 0; i < 2; i++) {
		struct spe_reader reader = { .stream = { orders[i], 5, 0 } };
		struct hw_record r;

		ck_assert(spe_next(&reader, &r));
		ck_assert(hw_is(&r, HW_BRANCH) && hw_knows(&r, HW_TAKEN));
		ck_assert_int_eq(hw_is(&r, HW_TAKEN), branches[_i].taken);
		ck_assert_int_eq(hw_is(&r, HW_MISPREDICTED), branches[_i].mispredicted);
		ck_assert_int_eq(hw_is(&r, HW_CONDITIONAL), branches[_i].conditional);
		ck_assert_int_eq(hw_is(&r, HW_INDIRECT), branches[_i].indirect);
		ck_assert(!hw_has(&r, HW_TIMESTAMP) && !hw_has(&r, HW_PC));
	}
}
END_TEST

START_TEST(data_sources_are_told_of_cores_that_number_them_so)
{
	static const uint8_t data[] = { 0x43, 0x0e, 0x49, 0x00, 0x01 };
	struct spe_reader reader = { .stream = { data, sizeof(data), 0 } };
	struct hw_record r;

	ck_assert(spe_next(&reader, &r));
	ck_assert(!hw_has(&r, HW_DATA_SOURCE));
	reader.at = 0;
	reader.common_sources = spe_has_common_sources(0x413fd0c1); /* Neoverse N1 */
	ck_assert(reader.common_sources);
	ck_assert(spe_next(&reader, &r));
	ck_assert_uint_eq(r.value[HW_DATA_SOURCE], HW_FROM_RAM);
	ck_assert(!spe_has_common_sources(0xc00fac30)); /* another maker's */
	ck_assert(!spe_has_common_sources(0x410fd070)); /* Cortex A57 */
}
END_TEST

/* ---- any bytes ---- */

START_TEST(any_bytes_are_read_to_their_end_in_any_pieces)
{
	uint64_t seed = unit_seed(), state = seed | 1;
	uint8_t data[257];

	for (int round = 0; round < 3000; round++) {
		struct spe_reader whole = { .stream = { data, sizeof(data), 0 } };
		struct spe_reader pieces = { .stream = { data, 0, 0 } };
		int nr = 0, nr_pieces = 0;
		struct hw_record r, last = { 0 }, last_piece = { 0 };

		/* mostly real packets, or little would be read */
		for (size_t i = 0; i < sizeof(data); i++)
			data[i] = recorded[i % sizeof(recorded)];
		for (int i = 0; i < round % 20; i++)
			data[unit_random(&state) % sizeof(data)] = unit_random(&state);
		while (spe_next(&whole, &r)) {
			last = r;
			nr++;
		}
		ck_assert(whole.at <= sizeof(data) && whole.skipped <= whole.at);
		for (size_t end = 0; end <= sizeof(data); end += 1 + end % 7) {
			pieces.stream.size = end;
			while (spe_next(&pieces, &r)) {
				last_piece = r;
				nr_pieces++;
			}
		}
		pieces.stream.size = sizeof(data);
		while (spe_next(&pieces, &r)) {
			last_piece = r;
			nr_pieces++;
		}
		ck_assert_msg(nr == nr_pieces, "seed %#" PRIx64, seed);
		ck_assert_msg(!memcmp(&last, &last_piece, sizeof(last)),
			      "seed %#" PRIx64, seed);
	}
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("spe");
	TCase *tc = tcase_create("spe");

	tcase_add_loop_test(tc, packets_read_as_documented, 0, NR(packets));
	tcase_add_loop_test(tc, a_packet_that_is_cut_off_is_none, 0, NR(packets));
	tcase_add_test(tc, what_is_no_header_is_said_to_be_none);
	tcase_add_test(tc, an_alignment_packet_reaches_the_next_boundary_of_the_buffer);
	tcase_add_test(tc, an_alignment_packet_one_byte_before_the_boundary_is_damage);
	tcase_add_test(tc, a_recorded_load_is_one_record);
	tcase_add_test(tc, a_record_that_is_cut_off_waits_for_its_end);
	tcase_add_loop_test(tc, a_damaged_record_is_left_out_and_a_later_one_is_whole,
			    0, NR(boundaries));
	tcase_add_loop_test(tc,
			    a_record_whose_end_is_missing_does_not_leak_into_the_next,
			    0, NR(boundaries));
	tcase_add_loop_test(tc, branches_tell_their_outcome_whichever_packet_is_first,
			    0, NR(branches));
	tcase_add_test(tc, data_sources_are_told_of_cores_that_number_them_so);
	tcase_add_test(tc, any_bytes_are_read_to_their_end_in_any_pieces);
	suite_add_tcase(suite, tc);
	return suite;
}

UNIT_MAIN(make_suite)
