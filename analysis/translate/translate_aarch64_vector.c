/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate_aarch64_vector.c - the vector instructions by which string functions decide
 *
 * A vector has two 64-bit lanes, or one and zeros behind it. An instruction without a
 * rule of its own, mostly floating-point arithmetic, makes its register unknown.
 */
#include "config.h"

#include "analysis/translate/translate_aarch64.h"

static bool is_whole(const struct a64 *x)
{
	return a64_field(x, 30, 1);
}

/* What was added last is the only lane: the other one is 0. */
static void end_half(struct a64 *x)
{
	x->out->uop[x->out->nr - 1].flags |= CPI_UOP_ZERO_NEXT;
}

/* A row of micro-ops for each lane, of which the last one writes it. */
typedef void lane_fn(struct a64 *x, unsigned int arg, unsigned int lane);

static void each_lane(struct a64 *x, lane_fn *one, unsigned int arg)
{
	one(x, arg, 0);
	if (is_whole(x))
		one(x, arg, 1);
	else
		end_half(x);
}

/* vd = vn op vm, in elements of field size. */
static void binary_lane(struct a64 *x, unsigned int op, unsigned int lane)
{
	a64_compute(x, op, 3, a64_lane(x, 0, lane), a64_lane(x, 5, lane),
		    a64_lane(x, 16, lane))
		->imm = (int32_t)a64_field(x, 22, 2);
}

/* arg: whether it is crypto's: other scalars clear the rest of their register. */
void a64_vunknown(struct a64 *x, unsigned int arg)
{
	if (a64_field(x, 28, 1) && !arg) {
		a64_forget(x, a64_lane(x, 0, 0));
		end_half(x);
	} else {
		a64_forget_vector(x, a64_field(x, 0, 5));
	}
}

/* arg: the op; minima and maxima do not exist for elements of 8 bytes */
void a64_vbinary(struct a64 *x, unsigned int arg)
{
	if (a64_field(x, 22, 2) == 3 && arg != CPI_UOP_VADD && arg != CPI_UOP_VSUB &&
	    arg != CPI_UOP_VCMPEQ && arg != CPI_UOP_VCMPGT)
		x->failed = true;
	each_lane(x, binary_lane, arg);
}

static void logic_lane(struct a64 *x, unsigned int op, unsigned int lane)
{
	unsigned int src = a64_lane(x, 16, lane);

	if (op == CPI_UOP_ANDN) { /* ~a & b */
		a64_compute(x, op, 3, a64_lane(x, 0, lane), src, a64_lane(x, 5, lane));
		return;
	}
	if (op == CPI_UOP_NOT) { /* orn */
		a64_compute(x, CPI_UOP_NOT, 3, A64_TEMP, src, CPI_REG_ZERO);
		op = CPI_UOP_OR;
		src = A64_TEMP;
	}
	a64_compute(x, op, 3, a64_lane(x, 0, lane), a64_lane(x, 5, lane), src);
}

void a64_vlogic(struct a64 *x, unsigned int arg)
{
	each_lane(x, logic_lane, arg);
}

/* bsl, bit and bif by field size: 1, 2, 3 */
static void select_lane(struct a64 *x, unsigned int arg, unsigned int lane)
{
	const unsigned int n = a64_lane(x, 5, lane), m = a64_lane(x, 16, lane);

	if (arg == 1)
		a64_compute(x, CPI_UOP_VTERNARY, 3, a64_lane(x, 0, lane), n, m)->imm =
			A64_C_THEN_A;
	else
		a64_compute(x, CPI_UOP_VTERNARY, 3, a64_lane(x, 0, lane), m, n)->imm =
			arg == 2 ? A64_A_THEN_B : A64_A_THEN_C;
}

void a64_vselect(struct a64 *x, unsigned int arg)
{
	each_lane(x, select_lane, arg);
}

