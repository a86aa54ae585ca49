/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loss.c - the names and classes of losses
 *
 * A table that is made from LOSSES (loss.h), in the order of enum loss.
 */
#include "config.h"

#include "daemon/os/loss.h"

static const struct {
	const char *name;
	enum loss_class class;
} losses[NR_LOSSES] = {
#define LOSS_ROW(id, kind, text) [SAMPLE_##id] = { text, LOSS_##kind },
	LOSSES(LOSS_ROW)
#undef LOSS_ROW
};

const char *loss_name(enum loss loss)
{
	return losses[loss].name;
}

enum loss_class loss_class_of(enum loss loss)
{
	return losses[loss].class;
}

bool loss_unknown(enum loss loss, enum stack_unknown *out)
{
	switch (loss) {
#define UNKNOWN_CASE(name, value, text)      \
	case SAMPLE_##name:                  \
		*out = STACK_UNKNOWN_##name; \
		return true;
		STACK_UNKNOWNS(UNKNOWN_CASE)
#undef UNKNOWN_CASE
	default:
		return false;
	}
}

size_t loss_list(const uint64_t *n, int stream, struct flush_loss *out)
{
	size_t nr = 0;

	for (enum loss l = 0; l < NR_LOSSES; l++) {
		if (n[l])
			out[nr++] = (struct flush_loss){ stream, loss_class_of(l),
							 loss_name(l), n[l] };
	}
	return nr;
}
