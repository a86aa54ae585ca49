/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * window.h - interprets the next instructions of an interrupted program
 *
 * SOSP'97 section 7 proposes "instruction interpretation" to get more than one program
 * counter from an interrupt. This interpreter starts from the interrupted registers and
 * executes one micro-op (abi/uop.h) at a time. It reads the program's memory and never
 * writes it. The BPF program, the kernel module and user space share this header.
 *
 * The includer defines, before it includes this:
 *
 *   CPI_WINDOW_CONTEXT               the type of ctx; void * if it does not
 *   CPI_WINDOW_READ(ctx, to, size, address)
 *       reads size (1, 2, 4 or 8) bytes of the program's memory to the
 *       uint64_t *to, whose other bytes are 0. Its value is 0 on success, and not 0
 *       if the memory is not present. It must not wait and must not write.
 *   CPI_WINDOW_UOP(ctx, ip)          const struct cpi_uop *, or NULL
 *   CPI_WINDOW_RESOLVE(ctx, pc, ip, base)  looks the program's address up. On success
 *       its value is 0, and *ip and *base (uint32_t) are set: a direct jump in that
 *       page goes to base + the jump's address field. Otherwise its value is not 0
 *   CPI_WINDOW_LEAD(ctx, pc, base)   the lead-in (CPI_UOP_LEAD) of the program's
 *       address in the page of that base: const struct cpi_uop *, or NULL. If it is
 *       not defined, there are no lead-ins
 *   CPI_WINDOW_CHANGED_AT(ctx, base, pc, length)  whether the program's code at pc
 *       differs from the code from which the page of that base was translated. If it
 *       is not defined, the includer must make sure that the code has not changed
 *   CPI_WINDOW_FORM(ctx, pc, ip, nr)  looks up the form (abi/form.h) of the instruction
 *       at an address that is not translated. On success its value is 0, *ip is the
 *       form's first micro-op, and *nr the number of its micro-ops (uint32_t);
 *       CPI_WINDOW_UOP() must fill them. Otherwise its value is the reason why the
 *       window ends. If it is not defined, there are no forms
 *   CPI_WINDOW_NOTE(s, ctx, u, o)  is told each micro-op and its struct cpi_window_op,
 *       before it is computed; may be undefined
 *
 * and then, per window:
 *
 *   cpi_window_begin(s, max, max_reads);
 *   s->reg[0 …] = …; s->flags = …; s->reg[CPI_REG_THREAD] = …;
 *   cpi_window_start(s, ctx, pc);
 *   while (steps-- && !cpi_window_step(s, ctx))
 *           ;
 *   cpi_window_finish(s);
 *
 * W1  A window only has jumps that the program itself would take; otherwise it ends
 *     before. Unknown values are marked, and never decide a jump, a jump's target or
 *     the address of a store.
 * W2  Bounded: a step has at most one read of memory and no loop. A window has at most
 *     max instructions, max_reads reads and the includer's number of steps.
 *     A lead-in's instructions are not the window's.
 * W3  A word of data is the address that the program's instruction itself touches, or
 *     CPI_WINDOW_NO_DATA. A target is never left out for a word.
 * W4  Whatever micro-ops, registers and memory hold, all accesses stay inside *s.
 *
 * W1 assumes that other threads and the kernel do not change the memory meanwhile, that
 * no signal arrives, and that the program may write where the window stores.
 */
#ifndef CPI_KMOD_WINDOW_H
#define CPI_KMOD_WINDOW_H

#include "kmod/window_vector.h"

#ifndef CPI_WINDOW_CONTEXT
#define CPI_WINDOW_CONTEXT void *
#endif

#ifndef CPI_WINDOW_CHANGED_AT
#define CPI_WINDOW_CHANGED_AT(ctx, base, pc, length) ((void)(ctx), 0)
#endif

#ifndef CPI_WINDOW_LEAD
#define CPI_WINDOW_LEAD(ctx, pc, base) \
	((void)(ctx), (void)(base), (const struct cpi_uop *)0)
#endif

#ifndef CPI_WINDOW_FORM
#define CPI_WINDOW_FORM(ctx, pc, ip, nr) CPI_WINDOW_NO_CODE
#endif

#ifndef CPI_WINDOW_NOTE
#define CPI_WINDOW_NOTE(s, ctx, u, o) ((void)(ctx))
#endif

#define CPI_EFLAGS_DF 0x400u

CPI_WINDOW_INLINE int cpi_window_end(struct cpi_window_state *s, uint32_t end)
{
	s->window.end = (uint8_t)end;
	return 1;
}

