/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate_aarch64_integer.c - arithmetic, logic, shifts and bits
 */
#include "config.h"

#include "analysis/translate/translate_aarch64.h"

/* Bits that many instructions share. */
static bool sets_flags(const struct a64 *x)
{
	return a64_field(x, 29, 1);
}

static unsigned int nr_bits(const struct a64 *x)
{
	return 8u << a64_size(x);
}

static void add_flags(const struct a64 *x, struct cpi_uop *u)
{
	if (sets_flags(x))
		u->flags |= CPI_UOP_FLAGS;
}

/* adds takes a carry, subs a borrow, of which it makes the opposite. */
static unsigned int add_or_subtract(const struct a64 *x)
{
	if (!a64_field(x, 30, 1))
		return CPI_UOP_ADD;
	return sets_flags(x) ? CPI_UOP_SUBN : CPI_UOP_SUB;
}

/* Where sp can be written, but not by what sets flags. */
static unsigned int written_or_sp(const struct a64 *x)
{
	return sets_flags(x) ? a64_written(x, 0) : a64_or_sp(x, 0);
}

/* arg: whether of the page */
void a64_adr(struct a64 *x, unsigned int arg)
{
	const int32_t number = a64_signed(x, 5, 19) * 4 + (int32_t)a64_field(x, 29, 2);
	const int64_t disp = (int64_t)number * 4096;
	const unsigned int dst = a64_written(x, 0);

	if (!arg) {
		a64_address(x, dst, CPI_REG_PC, number);
		return;
	}
	a64_compute_imm(x, CPI_UOP_AND, 3, A64_TEMP, CPI_REG_PC, -4096);
	if (disp == (int32_t)disp) {
		a64_address(x, dst, A64_TEMP, (int32_t)disp);
		return;
	}
	a64_constant(x, A64_TEMP + 1, 3, (uint64_t)disp);
	a64_compute(x, CPI_UOP_ADD, 3, dst, A64_TEMP, A64_TEMP + 1);
}

void a64_add_imm(struct a64 *x, unsigned int arg)
{
	const int32_t imm = (int32_t)(a64_field(x, 10, 12) << 12 * a64_field(x, 22, 1));

	add_flags(x, a64_compute_imm(x, add_or_subtract(x), a64_size(x),
				     written_or_sp(x), a64_or_sp(x, 5), imm));
}

/* The constants of bits that are set in a row, in elements that are all the same. */
static uint64_t bit_mask(struct a64 *x)
{
	const uint32_t n = a64_field(x, 22, 1), imms = a64_field(x, 10, 6);
	unsigned int size = 64, turn, ones;
	uint64_t element;

	while (size > 1 && !((n << 6 | (~imms & 63)) & size))
		size /= 2;
	ones = (imms & (size - 1)) + 1;
	if (size < 2 || ones == size || (n && a64_size(x) < 3)) {
		x->failed = true;
		return 0;
	}
	element = (1ULL << ones) - 1;
	turn = a64_field(x, 16, 6) & (size - 1);
	if (turn)
		element = element >> turn | element << (size - turn);
	if (size < 64)
		element &= (1ULL << size) - 1;
	for (; size < 64; size *= 2)
		element |= element << size;
	return element;
}

static const uint8_t logic_ops[] = { CPI_UOP_AND, CPI_UOP_OR, CPI_UOP_XOR,
				     CPI_UOP_AND };

void a64_logic_imm(struct a64 *x, unsigned int arg)
{
	const unsigned int opc = a64_field(x, 29, 2), size = a64_size(x);
	const unsigned int dst = opc == 3 ? a64_written(x, 0) : a64_or_sp(x, 0);
	const unsigned int left = a64_read(x, 5);
	const uint64_t mask = bit_mask(x);
	struct cpi_uop *u;

	if (opc == 1 && left == CPI_REG_ZERO) {
		a64_constant(x, dst, size, mask);
		return;
	}
	if (size == 2 || mask == (uint64_t)(int32_t)mask) {
		u = a64_compute_imm(x, logic_ops[opc], size, dst, left, (int32_t)mask);
	} else {
		a64_constant(x, A64_TEMP, 3, mask);
		u = a64_compute(x, logic_ops[opc], size, dst, left, A64_TEMP);
	}
	if (opc == 3)
		u->flags |= CPI_UOP_FLAGS;
}