static void compare(struct a64 *x, unsigned int op, unsigned int dst, unsigned int a,
		    unsigned int b, bool negate)
{
	const int32_t size = (int32_t)a64_field(x, 22, 2);

	a64_compute(x, op, 3, negate ? A64_TEMP : dst, a, b)->imm = size;
	if (negate)
		a64_compute(x, CPI_UOP_NOT, 3, dst, A64_TEMP, CPI_REG_ZERO);
}

static void compare_lane(struct a64 *x, unsigned int what, unsigned int lane)
{
	const unsigned int dst = a64_lane(x, 0, lane), n = a64_lane(x, 5, lane);
	const unsigned int m = a64_lane(x, 16, lane), zero = CPI_REG_ZERO;
	const unsigned int most = A64_TEMP + 1;

	switch (what) {
	case A64_GE:
		compare(x, CPI_UOP_VCMPGT, dst, m, n, true);
		break;
	case A64_HI: /* not: m is the greatest */
	case A64_HS: /* n is */
		a64_compute(x, CPI_UOP_VMAXU, 3, most, n, m)->imm =
			(int32_t)a64_field(x, 22, 2);
		compare(x, CPI_UOP_VCMPEQ, dst, most, what == A64_HS ? n : m,
			what == A64_HI);
		break;
	case A64_TST:
		a64_compute(x, CPI_UOP_AND, 3, most, n, m);
		compare(x, CPI_UOP_VCMPEQ, dst, most, zero, true);
		break;
	case A64_EQ_ZERO:
		compare(x, CPI_UOP_VCMPEQ, dst, n, zero, false);
		break;
	case A64_GT_ZERO:
	case A64_LE_ZERO:
		compare(x, CPI_UOP_VCMPGT, dst, n, zero, what == A64_LE_ZERO);
		break;
	default:
		compare(x, CPI_UOP_VCMPGT, dst, zero, n, what == A64_GE_ZERO);
		break;
	}
}

void a64_vcompare(struct a64 *x, unsigned int arg)
{
	each_lane(x, compare_lane, arg);
}

static void not_lane(struct a64 *x, unsigned int arg, unsigned int lane)
{
	a64_compute(x, CPI_UOP_NOT, 3, a64_lane(x, 0, lane), a64_lane(x, 5, lane),
		    CPI_REG_ZERO);
}

void a64_vnot(struct a64 *x, unsigned int arg)
{
	each_lane(x, not_lane, 0);
}

/* dst = the even, or the odd, elements of a and of b; size is log2 of their bytes */
static void take_every_other(struct a64 *x, unsigned int dst, unsigned int a,
			     unsigned int b, unsigned int size, bool odd)
{
	a64_compute(x, CPI_UOP_VNARROW, 3, dst, a, b)->imm =
		(int32_t)CPI_NARROW_IMM(size, odd ? 8u << size : 0);
}

/* dst = op of neighbours in a, and then in b */
static void join_neighbours(struct a64 *x, unsigned int op, unsigned int dst,
			    unsigned int a, unsigned int b, unsigned int size)
{
	const unsigned int odd = A64_TEMP + 1, even = A64_TEMP + 2;

	take_every_other(x, odd, a, b, size, true);
	take_every_other(x, even, a, b, size, false);
	a64_compute(x, op, 3, dst, even, odd)->imm = (int32_t)size;
}

/* arg: the op */
void a64_vpairwise(struct a64 *x, unsigned int arg)
{
	const unsigned int size = a64_field(x, 22, 2), d = a64_field(x, 0, 5);
	const unsigned int n = a64_field(x, 5, 5), m = a64_field(x, 16, 5);

	if (size == 3) {
		a64_vunknown(x, 0);
		return;
	}
	if (!is_whole(x)) {
		join_neighbours(x, arg, CPI_REG_LANE(d, 0), CPI_REG_LANE(n, 0),
				CPI_REG_LANE(m, 0), size);
		end_half(x);
		return;
	}
	join_neighbours(x, arg, A64_TEMP, CPI_REG_LANE(n, 0), CPI_REG_LANE(n, 1), size);
	if (n == m)
		a64_compute(x, CPI_UOP_MOV, 3, CPI_REG_LANE(d, 1), CPI_REG_ZERO,
			    A64_TEMP);
	else
		join_neighbours(x, arg, CPI_REG_LANE(d, 1), CPI_REG_LANE(m, 0),
				CPI_REG_LANE(m, 1), size);
	a64_compute(x, CPI_UOP_MOV, 3, CPI_REG_LANE(d, 0), CPI_REG_ZERO, A64_TEMP);
}

