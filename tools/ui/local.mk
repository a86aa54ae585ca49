# SPDX-License-Identifier: GPL-2.0-or-later
tools_libtools_a_SOURCES += \
	tools/ui/cmd.c tools/ui/cmd.h tools/ui/graphviz.c tools/ui/graphviz.h \
	tools/ui/help.c tools/ui/help.h tools/ui/json.c \
	tools/ui/json.h tools/ui/out.c tools/ui/out.h tools/ui/pager.c \
	tools/ui/pager.h tools/ui/picture.c tools/ui/picture.h tools/ui/spark.c tools/ui/spark.h tools/ui/table.c \
	tools/ui/table.h tools/ui/table_cells.h tools/ui/table_text.c tools/ui/term.c \
	tools/ui/term.h tools/ui/xml.c tools/ui/xml.h
EXTRA_DIST += tools/ui/README.md
