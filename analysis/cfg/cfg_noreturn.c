/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that never return, by their names in dynamic symbols. cfg_code.c recognises
 * others by the bytes after their calls.
 */
#include "config.h"

#include <string.h>

#include "analysis/cfg/cfg_code.h"

static const char *const names[] = {
	"_Exit",
	"_Unwind_Resume",
	"_Unwind_Resume_or_Rethrow",
	"_ZSt10unexpectedv",
	"_ZSt9terminatev",
	"__GI_abort",
	"__GI_exit",
	"__assert",
	"__assert_fail",
	"__assert_fail_base",
	"__assert_perror_fail",
	"__chk_fail",
	"__clang_call_terminate",
	"__cxa_bad_cast",
	"__cxa_bad_typeid",
	"__cxa_call_unexpected",
	"__cxa_call_terminate",
	"__cxa_deleted_virtual",
	"__cxa_pure_virtual",
	"__cxa_rethrow",
	"__cxa_throw",
	"__cxa_throw_bad_array_new_length",
	"__fortify_fail",
	"__libc_fatal",
	"__longjmp_chk",
	"__stack_chk_fail",
	"__stack_chk_fail_local",
	"__ubsan_handle_builtin_unreachable",
	"__ubsan_handle_missing_return",
	"_exit",
	"_longjmp",
	"abort",
	"exit",
	"err",
	"errx",
	"g_assertion_message",
	"g_assertion_message_expr",
	"longjmp",
	"panic",
	"pthread_exit",
	"quick_exit",
	"rust_begin_unwind",
	"rust_panic",
	"siglongjmp",
	"thrd_exit",
	"verr",
	"verrx",
	"xalloc_die",
};

/* Parts of mangled names, of C++'s and Rust's libraries. */
static const char *const parts[] = {
	"_ZSt16__throw_",          "_ZSt17__throw_",
	"_ZSt19__throw_",          "_ZSt20__throw_",
	"_ZSt21__throw_",          "_ZSt22__throw_",
	"_ZSt23__throw_",          "_ZSt24__throw_",
	"_ZSt25__throw_",          "_ZSt28__throw_",
	"_ZN4core9panicking",      "_ZN3std9panicking11begin_panic",
	"_ZN4core6option13expect", "_ZN4core6result13unwrap",
	"18handle_alloc_error",    "17capacity_overflow",
	"_ZN3std7process4exit",    "_ZN3std7process5abort",
};

bool code_is_noreturn(const char *raw_name)
{
	const size_t len = strcspn(raw_name, "@");

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strncmp(raw_name, names[i], len) == 0 && !names[i][len])
			return true;
	for (size_t i = 0; raw_name[0] == '_' && i < sizeof(parts) / sizeof(*parts);
	     i++)
		if (strstr(raw_name, parts[i]))
			return true;
	return false;
}