/* arg: the op. All elements become one. */
void a64_vreduce(struct a64 *x, unsigned int arg)
{
	const unsigned int size = a64_field(x, 22, 2), n = a64_field(x, 5, 5);
	unsigned int nr = 8u >> size, from = CPI_REG_LANE(n, 0);

	if (size > 2 || (size == 2 && !is_whole(x))) {
		x->failed = true;
		return;
	}
	if (is_whole(x)) {
		a64_compute(x, arg, 3, A64_TEMP, from, CPI_REG_LANE(n, 1))->imm =
			(int32_t)size;
		from = A64_TEMP;
	}
	for (; nr > 1; nr /= 2) {
		join_neighbours(x, arg, A64_TEMP, from, CPI_REG_ZERO, size);
		from = A64_TEMP;
	}
	a64_extend(x, CPI_UOP_MOV, 3, a64_lane(x, 0, 0), A64_TEMP, size);
	end_half(x);
}

/* addp of two elements of 8 bytes to one. */
void a64_addp_scalar(struct a64 *x, unsigned int arg)
{
	a64_compute(x, CPI_UOP_ADD, 3, a64_lane(x, 0, 0), a64_lane(x, 5, 0),
		    a64_lane(x, 5, 1));
	end_half(x);
}

/* The lane of a permutation's result, whose elements have less than 8 bytes. */
static void permute_lane(struct a64 *x, unsigned int dst, unsigned int lane,
			 unsigned int opcode)
{
	const unsigned int size = a64_field(x, 22, 2), odd = opcode >> 2;
	const unsigned int n = a64_field(x, 5, 5), m = a64_field(x, 16, 5);
	const unsigned int from = is_whole(x) ? odd : 0;
	const unsigned int upper = is_whole(x) ? lane : odd;

	if (opcode & 2) /* zip */
		a64_compute(x, CPI_UOP_VUNPACK, 3, dst, CPI_REG_LANE(n, from),
			    CPI_REG_LANE(m, from))
			->imm = (int32_t)(size | upper << 2);
	else if (is_whole(x)) /* uzp */
		take_every_other(x, dst, a64_lane(x, lane ? 16 : 5, 0),
				 a64_lane(x, lane ? 16 : 5, 1), size, odd);
	else
		take_every_other(x, dst, CPI_REG_LANE(n, 0), CPI_REG_LANE(m, 0), size,
				 odd);
}

/* Of elements of 8 bytes, all permutations take n's and m's lower, or upper, one. */
static void permute_long(struct a64 *x, unsigned int odd)
{
	a64_compute(x, CPI_UOP_MOV, 3, A64_TEMP, CPI_REG_ZERO, a64_lane(x, 5, odd));
	a64_compute(x, CPI_UOP_MOV, 3, a64_lane(x, 0, 1), CPI_REG_ZERO,
		    a64_lane(x, 16, odd));
	a64_compute(x, CPI_UOP_MOV, 3, a64_lane(x, 0, 0), CPI_REG_ZERO, A64_TEMP);
}