/* Empties *s: the integer registers are known then, the others are not. */
CPI_WINDOW_INLINE void cpi_window_begin(struct cpi_window_state *s, uint32_t max,
					uint32_t max_reads)
{
	__builtin_memset(s->unknown, 0, CPI_REG_TEMP);
	__builtin_memset(s->unknown + CPI_REG_TEMP, 0xff, CPI_NR_REGS - CPI_REG_TEMP);
	__builtin_memset(&s->window, 0, sizeof(s->window));
	s->unknown[CPI_REG_UNKNOWN] = 0xff;
	s->reg[CPI_REG_ZERO] = 0;
	/* Unknown, too, but they decide whether memory is read: always alike. */
	__builtin_memset(s->reg + CPI_REG_K, 0, 8 * sizeof(s->reg[0]));
	s->unknown_flags = 0;
	if (!++s->generation)
		s->generation = 1;
	s->nr_stores = 0;
	s->stored_lines = 0;
	s->max = max < CPI_WINDOW_MAX ? max : CPI_WINDOW_MAX;
	s->nr_reads = 0;
	s->max_reads = max_reads;
	s->lead = 0;
	s->form_end = 0;
	s->data_of = 0;
	s->blur_start = ~0ULL;
	s->blur_end = 0;
}

/* Finds the micro-ops of the next instruction. Returns 1 at the window's end. */
CPI_WINDOW_INLINE int cpi_window_resolve(struct cpi_window_state *s,
					 CPI_WINDOW_CONTEXT ctx)
{
	uint32_t ip = 0, base = 0, nr = 0, end;

	s->form_end = 0;
	if (CPI_WINDOW_RESOLVE(ctx, s->window.next, &ip, &base)) {
		end = CPI_WINDOW_FORM(ctx, s->window.next, &ip, &nr);
		if (end)
			return cpi_window_end(s, end);
		s->form_end = ip + nr;
	}
	s->ip = ip;
	s->base = base;
	return 0;
}

/* ---- lead-ins ---- */

/*
 * Within a lead-in, integer registers have the values that they have at the window's
 * start. A register that the lead-in still has to write had another value there, so it
 * is marked as unknown.
 */
CPI_WINDOW_INLINE void cpi_window_begin_lead(struct cpi_window_state *s,
					     const struct cpi_uop *u)
{
	const uint32_t changed = (uint32_t)u->disp | (uint32_t)u->disp >> 16;
	const uint64_t first = cpi_byte_bits(changed & 0xff);
	const uint64_t second = cpi_byte_bits(changed >> 8 & 0xff);
	unsigned int i;

	__builtin_memcpy(s->unknown, &first, 8);
	__builtin_memcpy(s->unknown + 8, &second, 8);
	__builtin_memset(s->reg + CPI_REG_V, 0,
			 8 * CPI_REG_LANE(16, 0) - 8 * CPI_REG_V);
	CPI_WINDOW_UNROLL
	for (i = 0; i < 16; i++) {
		const uint32_t zero = ((uint32_t)u->imm >> i & 1) * 0xffffu |
				      ((uint32_t)u->imm >> (16 + i) & 1) * 0xffff0000u;
		const uint32_t unknown = ~zero;

		__builtin_memcpy(s->unknown + CPI_REG_LANE(i, 0), &unknown, 4);
	}
	s->lead = 1;
	s->lead_once = (uint32_t)u->disp & 0xffffu;
	s->lead_flags = s->flags;
	s->unknown_flags = CPI_FLAG_ALL;
	s->window.next -= cpi_lead_back(u);
	s->ip = s->base + u->address;
}

/* The window itself begins. */
CPI_WINDOW_INLINE void cpi_window_end_lead(struct cpi_window_state *s)
{
	__builtin_memset(s->unknown, 0, CPI_REG_ZERO);
	s->lead = 0;
	s->flags = s->lead_flags;
	s->unknown_flags = 0;
	s->nr_reads = 0;
	s->window.nr = 0;
	s->window.last = s->window.start;
	s->window.next = s->window.start;
	s->ip = s->start_ip;
}

/*
 * Ends the window. Within its lead-in it ends only the lead-in, and discards the vector
 * registers that the lead-in computed. Returns 1 at the window's end.
 */
CPI_WINDOW_INLINE int cpi_window_stop(struct cpi_window_state *s, uint32_t end)
{
	if (!s->lead)
		return cpi_window_end(s, end);
	__builtin_memset(s->unknown + CPI_REG_TEMP, 0xff, CPI_NR_REGS - CPI_REG_TEMP);
	cpi_window_end_lead(s);
	return 0;
}

