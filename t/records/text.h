/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text.h - hardware's records as text, as perf writes them: to compare decoders with
 * perf
 */
#ifndef CPI_T_RECORDS_TEXT_H
#define CPI_T_RECORDS_TEXT_H

#include <stdint.h>

#include "base/buf.h"
#include "decode/hwrecord.h"
#include "decode/ibs.h"
#include "decode/spe.h"

/* Appends a line for each register, in the words of perf report -D. */
void ibs_text(const struct ibs_sample *s, const struct ibs_machine *machine,
	      struct buf *out);

/* Appends a packet in the words of perf report -D, without a newline. */
void spe_packet_text(const struct spe_packet *p, struct buf *out);

/* Appends a PERF_SAMPLE_DATA_SRC in the words of perf script -F data_src. */
void perf_data_src_text(uint64_t data_src, struct buf *out);

/* The names of enum values of hwrecord.h; "?" for what is none. */
const char *hw_flag_str(enum hw_flag flag);
const char *hw_value_str(enum hw_value value);
const char *hw_data_source_str(enum hw_data_source source);

#endif
