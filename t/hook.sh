# SPDX-License-Identifier: GPL-2.0-or-later
# hook.sh - programs with the loader hook: after tap.sh

hook=$builddir/loader-hook/libcpi-audit.so
programs=$builddir/t/programs
loaded=$programs/loaded.so

# hooked COMMAND...: runs it with the hook.
hooked()
{
	env LD_AUDIT="$hook" "$@"
}
