/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/loss.h"

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