/* Begins at pc. Returns 1 at the window's end. */
CPI_WINDOW_INLINE int cpi_window_start(struct cpi_window_state *s,
				       CPI_WINDOW_CONTEXT ctx, uint64_t pc)
{
	const struct cpi_uop *u;

	s->window.start = pc;
	s->window.last = pc;
	s->window.next = pc;
	if (cpi_window_resolve(s, ctx))
		return 1;
	s->start_ip = s->ip;
	u = s->form_end ? NULL : CPI_WINDOW_LEAD(ctx, pc, s->base);
	if (u)
		cpi_window_begin_lead(s, u);
	return 0;
}

CPI_WINDOW_INLINE void cpi_window_finish(struct cpi_window_state *s)
{
	if (s->lead)
		cpi_window_end_lead(s);
	if (s->window.end == CPI_WINDOW_NONE)
		s->window.end = CPI_WINDOW_STEPS;
}

/* Loads size bytes. Returns an end, or 0. */
CPI_WINDOW_INLINE uint32_t cpi_window_load(struct cpi_window_state *s,
					   CPI_WINDOW_CONTEXT ctx, uint64_t address,
					   unsigned int size, uint64_t *value,
					   uint32_t *unknown)
{
	const struct cpi_window_own own = cpi_window_own(s, address, size);
	uint64_t memory[2] = { 0, 0 };

	if (cpi_is_tagged(address))
		return CPI_WINDOW_FAULT;
	if (own.valid != cpi_size_bytes(size)) {
		if (s->nr_reads++ >= s->max_reads)
			return CPI_WINDOW_READS;
		if (CPI_WINDOW_READ(ctx, memory, 1u << size, address))
			return CPI_WINDOW_FAULT;
	}
	*value = own.value | (memory[0] & ~cpi_byte_bits(own.valid));
	*unknown = own.unknown;
	if (cpi_window_blurred(s, address, size))
		*unknown = cpi_size_bytes(size);
	return 0;
}

/* The low bytes of a register, as many as size says, and which of them are unknown. */
CPI_WINDOW_INLINE uint64_t cpi_window_register(const struct cpi_window_state *s,
					       unsigned int reg, unsigned int size,
					       uint32_t high, uint32_t *unknown)
{
	uint64_t value = s->reg[reg & 0xff];
	uint32_t bytes = s->unknown[reg & 0xff];

	if (high) {
		value >>= 8;
		bytes >>= 1;
	}
	*unknown = bytes & cpi_size_bytes(size);
	return value & cpi_size_bits(size);
}

/* Fetches the address and the operands. Returns an end, or 0. */
CPI_WINDOW_INLINE uint32_t cpi_window_operands(struct cpi_window_state *s,
					       CPI_WINDOW_CONTEXT ctx,
					       const struct cpi_uop *u,
					       struct cpi_window_op *o)
{
	const unsigned int base = cpi_uop_base(u), index = cpi_uop_index(u);
	const unsigned int source = cpi_uop_source_size(u);
	uint64_t memory = 0;
	uint32_t unknown = 0xff, end;

	o->size = cpi_uop_size(u);
	o->bytes = cpi_size_bytes(o->size);
	o->address = s->reg[base] + (s->reg[index] << cpi_uop_scale(u)) +
		     (uint64_t)(int64_t)u->disp;
	o->unknown_address = s->unknown[base] | s->unknown[index];
	if (u->flags & (CPI_UOP_LEFT_MEM | CPI_UOP_SRC_MEM) && !o->unknown_address &&
	    !(u->op == CPI_UOP_VSELECT && !(s->reg[u->src] >> (u->imm & 63) & 0xff))) {
		end = cpi_window_load(s, ctx, o->address, source, &memory, &unknown);
		if (end)
			return end;
	}
	if (u->flags & CPI_UOP_LEFT_MEM) {
		o->a = memory;
		o->unknown_a = unknown & cpi_size_bytes(source);
	} else {
		o->a = cpi_window_register(s, u->left, o->size, u->flags & CPI_UOP_HIGH,
					   &o->unknown_a);
	}
	if (u->flags & CPI_UOP_SRC_IMM) {
		o->b = (uint64_t)(int64_t)u->imm & cpi_size_bits(source);
		o->unknown_b = 0;
	} else if (u->flags & CPI_UOP_SRC_MEM) {
		o->b = memory;
		o->unknown_b = unknown & cpi_size_bytes(source);
	} else {
		o->b = cpi_window_register(s, u->src, source,
					   u->flags & CPI_UOP_SRC_HIGH, &o->unknown_b);
	}
	o->unknown = o->unknown_a | o->unknown_b;
	return 0;
}

