/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/weighed_frames.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/grow.h"
#include "base/path.h"
#include "tools/inlined.h"
#include "tools/prof.h"

int weighed_frames_append(struct weighed_frames *f, const struct weighed_frame *frame)
{
	struct weighed_frame *grown = grow(f->at, f->nr, &f->cap, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	f->at = grown;
	f->at[f->nr++] = *frame;
	return 0;
}

/* A compiler at run time makes one procedure again and again: all are the same. */
static uint64_t start_of(const struct query_image *image, const struct symbol *symbol)
{
	if (!symbol)
		return UINT64_MAX;
	return image->desc.kind == IMAGE_JIT ? 0 : symbol->start;
}

/* Names a frame, and ends text. */
static int keep_name(struct weighed_frames *f, struct buf *text,
		     struct weighed_frame *frame)
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

static int name_frame(struct weighed_frames *f, const char *name,
		      struct weighed_frame *frame)
{
	struct buf text = { 0 };

	frame->function = name;
	if (*name != '[')
		return 0;
	buf_printf(&text, "%s in %s", name, path_base(frame->image->desc.name));
	return keep_name(f, &text, frame);
}

int weighed_frames_add(struct weighed_frames *f, const struct query_image *image,
		       struct image *im, uint64_t offset)
{
	const struct symbol *symbol = im ? image_symbol_at(im, offset) : NULL;
	struct weighed_frame frame = {
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
		err = weighed_frames_append(f, &frame);
		frame.line = chain.at[i].call;
	}
	if (!err)
		err = name_frame(f, symbol ? symbol->name : NO_SYMBOL_NAME, &frame);
	frame.raw = symbol ? symbol->raw : NULL;
	if (symbol)
		frame.begin = image_line_at(im, symbol->start);
	frame.inlined = false;
	return err ? err : weighed_frames_append(f, &frame);
}

int weighed_frames_add_unknown(struct weighed_frames *f, const char *reason)
{
	struct weighed_frame frame = { .start = UINT64_MAX };
	struct buf text = { 0 };
	int err;

	buf_printf(&text, "[unknown] %s", reason);
	err = keep_name(f, &text, &frame);
	return err ? err : weighed_frames_append(f, &frame);
}

int weighed_frames_add_idle(struct weighed_frames *f)
{
	const struct weighed_frame frame = { .start = UINT64_MAX,
					     .function = "[idle]" };

	return weighed_frames_append(f, &frame);
}

void weighed_frames_fini(struct weighed_frames *f)
{
	free(f->at);
	strings_fini(&f->names);
	*f = (struct weighed_frames){ 0 };
}