void a64_move_wide(struct a64 *x, unsigned int arg)
{
	const unsigned int opc = a64_field(x, 29, 2), shift = 16 * a64_field(x, 21, 2);
	const unsigned int dst = a64_written(x, 0), size = a64_size(x);
	const uint64_t imm = (uint64_t)a64_field(x, 5, 16) << shift;

	if (shift >= nr_bits(x))
		x->failed = true;
	if (opc == 3) { /* movk: the others remain */
		a64_constant(x, A64_TEMP + 1, 3, imm);
		a64_merge(x, dst, size, A64_TEMP + 1, 0xffffULL << shift);
		return;
	}
	a64_constant(x, dst, size, opc ? imm : ~imm);
}

/* Bits of src to the bottom or to a place, zero- or sign-extended. */
static void move_bits(struct a64 *x, unsigned int dst, unsigned int src,
		      unsigned int down)
{
	const unsigned int immr = a64_field(x, 16, 6), imms = a64_field(x, 10, 6);
	const unsigned int size = a64_size(x), up = nr_bits(x) - 1 - imms;

	if (!immr && (imms == 7 || imms == 15 || (imms == 31 && size == 3))) {
		a64_extend(x, down == CPI_UOP_SAR ? CPI_UOP_SEXT : CPI_UOP_MOV, size,
			   dst, src, (imms + 1) / 16);
	} else if (!up) {
		a64_compute_imm(x, down, size, dst, src, (int32_t)immr);
	} else if (imms + 1 == immr) {
		a64_compute_imm(x, CPI_UOP_SHL, size, dst, src, (int32_t)up);
	} else {
		a64_compute_imm(x, CPI_UOP_SHL, size, A64_TEMP, src, (int32_t)up);
		a64_compute_imm(x, down, size, dst, A64_TEMP,
				(int32_t)(imms >= immr ? up + immr : immr - imms - 1));
	}
}

static void merge_bits(struct a64 *x)
{
	const unsigned int immr = a64_field(x, 16, 6), imms = a64_field(x, 10, 6);
	const unsigned int size = a64_size(x), src = a64_read(x, 5);
	unsigned int width = imms + 1, to = nr_bits(x) - immr;

	if (imms >= immr) {
		width = imms - immr + 1;
		to = 0;
		a64_compute_imm(x, CPI_UOP_SHR, size, A64_TEMP + 1, src, (int32_t)immr);
	} else {
		a64_compute_imm(x, CPI_UOP_SHL, size, A64_TEMP + 1, src, (int32_t)to);
	}
	a64_merge(x, a64_written(x, 0), size, A64_TEMP + 1,
		  (~0ULL >> (64 - width)) << to);
}

void a64_bitfield(struct a64 *x, unsigned int arg)
{
	const unsigned int opc = a64_field(x, 29, 2);

	if (a64_field(x, 22, 1) != x->word >> 31 || a64_field(x, 16, 6) >= nr_bits(x) ||
	    a64_field(x, 10, 6) >= nr_bits(x) || opc == 3)
		x->failed = true;
	else if (opc == 1)
		merge_bits(x);
	else
		move_bits(x, a64_written(x, 0), a64_read(x, 5),
			  opc ? CPI_UOP_SHR : CPI_UOP_SAR);
}

void a64_extract(struct a64 *x, unsigned int arg)
{
	const unsigned int shift = a64_field(x, 10, 6);

	if (a64_field(x, 22, 1) != x->word >> 31 || shift >= nr_bits(x))
		x->failed = true;
	a64_compute(x, CPI_UOP_SHRD, a64_size(x), a64_written(x, 0), a64_read(x, 16),
		    a64_read(x, 5))
		->imm = (int32_t)shift;
}

/* The register that holds field rm's, shifted. */
static unsigned int shifted(struct a64 *x)
{
	static const uint8_t shifts[] = { CPI_UOP_SHL, CPI_UOP_SHR, CPI_UOP_SAR,
					  CPI_UOP_ROR };
	const unsigned int amount = a64_field(x, 10, 6), src = a64_read(x, 16);

	if (amount >= nr_bits(x))
		x->failed = true;
	if (!amount)
		return src;
	a64_compute_imm(x, shifts[a64_field(x, 22, 2)], a64_size(x), A64_TEMP, src,
			(int32_t)amount);
	return A64_TEMP;
}

