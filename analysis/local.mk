# SPDX-License-Identifier: GPL-2.0-or-later
noinst_HEADERS += analysis/demangle.h analysis/image.h analysis/isa.h