/* Whether a mask lets a micro-op touch its memory; 0 also if the mask is not known. */
CPI_WINDOW_INLINE int cpi_window_may_touch(const struct cpi_window_state *s,
					   const struct cpi_uop *u)
{
	const uint32_t imm = (uint32_t)u->imm;
	uint32_t mask = 0, bits = 0xff; /* one for each element of the 8 bytes */

	if (u->op == CPI_UOP_VSELECT || u->op == CPI_UOP_VSTORE) {
		mask = u->src;
	} else if (u->op == CPI_UOP_KCMP) {
		mask = imm >> 24 & 63;
		bits >>= 8 - (8 >> (imm >> 8 & 3));
	}
	return !mask || (!s->unknown[mask] && s->reg[mask] >> (imm & 63) & bits);
}

/* Adds a word of data, if the instruction's first access is this micro-op's. */
CPI_WINDOW_INLINE void cpi_window_note_data(struct cpi_window_state *s,
					    const struct cpi_uop *u,
					    const struct cpi_window_op *o)
{
	const uint32_t nr = s->window.nr_data;
	uint32_t at = CPI_WINDOW_DATA - 1 - nr;

	if (!cpi_uop_is_data(u) || s->data_of == s->window.nr || s->lead)
		return;
	s->data_of = s->window.nr;
	CPI_WINDOW_HIDE(at);
	if (at >= CPI_WINDOW_DATA || at < 2u * s->window.nr_targets)
		return;
	s->window.data[at] = o->unknown_address || !cpi_window_may_touch(s, u)
				     ? CPI_WINDOW_NO_DATA
				     : (uint32_t)o->address;
	s->window.nr_data = (uint8_t)(nr + 1);
}

/* The store of push and of calls. */
CPI_WINDOW_INLINE void cpi_window_push(struct cpi_window_state *s,
				       struct cpi_window_op *o, uint64_t value)
{
	o->address = s->reg[CPI_REG_X86_RSP] - 8;
	o->unknown_address = s->unknown[CPI_REG_X86_RSP];
	s->reg[CPI_REG_X86_RSP] = o->address;
	o->result = value;
	o->bytes = 0xff;
}

CPI_WINDOW_INLINE void cpi_window_move(struct cpi_window_state *s,
				       const struct cpi_uop *u, struct cpi_window_op *o)
{
	uint32_t holds;

	switch (u->op) {
	case CPI_UOP_SEXT:
		o->result = (uint64_t)cpi_sign_extend(o->b, cpi_uop_source_size(u));
		o->unknown = o->unknown_b;
		cpi_window_mix(o);
		break;
	case CPI_UOP_LEA:
		o->result = o->address;
		o->unknown = o->unknown_address;
		cpi_window_mix(o);
		break;
	case CPI_UOP_CONST:
		o->result = (uint64_t)(uint32_t)u->imm << 32 | (uint32_t)u->disp;
		o->unknown = 0;
		break;
	case CPI_UOP_PUSH:
		cpi_window_push(s, o, o->b);
		o->unknown = o->unknown_b;
		break;
	case CPI_UOP_SETCC:
		holds = cpi_window_cond(s, u->imm);
		o->result = holds & 1;
		o->unknown = holds >> 1;
		break;
	case CPI_UOP_CMOV:
		holds = cpi_window_cond(s, u->imm);
		o->result = holds & 1 ? o->b : o->a;
		o->unknown = holds & 1 ? o->unknown_b : o->unknown_a;
		if (holds > 1)
			o->unknown = o->bytes;
		break;
	case CPI_UOP_POP:
		s->reg[CPI_REG_X86_RSP] += 8;
		CPI_WINDOW_FALLTHROUGH;
	default:
		o->result = o->b;
		o->unknown = o->unknown_b;
		break;
	}
}

CPI_WINDOW_INLINE void cpi_window_arithmetic(struct cpi_window_state *s,
					     const struct cpi_uop *u,
					     struct cpi_window_op *o)
{
	uint64_t carry = 0;

