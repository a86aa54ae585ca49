# SPDX-License-Identifier: GPL-2.0-or-later
# page.awk - a command's manual page: its text, and its options as the command has them
#
# usage: cpi COMMAND --help | awk -v options=man/options -f man/page.awk - cpi-COMMAND.1.in
#
# The page has its options between the comments OPTIONS and END. Which there are, their
# letters and values, and their order come from --help. What each does is said once for
# all pages in the file options, behind the comment --NAME; or between OPTIONS and END,
# for this page alone; else it is what --help says.

function add_option(line,   name)
{
	name = line
	sub(/^  (-.,|   ) --/, "", name)
	arg[nr] = name ~ /^[a-z-]*\[?=/ ? name : ""
	sub(/ .*/, "", arg[nr])
	optional[nr] = arg[nr] ~ /^[a-z-]*\[=/
	sub(/^[a-z-]*\[?=/, "", arg[nr])
	if (optional[nr])
		sub(/\]$/, "", arg[nr])
	sub(/[ =\[].*/, "", name)
	option[nr] = name
	letter[nr] = substr(line, 4, 1)
	sub(/^  (-.,|   ) --[^ ]* */, "", line)
	help[nr++] = line
}

# "text|FILE" as words of mdoc, in brackets where the value may be left out.
function values(text, may_miss,   word, n, i, out)
{
	out = may_miss ? " Ns Oo Ns = Ns " : " Ns = Ns "
	n = split(text, word, "|")
	for (i = 1; i <= n; i++)
		out = out (i > 1 ? " Ns | Ns " : "") (word[i] ~ /^[A-Z]/ ? "Ar " : "Cm ") word[i]
	return out (may_miss ? " Oc" : "")
}

# What the page says of an option has to be of one that the command has.
function check_own(   i, name, known)
{
	for (i = 0; i < nr; i++)
		known[option[i]]
	for (name in own) {
		if (!(name in known))
			fail("the command has no option --" name)
	}
}

function sentence(text)
{
	return toupper(substr(text, 1, 1)) substr(text, 2) ".\n"
}

function print_options(   i, name)
{
	print ".Bl -tag -width Ds"
	for (i = 0; i < nr; i++) {
		name = option[i]
		printf ".It %sFl -%s%s\n", letter[i] == " " ? "" : "Fl " letter[i] " , ", name,
			arg[i] == "" ? "" : values(arg[i], optional[i])
		printf "%s", name in own ? own[name] : name in common ? common[name] : \
			sentence(help[i])
	}
	print ".El"
}

function fail(text)
{
	print "page.awk: " text >"/dev/stderr"
	failed = 1
	exit 1
}

BEGIN {
	nr = 0
	while ((got = (getline line <options)) > 0) {
		if (line ~ /^\.\\" --/)
			name = substr(line, 7)
		else if (line !~ /^\.\\"/)
			common[name] = common[name] line "\n"
	}
	if (got < 0)
		fail(options " cannot be read")
}

FILENAME == "-" || FILENAME == "" {
	if ($0 ~ /^  (-.,|   ) --/)
		add_option($0)
	else if ($0 ~ /^     / && nr && help[nr - 1] == "") { # below a long one
		sub(/^ */, "")
		help[nr - 1] = $0
	}
	next
}

/^\.\\" OPTIONS$/ { inside = 1; nr_lists++; own_name = ""; next }
inside && /^\.\\" END$/ { inside = 0; check_own(); print_options(); next }
inside && /^\.\\" --/ { own_name = substr($0, 7); next }
inside { own[own_name] = own[own_name] $0 "\n"; next }
{ print }

END {
	if (!failed && (nr_lists != 1 || inside))
		fail("the page needs one list of options, from OPTIONS to END")
}
