# SPDX-License-Identifier: GPL-2.0-or-later
# profiles_agree.awk - do two profiles have the same shares?
#
# awk -F '\t' -f profiles_agree.awk names.tsv perf.tsv cpi.tsv
#
# names.tsv has lines of image, address and name of each symbol; the profiles have lines
# of image, name and samples. Writes into the file "result": chi-square, its degrees of
# freedom, its normal deviate (Wilson and Hilferty), and the samples of either profile.
# Prints "SIGMA PERF CPI KEY" of each key with 100 samples or more: how far its shares are
# apart, and its samples.
#
# An image's key is its file name: perf and CPI write the path of a program in another
# root directory in different ways.
function file_name(path) {
	sub(/^.*\//, "", path)
	return path
}
FILENAME == "names.tsv" {
	$1 = file_name($1)
	at = $1 "\t" $2
	name = $1 "\t" $3
	if (!(at in first) || $3 < first[at])
		first[at] = $3
	if (!(name in address) || $2 < address[name])
		address[name] = $2
	next
}
{
	image = $1
	name = $2
	sub(/@@?[A-Z].*/, "", name) # a version; "@plt" is part of the name
	if (image ~ /^\/\/anon|^\/tmp\/perf-|^\[unknown\]|^\[anon/ || image == "")
		key = "unknown"
	else {
		if (image !~ /^\// && image != "[vdso]")
			image = "[kernel]"
		image = file_name(image)
		if (name ~ /^[[@]|^_Z|^_R|::|\(/)
			name = "other"
		else if ((image "\t" name) in address)
			name = first[image "\t" address[image "\t" name]]
		key = image " " name
	}
	n[key, FILENAME] += $3
	all[FILENAME] += $3
	keys[key] = 1
}
function add(key, a, b,  d, p) {
	d = a / a_all - b / b_all
	p = (a + b) / (a_all + b_all)
	if (a + b == 0)
		return
	chi2 += d * d / (p * (1 / a_all + 1 / b_all))
	classes++
	d /= sqrt(p * (1 - p) * (1 / a_all + 1 / b_all))
	if (a + b >= 100)
		printf "%.2f %d %d %s\n", d < 0 ? -d : d, a, b, key
}
END {
	a_all = all["perf.tsv"]
	b_all = all["cpi.tsv"]
	for (key in keys) {
		a = n[key, "perf.tsv"] + 0
		b = n[key, "cpi.tsv"] + 0
		if (a + b < 20) {
			a_rest += a
			b_rest += b
		} else
			add(key, a, b)
	}
	add("the rest", a_rest, b_rest)
	df = classes - 1
	z = (exp(log(chi2 / df) / 3) - (1 - 2 / (9 * df))) / sqrt(2 / (9 * df))
	print chi2, df, z, a_all, b_all >"result"
}
