/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_frames.c - one instruction as the frames that an export shows
 *
 * Names come from symbols or debug information, and belong to the image. Only names
 * that this file makes ("[0x4290] in prog") are in the table of strings.
 */
#include "config.h"

#include "report/calls/export_frames.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/grow.h"
#include "base/path.h"
#include "report/calls/inlined.h"
#include "report/profile/prof.h"

int export_frames_append(struct export_frames *f, const struct export_frame *frame)
{
	if (GROW(f->at, f->nr))
		return -ENOMEM;
	f->at[f->nr++] = *frame;
	return 0;
}

/* A JIT compiler may compile a procedure several times; all copies count as one. */
static uint64_t start_of(const struct query_image *image, const struct symbol *symbol)
{
	if (!symbol)
		return UINT64_MAX;
	return image->desc.kind == IMAGE_JIT ? 0 : symbol->start;
}

/* Names a frame, and ends text. */
static int keep_name(struct export_frames *f, struct buf *text,
		     struct export_frame *frame)
{
	uint32_t nr;
	int err = strings_add(&f->names, buf_str(text), &nr);

	if (!err)
		err = text->err;
	if (!err)
		frame->function = strings_at(&f->names, nr);
	buf_fini(text);
	return err;
}

static int name_frame(struct export_frames *f, const char *name,
		      struct export_frame *frame)
{
	struct buf text = { 0 };

	frame->function = name;
	if (*name != '[')
		return 0;
	buf_printf(&text, "%s in %s", name, path_base(frame->image->desc.name));
	return keep_name(f, &text, frame);
}

int export_frames_add(struct export_frames *f, const struct query_image *image,
		      struct image *im, uint64_t offset)
{
	const struct symbol *symbol = im ? image_symbol_at(im, offset) : NULL;
	struct export_frame frame = {
		.image = image,
		.offset = offset,
		.address = im ? image_address(im, offset) : offset,
		.start = start_of(image, symbol),
		.inlined = true,
	};
	struct inlined_chain chain = { NULL, 0 };
	int err = 0;

	if (im) {
		frame.line = image_line_at(im, offset);
		chain = inlined_at(im, offset);
	}
	for (size_t i = 0; i < chain.nr && !err; i++) {
		frame.function = chain.at[i].name;
		err = export_frames_append(f, &frame);
		frame.line = chain.at[i].call;
	}
	if (!err)
		err = name_frame(f, symbol ? symbol->name : NO_SYMBOL_NAME, &frame);
	frame.raw = symbol ? symbol->raw : NULL;
	if (symbol)
		frame.begin = image_line_at(im, symbol->start);
	frame.inlined = false;
	return err ? err : export_frames_append(f, &frame);
}

int export_frames_add_unknown(struct export_frames *f, const char *reason)
{
	struct export_frame frame = { .start = UINT64_MAX };
	struct buf text = { 0 };
	int err;

	buf_printf(&text, "[unknown] %s", reason);
	err = keep_name(f, &text, &frame);
	return err ? err : export_frames_append(f, &frame);
}

int export_frames_add_idle(struct export_frames *f)
{
	const struct export_frame frame = { .start = UINT64_MAX, .function = "[idle]" };

	return export_frames_append(f, &frame);
}

void export_frames_fini(struct export_frames *f)
{
	free(f->at);
	strings_fini(&f->names);
	*f = (struct export_frames){ 0 };
}
