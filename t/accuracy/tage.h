/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tage.h - a branch predictor, for the truth of t/accuracy/predict
 *
 * Conditional branches: TAGE (Seznec and Michaud, "A case for (partially) tagged
 * geometric history length branch predictors", JILP 8, 2006), with 12 tagged tables of
 * 2048 entries, histories of 4 to 640 bits, and a bimodal table of 16384 counters: 56
 * KiB. Indirect ones: ITTAGE of the same paper, with 6 tagged tables of 512 targets.
 */
#ifndef CPI_T_TAGE_H
#define CPI_T_TAGE_H

#include <stdbool.h>
#include <stdint.h>

struct tage;

struct tage *tage_new(void); /* NULL when out of memory */
void tage_free(struct tage *t);

/* Predicts a conditional branch, learns its outcome, and returns whether it missed. */
bool tage_conditional(struct tage *t, uint64_t pc, uint64_t target, bool taken);

/* The same for a jump or call whose target comes from a register or memory. */
bool tage_indirect(struct tage *t, uint64_t pc, uint64_t target);

/* Any other jump, call or return, which only becomes a part of the history. */
void tage_other(struct tage *t, uint64_t pc, uint64_t target);

#endif