	if (u->op == CPI_UOP_ADC || u->op == CPI_UOP_SBB) {
		carry = s->flags & CPI_FLAG_C;
		o->unknown |= s->unknown_flags & CPI_FLAG_C;
	}
	if (u->op == CPI_UOP_NEG) {
		o->b = o->a;
		o->a = 0;
	}
	if (u->op == CPI_UOP_INC || u->op == CPI_UOP_DEC)
		o->b = 1;
	if (u->op == CPI_UOP_ADD || u->op == CPI_UOP_ADC || u->op == CPI_UOP_INC)
		cpi_window_add(o, carry);
	else
		cpi_window_subtract(o, carry);
	if (u->op == CPI_UOP_INC || u->op == CPI_UOP_DEC)
		o->written &= ~CPI_FLAG_C;
}

/* If the condition does not hold, the flags are those of the instruction's imm. */
CPI_WINDOW_INLINE void cpi_window_compare_if(struct cpi_window_state *s,
					     const struct cpi_uop *u,
					     struct cpi_window_op *o)
{
	const uint32_t holds = cpi_window_cond(s, u->imm & 31);

	if (holds == 1 && u->imm & 32)
		cpi_window_add(o, 0);
	else if (holds == 1)
		cpi_window_subtract_carry(o, 1);
	else
		cpi_window_set_flags(s, u, (uint32_t)u->imm >> 8, CPI_FLAG_ALL,
				     holds ? CPI_FLAG_ALL : 0);
}

CPI_WINDOW_INLINE void cpi_window_logic(const struct cpi_uop *u,
					struct cpi_window_op *o)
{
	switch (u->op) {
	case CPI_UOP_AND:
		o->result = o->a & o->b;
		break;
	case CPI_UOP_OR:
		o->result = o->a | o->b;
		break;
	case CPI_UOP_XOR:
		o->result = o->a ^ o->b;
		break;
	case CPI_UOP_ANDN:
		o->result = ~o->a & o->b & cpi_size_bits(o->size);
		o->undefined = CPI_FLAG_P;
		break;
	default:
		o->result = ~o->a;
		o->unknown = o->unknown_a;
		break;
	}
	o->written = CPI_FLAG_ALL;
}

/*
 * Marks memory that rep wrote as unknown: one range for all of it, which may be larger
 * than what was written.
 */
CPI_WINDOW_INLINE uint32_t cpi_window_blur(struct cpi_window_state *s,
					   const struct cpi_window_op *o)
{
	const uint64_t start = o->a, end = start + o->b;

	if (o->unknown)
		return CPI_WINDOW_UNKNOWN_STORE;
	if (end < start)
		return CPI_WINDOW_FAULT;
	if (!o->b)
		return 0;
	if (start < s->blur_start)
		s->blur_start = start;
	if (end > s->blur_end)
		s->blur_end = end;
	return 0;
}

/* Computes the result of a micro-op that is no jump. Returns an end, or 0. */
CPI_WINDOW_INLINE uint32_t cpi_window_compute(struct cpi_window_state *s,
					      const struct cpi_uop *u,
					      struct cpi_window_op *o)
{
	const unsigned int op = u->op;

