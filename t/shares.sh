# SPDX-License-Identifier: GPL-2.0-or-later
# shares.sh - tests of shares that were sampled; after tap.sh
#
# A count of samples varies from run to run although nothing is wrong. These tests allow
# 4.5 sigma of a binomial distribution, and its skewness, which matters for small counts.
# So each of them fails by chance in less than one of 100,000 runs.

# share_holds COUNT ALL SHARE SIDE: SIDE is "most", "least" or "near".
share_holds()
{
	awk -v count="$1" -v all="$2" -v share="$3" -v side="$4" 'BEGIN {
		number = "^[0-9.]+(e[-+]?[0-9]+)?$"
		if (count !~ number || all !~ number || all + 0 == 0)
			exit 1
		z = 4.5
		mean = all * share
		sigma = sqrt(mean * (1 - share))
		skew = (z * z - 1) / 6 * (1 - 2 * share)
		above = count > mean + z * sigma + (skew > 0 ? skew : 0)
		below = count < mean - z * sigma - (skew < 0 ? -skew : 0)
		exit (side != "least" && above) || (side != "most" && below)
	}'
}

# is_share_at_most COUNT ALL SHARE: whether COUNT of ALL is not significantly more.
is_share_at_most()
{
	share_holds "$1" "$2" "$3" most
}

# share_test COUNT ALL SHARE SIDE NAME
share_test()
{
	note "$5: $1 of $2, wanted: at $4 $3"
	share_holds "$1" "$2" "$3" "$4"
	ok $? "$5"
}

# share_at_most COUNT ALL SHARE NAME: fails if COUNT of ALL is significantly more.
share_at_most()
{
	share_test "$1" "$2" "$3" most "$4"
}

# share_at_least COUNT ALL SHARE NAME: fails if COUNT of ALL is significantly less.
share_at_least()
{
	share_test "$1" "$2" "$3" least "$4"
}

# share_near COUNT ALL SHARE NAME: fails if COUNT of ALL is significantly more or less.
share_near()
{
	share_test "$1" "$2" "$3" near "$4"
}