void a64_logic(struct a64 *x, unsigned int arg)
{
	const unsigned int opc = a64_field(x, 29, 2), size = a64_size(x);
	const unsigned int dst = a64_written(x, 0), left = a64_read(x, 5);
	unsigned int src = shifted(x);
	struct cpi_uop *u;

	if (opc == 1 && left == CPI_REG_ZERO) {
		if (arg)
			a64_compute(x, CPI_UOP_NOT, size, dst, src, CPI_REG_ZERO);
		else
			a64_compute(x, CPI_UOP_MOV, size, dst, left, src);
		return;
	}
	if (arg && (opc & 1) == (opc >> 1)) { /* bic, bics */
		u = a64_compute(x, CPI_UOP_ANDN, size, dst, src, left);
	} else {
		if (arg) {
			a64_compute(x, CPI_UOP_NOT, size, A64_TEMP, src, CPI_REG_ZERO);
			src = A64_TEMP;
		}
		u = a64_compute(x, logic_ops[opc], size, dst, left, src);
	}
	if (opc == 3)
		u->flags |= CPI_UOP_FLAGS;
}

/* What lea can do is one micro-op. */
static bool add_by_address(struct a64 *x)
{
	const unsigned int amount = a64_field(x, 10, 6);
	struct cpi_uop *u;

	if (a64_field(x, 29, 2) || a64_field(x, 22, 2) || !amount || amount > 3)
		return false;
	u = a64_add(x, CPI_UOP_LEA, a64_size(x));
	u->dst = (uint8_t)a64_written(x, 0);
	uop_base(u, a64_read(x, 5));
	uop_index(u, a64_read(x, 16), amount);
	return true;
}

void a64_add_shifted(struct a64 *x, unsigned int arg)
{
	unsigned int src;

	if (a64_field(x, 22, 2) == 3)
		x->failed = true;
	if (add_by_address(x))
		return;
	src = shifted(x);
	add_flags(x, a64_compute(x, add_or_subtract(x), a64_size(x), a64_written(x, 0),
				 a64_read(x, 5), src));
}

void a64_add_extended(struct a64 *x, unsigned int arg)
{
	const unsigned int option = a64_field(x, 13, 3), shift = a64_field(x, 10, 3);
	const unsigned int size = a64_size(x);
	unsigned int src = a64_read(x, 16);

	if (shift > 4)
		x->failed = true;
	if ((option & 3) < size) {
		a64_extend(x, option & 4 ? CPI_UOP_SEXT : CPI_UOP_MOV, size, A64_TEMP,
			   src, option & 3);
		src = A64_TEMP;
	}
	if (shift) {
		a64_compute_imm(x, CPI_UOP_SHL, size, A64_TEMP, src, (int32_t)shift);
		src = A64_TEMP;
	}
	add_flags(x, a64_compute(x, add_or_subtract(x), size, written_or_sp(x),
				 a64_or_sp(x, 5), src));
}

void a64_adc(struct a64 *x, unsigned int arg)
{
	add_flags(x, a64_compute(x, a64_field(x, 30, 1) ? CPI_UOP_SBCN : CPI_UOP_ADC,
				 a64_size(x), a64_written(x, 0), a64_read(x, 5),
				 a64_read(x, 16)));
}

/* arg: whether with a constant */
void a64_ccmp(struct a64 *x, unsigned int arg)
{
	const unsigned int cond = a64_field(x, 12, 4), size = a64_size(x);
	const unsigned int add = !a64_field(x, 30, 1);
	unsigned int src = a64_read(x, 16);
	struct cpi_uop *u;

	if (arg) {
		a64_constant(x, A64_TEMP, size, a64_field(x, 16, 5));
		src = A64_TEMP;
	}
	if (cond >= 14) { /* always */
		u = a64_compute(x, add ? CPI_UOP_ADD : CPI_UOP_SUBN, size, CPI_REG_NONE,
				a64_read(x, 5), src);
	} else {
		u = a64_compute(x, CPI_UOP_CCMP, size, CPI_REG_NONE, a64_read(x, 5),
				src);
		u->imm = (int32_t)CPI_CCMP_IMM(a64_condition(x, cond),
					       cpi_flags_of_nzcv(a64_field(x, 0, 4)),
					       add);
	}
	u->flags |= CPI_UOP_FLAGS;
}

/* cset and csetm */
static void set_by_condition(struct a64 *x, unsigned int cond, bool negate)
{
	const unsigned int dst = a64_written(x, 0), size = a64_size(x);
	struct cpi_uop *u = a64_add(x, CPI_UOP_SETCC, size);

	u->dst = (uint8_t)dst;
	u->imm = (int32_t)a64_condition(x, cond ^ 1);
	if (negate)
		a64_compute(x, CPI_UOP_NEG, size, dst, dst, CPI_REG_ZERO);
}