	switch (op) {
	case CPI_UOP_CALL:
	case CPI_UOP_CALLI:
		cpi_window_push(s, o, s->window.next);
		o->unknown = 0;
		break;
	case CPI_UOP_RET:
		s->reg[CPI_REG_X86_RSP] += 8 + (uint64_t)(int64_t)u->imm;
		break;
	case CPI_UOP_MOV:
	case CPI_UOP_SEXT:
	case CPI_UOP_LEA:
	case CPI_UOP_CONST:
	case CPI_UOP_PUSH:
	case CPI_UOP_POP:
	case CPI_UOP_SETCC:
	case CPI_UOP_CMOV:
		cpi_window_move(s, u, o);
		break;
	case CPI_UOP_NEG:
	case CPI_UOP_INC:
	case CPI_UOP_DEC:
		o->unknown = o->unknown_a;
		CPI_WINDOW_FALLTHROUGH;
	case CPI_UOP_ADD:
	case CPI_UOP_ADC:
	case CPI_UOP_SUB:
	case CPI_UOP_SBB:
		cpi_window_arithmetic(s, u, o);
		break;
	case CPI_UOP_AND:
	case CPI_UOP_OR:
	case CPI_UOP_XOR:
	case CPI_UOP_ANDN:
	case CPI_UOP_NOT:
		cpi_window_logic(u, o);
		break;
	case CPI_UOP_MUL:
	case CPI_UOP_MULHU:
	case CPI_UOP_MULHS:
		cpi_window_multiply(o, op);
		break;
	case CPI_UOP_DIVU:
	case CPI_UOP_REMU:
	case CPI_UOP_DIVS:
	case CPI_UOP_REMS:
		o->unknown |= s->unknown[cpi_uop_base(u)];
		return cpi_window_divide(o, op, s->reg[cpi_uop_base(u)]);
	case CPI_UOP_SUBN:
		cpi_window_subtract_carry(o, 1);
		break;
	case CPI_UOP_SBCN:
		o->unknown |= s->unknown_flags & CPI_FLAG_C;
		cpi_window_subtract_carry(o, s->flags & CPI_FLAG_C);
		break;
	case CPI_UOP_CCMP:
		cpi_window_compare_if(s, u, o);
		break;
	case CPI_UOP_QUOTU:
	case CPI_UOP_QUOTS:
		cpi_window_quotient(o, op);
		break;
	case CPI_UOP_SHL:
	case CPI_UOP_SHR:
	case CPI_UOP_SAR:
	case CPI_UOP_ROL:
	case CPI_UOP_ROR:
		cpi_window_shift(o, op);
		break;
	case CPI_UOP_SHLD:
	case CPI_UOP_SHRD:
		o->unknown |= s->unknown[cpi_uop_base(u)] & 1;
		cpi_window_shift_double(o, op, s->reg[cpi_uop_base(u)] + u->imm);
		break;
	case CPI_UOP_BT:
	case CPI_UOP_BTS:
	case CPI_UOP_BTR:
	case CPI_UOP_BTC:
		cpi_window_bit(o, op);
		break;
	case CPI_UOP_BSF:
	case CPI_UOP_BSR:
	case CPI_UOP_TZCNT:
	case CPI_UOP_LZCNT:
	case CPI_UOP_POPCNT:
		cpi_window_scan(s, u, o);
		break;
	case CPI_UOP_BSWAP:
	case CPI_UOP_RBIT:
		o->result = op == CPI_UOP_RBIT ? cpi_reverse_bits(o->b, o->size)
					       : cpi_swap_bytes(o->b, o->size);
		o->unknown = o->unknown_b;
		cpi_window_mix(o);
		break;
	case CPI_UOP_BLSR:
	case CPI_UOP_BLSI:
	case CPI_UOP_BLSMSK:
		o->unknown = o->unknown_b;
		CPI_WINDOW_FALLTHROUGH;
	case CPI_UOP_BZHI:
		cpi_window_low_bits(o, op);
		break;
	case CPI_UOP_COMIS:
		cpi_window_compare_floats(s, u, o);
		break;
	case CPI_UOP_VCMPEQ:
	case CPI_UOP_VCMPGT:
	case CPI_UOP_VMINU:
	case CPI_UOP_VMAXU:
	case CPI_UOP_VADD:
	case CPI_UOP_VSUB:
		cpi_window_vector(s, u, o);
		break;
	case CPI_UOP_VDUP:
		cpi_window_duplicate(u, o);
		break;
	case CPI_UOP_VUNPACK:
		cpi_window_unpack(u, o);
		break;
	case CPI_UOP_VNARROW:
		cpi_window_narrow(u, o);
		break;
	case CPI_UOP_VSHUF:
		cpi_window_shuffle(s, u, o);
		break;
	case CPI_UOP_VTERNARY:
		cpi_window_ternary(s, u, o);
		break;
	case CPI_UOP_VSELECT:
		cpi_window_select(s, u, o);
		break;
	case CPI_UOP_VSTORE:
		if (s->unknown[u->src])
			return CPI_WINDOW_UNKNOWN_STORE;
		o->bytes = s->reg[u->src] >> (u->imm & 63) & 0xff;
		o->result = o->a;
		o->unknown = o->unknown_a;
		break;
	case CPI_UOP_VMASK:
		cpi_window_add_bits(s, u, o,
				    cpi_gather_bits(o->b & cpi_top_bits(u->imm >> 8),
						    u->imm >> 8),
				    o->unknown_b != 0);
		break;
	case CPI_UOP_KCMP:
		cpi_window_compare(s, u, o);
		break;
	case CPI_UOP_KTEST:
		cpi_window_test_masks(s, u, o);
		break;
	case CPI_UOP_VUPPER:
		cpi_window_forget_upper(s);
		break;
	case CPI_UOP_UNFLAG:
		s->unknown_flags |= u->imm & CPI_FLAG_ALL;
		break;
	case CPI_UOP_FORWARD:
		return s->flags & CPI_EFLAGS_DF ? CPI_WINDOW_REPEAT : 0;
	case CPI_UOP_BLUR:
		return cpi_window_blur(s, o);
	default:
		return CPI_WINDOW_UNSUPPORTED;
	}
	return 0;
}