/* uzp1, uzp2, zip1, zip2; trn1 and trn2 only of 8 bytes, where they are zip1, zip2. */
void a64_vpermute(struct a64 *x, unsigned int arg)
{
	const unsigned int opcode = a64_field(x, 12, 3), size = a64_field(x, 22, 2);

	if (size == 3 && !is_whole(x)) {
		x->failed = true;
	} else if (size == 3) {
		permute_long(x, opcode >> 2);
	} else if ((opcode & 3) == 2) { /* trn */
		a64_vunknown(x, 0);
	} else if (!is_whole(x)) {
		permute_lane(x, a64_lane(x, 0, 0), 0, opcode);
		end_half(x);
	} else {
		permute_lane(x, A64_TEMP, 0, opcode);
		permute_lane(x, a64_lane(x, 0, 1), 1, opcode);
		a64_compute(x, CPI_UOP_MOV, 3, a64_lane(x, 0, 0), CPI_REG_ZERO,
			    A64_TEMP);
	}
}

/* ext: bytes from the middle of vn and vm. */
void a64_vextract(struct a64 *x, unsigned int arg)
{
	const unsigned int from = a64_field(x, 11, 4), n = a64_field(x, 5, 5);
	const unsigned int m = a64_field(x, 16, 5), skip = from >> 3;
	const int32_t shift = (int32_t)(8 * (from & 7));
	const unsigned int lane[] = { CPI_REG_LANE(n, 0), CPI_REG_LANE(n, 1),
				      CPI_REG_LANE(m, 0), CPI_REG_LANE(m, 1) };

	if (!is_whole(x)) {
		if (skip)
			x->failed = true;
		a64_compute(x, CPI_UOP_SHRD, 3, a64_lane(x, 0, 0), lane[0], lane[2])
			->imm = shift;
		end_half(x);
		return;
	}
	a64_compute(x, CPI_UOP_SHRD, 3, A64_TEMP, lane[skip], lane[skip + 1])->imm =
		shift;
	a64_compute(x, CPI_UOP_SHRD, 3, a64_lane(x, 0, 1), lane[skip + 1],
		    lane[skip + 2])
		->imm = shift;
	a64_compute(x, CPI_UOP_MOV, 3, a64_lane(x, 0, 0), CPI_REG_ZERO, A64_TEMP);
}

/* Each bit eight times. */
static uint64_t spread_bits(uint32_t bits)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < 8; i++)
		value |= bits >> i & 1 ? 0xffULL << 8 * i : 0;
	return value;
}

static uint64_t repeat(uint64_t value, unsigned int bits)
{
	for (; bits < 64; bits *= 2)
		value |= value << bits;
	return value;
}

/* A number as vectors and fmov have it: a sign, three bits of exponent, four of rest.
 */
static uint64_t short_float(uint32_t imm8, unsigned int size)
{
	const uint64_t sign = imm8 >> 7, rest = imm8 & 63, big = !(imm8 >> 6 & 1);

	if (size == 3)
		return sign << 63 | big << 62 | (big ? 0 : 0xffULL) << 54 | rest << 48;
	return sign << 31 | big << 30 | (big ? 0 : 0x1fULL) << 25 | rest << 19;
}

/* The constant of a modified immediate. Bits that orr and bic do not change are 0. */
static uint64_t vector_constant(struct a64 *x)
{
	const uint32_t cmode = a64_field(x, 12, 4), op = a64_field(x, 29, 1);
	const uint32_t imm8 = a64_field(x, 16, 3) << 5 | a64_field(x, 5, 5);
	uint64_t value = imm8;

	if (cmode < 8)
		value = repeat(value << 8 * (cmode >> 1), 32);
	else if (cmode < 12)
		value = repeat(value << 8 * (cmode >> 1 & 1), 16);
	else if (cmode < 14)
		value = repeat(cmode & 1 ? value << 16 | 0xffff : value << 8 | 0xff,
			       32);
	else if (cmode == 14)
		return op ? spread_bits(imm8) : repeat(value, 8);
	else
		return op ? short_float(imm8, 3) : repeat(short_float(imm8, 2), 32);
	return value;
}