/* What csel and its kin have where the condition does not hold. */
static unsigned int otherwise(struct a64 *x)
{
	const unsigned int kind = a64_field(x, 30, 1) << 1 | a64_field(x, 10, 1);
	const unsigned int size = a64_size(x), src = a64_read(x, 16);

	if (kind == 1)
		a64_compute_imm(x, CPI_UOP_ADD, size, A64_TEMP, src, 1);
	else if (kind == 2)
		a64_compute(x, CPI_UOP_NOT, size, A64_TEMP, src, CPI_REG_ZERO);
	else if (kind == 3)
		a64_compute(x, CPI_UOP_NEG, size, A64_TEMP, src, CPI_REG_ZERO);
	return kind ? A64_TEMP : src;
}

void a64_csel(struct a64 *x, unsigned int arg)
{
	const unsigned int cond = a64_field(x, 12, 4), size = a64_size(x);
	const unsigned int src = a64_read(x, 5), inverts = a64_field(x, 30, 1);
	unsigned int left;

	if (cond >= 14) {
		a64_compute(x, CPI_UOP_MOV, size, a64_written(x, 0), CPI_REG_ZERO, src);
		return;
	}
	if (src == CPI_REG_ZERO && a64_read(x, 16) == CPI_REG_ZERO &&
	    a64_field(x, 10, 1) != inverts) {
		set_by_condition(x, cond, inverts);
		return;
	}
	left = otherwise(x);
	a64_compute(x, CPI_UOP_CMOV, size, a64_written(x, 0), left, src)->imm =
		(int32_t)a64_condition(x, cond);
}

/* Field ra's plus or minus the product of two registers. */
static void multiply_add(struct a64 *x, unsigned int size, unsigned int a,
			 unsigned int b)
{
	const unsigned int dst = a64_written(x, 0), to = a64_read(x, 10);
	const bool subtract = a64_field(x, 15, 1);
	const bool alone = to == CPI_REG_ZERO && !subtract;

	a64_compute(x, CPI_UOP_MUL, size, alone ? dst : A64_TEMP, a, b);
	if (!alone)
		a64_compute(x, subtract ? CPI_UOP_SUB : CPI_UOP_ADD, size, dst, to,
			    A64_TEMP);
}

void a64_multiply(struct a64 *x, unsigned int arg)
{
	multiply_add(x, a64_size(x), a64_read(x, 5), a64_read(x, 16));
}

/* arg: MOV or SEXT */
void a64_multiply_long(struct a64 *x, unsigned int arg)
{
	a64_extend(x, arg, 3, A64_TEMP, a64_read(x, 5), 2);
	a64_extend(x, arg, 3, A64_TEMP + 1, a64_read(x, 16), 2);
	multiply_add(x, 3, A64_TEMP, A64_TEMP + 1);
}

void a64_binary(struct a64 *x, unsigned int arg)
{
	a64_compute(x, arg, a64_size(x), a64_written(x, 0), a64_read(x, 5),
		    a64_read(x, 16));
}

void a64_shift(struct a64 *x, unsigned int arg)
{
	uop_src_size(a64_compute(x, arg, a64_size(x), a64_written(x, 0), a64_read(x, 5),
				 a64_read(x, 16)),
		     0);
}

/* arg: log2 of the bytes whose order is to be turned */
void a64_reverse(struct a64 *x, unsigned int arg)
{
	const unsigned int dst = a64_written(x, 0), size = a64_size(x);

	if (arg > size) {
		x->failed = true;
		return;
	}
	if (arg + 1 < size) { /* rev16 of eight bytes */
		a64_unknown(x, 0);
		return;
	}
	a64_compute(x, CPI_UOP_BSWAP, size, dst, CPI_REG_ZERO, a64_read(x, 5));
	if (arg < size)
		a64_compute_imm(x, CPI_UOP_ROR, size, dst, dst, 8 << arg);
}

void a64_unary(struct a64 *x, unsigned int arg)
{
	a64_compute(x, arg, a64_size(x), a64_written(x, 0), CPI_REG_ZERO,
		    a64_read(x, 5));
}

void a64_unknown(struct a64 *x, unsigned int arg)
{
	a64_compute(x, CPI_UOP_MOV, 3, a64_written(x, 0), CPI_REG_ZERO,
		    CPI_REG_UNKNOWN);
}