/* Writes the result to its register. */
CPI_WINDOW_INLINE void cpi_window_write(struct cpi_window_state *s,
					const struct cpi_uop *u,
					const struct cpi_window_op *o)
{
	const unsigned int dst = u->dst;
	uint64_t bits = cpi_size_bits(o->size), result = o->result & bits;
	uint32_t bytes = cpi_size_bytes(o->size), unknown = o->unknown & bytes;

	if (s->lead && dst < CPI_REG_ZERO) {
		if (s->lead_once >> dst & 1)
			s->unknown[dst] = 0;
		return;
	}
	if (u->flags & CPI_UOP_HIGH) {
		result <<= 8;
		unknown <<= 1;
		bits <<= 8;
		bytes <<= 1;
	}
	if (o->size < 2) {
		result |= s->reg[dst] & ~bits;
		unknown |= s->unknown[dst] & ~bytes;
	}
	s->reg[dst] = result;
	s->unknown[dst] = (uint8_t)unknown;
	if (u->flags & CPI_UOP_ZERO_UPPER) {
		s->reg[dst | 2] = 0;
		s->reg[dst | 3] = 0;
		s->unknown[dst | 2] = 0;
		s->unknown[dst | 3] = 0;
	}
	if (u->flags & CPI_UOP_ZERO_NEXT) {
		s->reg[dst | 1] = 0;
		s->unknown[dst | 1] = 0;
	}
}

/* Stores, or writes to a register; sets flags. Returns an end, or 0. */
CPI_WINDOW_INLINE uint32_t cpi_window_results(struct cpi_window_state *s,
					      const struct cpi_uop *u,
					      struct cpi_window_op *o)
{
	if (o->written | o->undefined)
		cpi_window_result_flags(s, u, o);
	if (!(u->flags & CPI_UOP_STORE)) {
		cpi_window_write(s, u, o);
		return 0;
	}
	if (o->unknown_address || s->lead)
		return CPI_WINDOW_UNKNOWN_STORE;
	if (cpi_is_tagged(o->address))
		return CPI_WINDOW_FAULT;
	return cpi_window_store_bytes(s, o->address, o->result, o->bytes,
				      o->unknown & o->bytes);
}

/* Where execution continues. */
enum cpi_window_go {
	CPI_WINDOW_ON,   /* at the next micro-op */
	CPI_WINDOW_NEAR, /* at the micro-op that the jump names, if it does */
	CPI_WINDOW_FAR,  /* at the address next, which must be looked up */
};

CPI_WINDOW_INLINE uint32_t cpi_window_conditional(struct cpi_window_state *s,
						  const struct cpi_uop *u,
						  uint32_t taken, uint32_t *go)
{
	const unsigned int nr = s->window.nr_jumps;

	if (s->lead) /* it was not taken */
		return 0;
	if (taken > 1)
		return CPI_WINDOW_UNKNOWN_BRANCH;
	s->window.taken[nr >> 6 & 1] |= (uint64_t)taken << (nr & 63);
	s->window.nr_jumps = (uint8_t)(nr + 1);
	if (!taken)
		return 0;
	s->window.next = s->reg[CPI_REG_PC] + (uint64_t)(int64_t)u->disp;
	*go = CPI_WINDOW_NEAR;
	return 0;
}

CPI_WINDOW_INLINE uint32_t cpi_window_indirect(struct cpi_window_state *s,
					       const struct cpi_window_op *o,
					       uint32_t *go)
{
	const unsigned int nr = s->window.nr_targets;

	if (o->unknown_b)
		return CPI_WINDOW_UNKNOWN_TARGET;
	if (nr >= CPI_WINDOW_TARGETS)
		return CPI_WINDOW_TARGETS_FULL;
	s->window.target[nr] = o->b;
	s->window.nr_targets = (uint8_t)(nr + 1);
	if (s->window.nr_data > CPI_WINDOW_DATA - 2 * (nr + 1))
		s->window.nr_data = (uint8_t)(CPI_WINDOW_DATA - 2 * (nr + 1));
	s->window.next = o->b;
	*go = CPI_WINDOW_FAR;
	return 0;
}