/* movi, mvni, fmov, and orr and bic with a constant. */
void a64_vimm(struct a64 *x, unsigned int arg)
{
	const uint32_t cmode = a64_field(x, 12, 4), op = a64_field(x, 29, 1);
	const bool changes = cmode < 12 && cmode & 1;
	uint64_t value = vector_constant(x);

	if (a64_field(x, 11, 1)) { /* of two bytes */
		a64_vunknown(x, 0);
		return;
	}
	if (op && cmode < 14)
		value = ~value;
	for (unsigned int lane = 0; lane <= is_whole(x); lane++) {
		const unsigned int dst = a64_lane(x, 0, lane);

		a64_constant(x, changes ? A64_TEMP : dst, 3, value);
		if (changes)
			a64_compute(x, op ? CPI_UOP_AND : CPI_UOP_OR, 3, dst, dst,
				    A64_TEMP);
	}
	if (!is_whole(x))
		end_half(x);
}

/* Halves of elements: to the lower lane, or to the upper one. */
static void narrow(struct a64 *x, unsigned int size, unsigned int shift)
{
	const unsigned int n = a64_field(x, 5, 5);

	a64_compute(x, CPI_UOP_VNARROW, 3, a64_lane(x, 0, is_whole(x)),
		    CPI_REG_LANE(n, 0), CPI_REG_LANE(n, 1))
		->imm = (int32_t)CPI_NARROW_IMM(size, shift);
	if (!is_whole(x))
		end_half(x);
}

/* shrn */
void a64_vnarrow(struct a64 *x, unsigned int arg)
{
	const unsigned int immh = a64_field(x, 19, 4), imm = a64_field(x, 16, 7);
	const unsigned int size = immh >> 2 ? 2 : immh >> 1;

	if (immh >> 3)
		x->failed = true;
	narrow(x, size, (16u << size) - imm);
}

/* xtn */
void a64_vextract_narrow(struct a64 *x, unsigned int arg)
{
	const unsigned int size = a64_field(x, 22, 2);

	if (size == 3)
		x->failed = true;
	narrow(x, size, 0);
}

/* Elements are named by the lowest bit that is set in imm5. */
static unsigned int element_size(struct a64 *x)
{
	const unsigned int imm5 = a64_field(x, 16, 5);
	unsigned int size = 0;

	while (size < 3 && !(imm5 >> size & 1))
		size++;
	if (!(imm5 & 15))
		x->failed = true;
	return size;
}

static void fill(struct a64 *x, unsigned int src, unsigned int size)
{
	if (size == 3 && !is_whole(x))
		x->failed = true;
	for (unsigned int lane = 0; lane <= is_whole(x); lane++)
		a64_extend(x, CPI_UOP_VDUP, 3, a64_lane(x, 0, lane), src, size);
	if (!is_whole(x))
		end_half(x);
}

void a64_vdup(struct a64 *x, unsigned int arg)
{
	fill(x, a64_read(x, 5), element_size(x));
}

/* to = the element of vn, and what is above it */
static void take_element(struct a64 *x, unsigned int to, unsigned int element,
			 unsigned int size)
{
	const unsigned int at = element << size;

	a64_compute_imm(x, CPI_UOP_SHR, 3, to, a64_lane(x, 5, at >> 3 & 1),
			(int32_t)(8 * (at & 7)));
}

static unsigned int element_number(struct a64 *x)
{
	return a64_field(x, 16, 5) >> (element_size(x) + 1);
}

void a64_vdup_element(struct a64 *x, unsigned int arg)
{
	take_element(x, A64_TEMP, element_number(x), element_size(x));
	fill(x, A64_TEMP, element_size(x));
}

void a64_dup_scalar(struct a64 *x, unsigned int arg)
{
	take_element(x, A64_TEMP, element_number(x), element_size(x));
	a64_extend(x, CPI_UOP_MOV, 3, a64_lane(x, 0, 0), A64_TEMP, element_size(x));
	end_half(x);
}

void a64_umov(struct a64 *x, unsigned int arg)
{
	if ((element_size(x) == 3) != is_whole(x))
		x->failed = true;
	take_element(x, A64_TEMP, element_number(x), element_size(x));
	a64_extend(x, CPI_UOP_MOV, 3, a64_written(x, 0), A64_TEMP, element_size(x));
}

