/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay_samples.c - distributes the samples of a file of TIP records over instructions
 */
#include "config.h"

#include "daemon/import/replay_samples.h"

#include "abi/entry.h"
#include "base/err.h"

/* Weights are named after what the record's flags tell. */
_Static_assert((int)CPI_TIP_COMMITS == WEIGHT_EXECUTION &&
		       (int)CPI_TIP_STALLS == WEIGHT_STALL &&
		       (int)CPI_TIP_DRAINED == WEIGHT_FRONT_END &&
		       (int)CPI_TIP_MISPREDICTS == WEIGHT_MISPREDICT &&
		       (int)CPI_TIP_FLUSHES == WEIGHT_FLUSH &&
		       (int)CPI_TIP_EXCEPTS == WEIGHT_EXCEPTION,
	       "a state's number is that of its weight");

/* Addresses are those that live samples may have. */
static bool is_address(uint64_t pc)
{
	const struct cpi_entry e = { .word0 = cpi_entry_word0(pc, 0, 0) };

	return cpi_entry_pc(&e) == pc;
}

static int share_out(const struct cpi_tip_sample *s, const struct replay_taker *to)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < s->n; i++) {
		const struct replay_share share = {
			.address = s->address[i],
			.count = !i,
			.weight = (enum weight)s->state,
			/* The remainder of the division goes to the older ones. */
			.part = WEIGHT_UNIT / s->n + (i < WEIGHT_UNIT % s->n),
		};

		err = is_address(share.address) ? to->share(to->ctx, &share)
						: -CPI_ECORRUPT;
	}
	return err;
}

int replay_read_samples(struct tipfile *f, const struct replay_taker *to,
			uint64_t *nr_samples)
{
	union tipfile_item item;
	uint64_t nr = 0;
	int type, err = 0;

	while (!err && (type = tipfile_next(f, &item)) != 0) {
		if (type == CPI_TIP_RECORD)
			err = share_out(&item.sample, to);
		else if (type == CPI_TIP_CODE)
			err = to->code(to->ctx, &item.code);
		else
			err = type;
		nr += type == CPI_TIP_RECORD;
	}
	if (!err)
		*nr_samples = nr;
	return err;
}