/* Executes a jump of any kind; sets *go. Returns an end, or 0. */
CPI_WINDOW_INLINE uint32_t cpi_window_jump(struct cpi_window_state *s,
					   const struct cpi_uop *u,
					   const struct cpi_window_op *o, uint32_t *go)
{
	uint32_t taken;

	switch (u->op) {
	case CPI_UOP_STOP:
		return u->imm ? (uint32_t)u->imm : CPI_WINDOW_UNSUPPORTED;
	case CPI_UOP_NOP:
		return 0;
	case CPI_UOP_GOTO:
		*go = CPI_WINDOW_NEAR;
		return 0;
	case CPI_UOP_JCC:
		return cpi_window_conditional(s, u, cpi_window_cond(s, u->imm), go);
	case CPI_UOP_JZ:
	case CPI_UOP_JNZ:
		taken = (u->op == CPI_UOP_JZ) == !o->b;
		return cpi_window_conditional(s, u, o->unknown_b ? 2 : taken, go);
	case CPI_UOP_JMP:
	case CPI_UOP_CALL:
		s->window.next = s->reg[CPI_REG_PC] + (uint64_t)(int64_t)u->disp;
		*go = CPI_WINDOW_NEAR;
		return 0;
	default: /* jmpi, calli, ret */
		if (s->lead)
			return CPI_WINDOW_UNKNOWN_TARGET;
		return cpi_window_indirect(s, o, go);
	}
}

/* Returns 1 at the window's end. */
CPI_WINDOW_INLINE int cpi_window_go(struct cpi_window_state *s, CPI_WINDOW_CONTEXT ctx,
				    const struct cpi_uop *u, uint32_t go)
{
	if (go == CPI_WINDOW_ON) {
		s->ip++;
		return s->ip == s->form_end ? cpi_window_resolve(s, ctx) : 0;
	}
	if (s->lead && !u->address)
		return cpi_window_stop(s, CPI_WINDOW_NO_CODE);
	if (go == CPI_WINDOW_FAR || !u->address)
		return cpi_window_resolve(s, ctx);
	s->ip = s->base + u->address;
	return 0;
}

/* Notes that a form interprets the instruction. */
CPI_WINDOW_INLINE void cpi_window_note_form(struct cpi_window_state *s,
					    const struct cpi_uop *u)
{
	s->window.by_form[s->window.nr >> 6 & 1] |= 1ULL << (s->window.nr & 63);
	s->window.nr_code = (uint16_t)(s->window.nr_code + cpi_uop_length(u));
}

/* Begins an instruction. Returns an end, or 0. */
CPI_WINDOW_INLINE uint32_t cpi_window_reach(struct cpi_window_state *s,
					    CPI_WINDOW_CONTEXT ctx,
					    const struct cpi_uop *u)
{
	if (s->window.nr >= s->max && !s->lead)
		return CPI_WINDOW_LENGTH;
	if (cpi_window_wrote(s, s->window.next) ||
	    (!s->form_end &&
	     CPI_WINDOW_CHANGED_AT(ctx, s->base, s->window.next, cpi_uop_length(u))))
		return CPI_WINDOW_CHANGED;
	if (s->form_end)
		cpi_window_note_form(s, u);
	s->window.nr++;
	s->window.last = s->window.next;
	s->reg[CPI_REG_PC] = s->window.next;
	s->window.next += cpi_uop_length(u);
	return 0;
}

/* Interprets one micro-op. Returns 1 at the window's end, which s->window.end names. */
CPI_WINDOW_INLINE long cpi_window_step(struct cpi_window_state *s,
				       CPI_WINDOW_CONTEXT ctx)
{
	const struct cpi_uop *u = CPI_WINDOW_UOP(ctx, s->ip);
	struct cpi_window_op o = { 0 };
	uint32_t end = 0, go = CPI_WINDOW_ON;

	if (!u)
		return cpi_window_stop(s, CPI_WINDOW_NO_CODE);
	if (s->lead && !(u->flags & CPI_UOP_MORE) &&
	    s->window.next == s->window.start) {
		cpi_window_end_lead(s);
		return 0;
	}
	if (!(u->flags & CPI_UOP_MORE))
		end = cpi_window_reach(s, ctx, u);
	if (!end)
		end = cpi_window_operands(s, ctx, u, &o);
	if (!end)
		cpi_window_note_data(s, u, &o);
	if (!end)
		CPI_WINDOW_NOTE(s, ctx, u, &o);
	if (!end && u->op >= CPI_UOP_CALL)
		end = cpi_window_compute(s, u, &o);
	if (!end && u->op >= CPI_UOP_CALL && u->op != CPI_UOP_RET)
		end = cpi_window_results(s, u, &o);
	if (!end && u->op <= CPI_UOP_RET)
		end = cpi_window_jump(s, u, &o, &go);
	if (end)
		return cpi_window_stop(s, end);
	return cpi_window_go(s, ctx, u, go);
}

#endif