void a64_smov(struct a64 *x, unsigned int arg)
{
	const unsigned int size = is_whole(x) ? 3 : 2;

	if (element_size(x) >= size)
		x->failed = true;
	take_element(x, A64_TEMP, element_number(x), element_size(x));
	a64_extend(x, CPI_UOP_SEXT, size, a64_written(x, 0), A64_TEMP, element_size(x));
}

void a64_ins(struct a64 *x, unsigned int arg)
{
	if (!is_whole(x))
		x->failed = true;
	a64_compute(x, CPI_UOP_MOV, 3, A64_TEMP + 2, CPI_REG_ZERO, a64_read(x, 5));
	a64_insert(x, a64_field(x, 0, 5), element_number(x), element_size(x));
}

void a64_ins_element(struct a64 *x, unsigned int arg)
{
	const unsigned int size = element_size(x);

	if (!is_whole(x))
		x->failed = true;
	take_element(x, A64_TEMP + 2, a64_field(x, 11, 4) >> size, size);
	a64_insert(x, a64_field(x, 0, 5), element_number(x), size);
}

/* log2 of a number's bytes; of two bytes we know nothing. */
static unsigned int float_size(struct a64 *x)
{
	const unsigned int type = a64_field(x, 22, 2);

	if (type > 1)
		x->failed = true;
	return 2 + (type & 1);
}

void a64_fmov(struct a64 *x, unsigned int arg)
{
	a64_extend(x, CPI_UOP_MOV, 3, a64_lane(x, 0, 0), a64_lane(x, 5, 0),
		   float_size(x));
	end_half(x);
}

void a64_fmov_imm(struct a64 *x, unsigned int arg)
{
	a64_constant(x, a64_lane(x, 0, 0), 3,
		     short_float(a64_field(x, 13, 8), float_size(x)));
	end_half(x);
}

/* From and to an integer register. arg: log2 of the bytes */
void a64_fmov_to(struct a64 *x, unsigned int arg)
{
	a64_extend(x, CPI_UOP_MOV, 3, a64_written(x, 0), a64_lane(x, 5, 0), arg);
}

void a64_fmov_from(struct a64 *x, unsigned int arg)
{
	a64_extend(x, CPI_UOP_MOV, 3, a64_lane(x, 0, 0), a64_read(x, 5), arg);
	end_half(x);
}

void a64_fmov_high_to(struct a64 *x, unsigned int arg)
{
	a64_compute(x, CPI_UOP_MOV, 3, a64_written(x, 0), CPI_REG_ZERO,
		    a64_lane(x, 5, 1));
}

void a64_fmov_high_from(struct a64 *x, unsigned int arg)
{
	a64_compute(x, CPI_UOP_MOV, 3, a64_lane(x, 0, 1), CPI_REG_ZERO, a64_read(x, 5));
}

void a64_fcmp(struct a64 *x, unsigned int arg)
{
	const unsigned int src = a64_field(x, 3, 1) ? CPI_REG_ZERO : a64_lane(x, 16, 0);
	struct cpi_uop *u;

	if (a64_field(x, 22, 2) > 1) {
		a64_unflag(x, 0);
		return;
	}
	u = a64_compute(x, CPI_UOP_COMIS, float_size(x), CPI_REG_NONE,
			a64_lane(x, 5, 0), src);
	u->flags |= CPI_UOP_FLAGS;
	u->imm = 1;
}

void a64_fcsel(struct a64 *x, unsigned int arg)
{
	const unsigned int cond = a64_field(x, 12, 4), size = float_size(x);
	const unsigned int dst = a64_lane(x, 0, 0);

	if (cond >= 14) {
		a64_extend(x, CPI_UOP_MOV, 3, dst, a64_lane(x, 5, 0), size);
	} else {
		a64_compute(x, CPI_UOP_CMOV, size, dst, a64_lane(x, 16, 0),
			    a64_lane(x, 5, 0))
			->imm = (int32_t)a64_condition(x, cond);
	}
	end_half(x);
}
