# SPDX-License-Identifier: GPL-2.0-or-later
noinst_HEADERS += db/codec.h db/db.h db/model.h db/profile.h db/query.h db/store.h
