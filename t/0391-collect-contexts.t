#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Samples of processes of 10 ms are counted in their cgroups, which look like containers,
# and under their labels. The programs differ, so each context can be checked.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
. "$srcdir/t/shares.sh"

hierarchy=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
[ -n "$hierarchy" ] || skip_all 'cgroup v2 is not mounted'
made=$hierarchy/cpi-t-$$
mkdir "$made" 2>/dev/null || skip_all 'no cgroup can be made here'
id_a=aaaaaaaaaaaa0123456789abcdef0123456789abcdef0123456789abcdef0123
id_b=bbbbbbbbbbbb0123456789abcdef0123456789abcdef0123456789abcdef0123
mkdir "$made/docker-$id_a.scope" "$made/libpod-$id_b.scope"

# A path that is longer than the kernel reports when a process moves.
part=$(printf '%0240d' 0)
deep=$made/$part/$part/$part/$part/$part
mkdir -p "$deep"

cgroups_end()
{
	tap_end
	rmdir "$made"/*.scope
	find "$made" -depth -type d -exec rmdir {} +
}
trap cgroups_end EXIT
plan $((nr_stored_tests + 45))

# wrapper NAME COMMAND: a program that executes a burn_x, for as long as its argument says
wrapper()
{
	printf '#!/bin/sh\n%s\n' "$2" >"$1"
	chmod +x "$1"
}

cpi=$builddir/tools/cpi
# Images of this test alone: other tests may run the same programs meanwhile.
mkdir own
for name in burn_a burn_b burn_c hidden into jit spawn; do
	cp "$programs/$name" own
done
programs=$PWD/own
real=$(realpath own)
wrapper in_a "echo \$\$ >$made/docker-$id_a.scope/cgroup.procs && exec '$programs/burn_a' \$1"
wrapper in_b "echo \$\$ >$made/libpod-$id_b.scope/cgroup.procs && exec '$programs/burn_b' \$1"
wrapper made "'$programs/into' $made/libpod-$id_b.scope '$programs/burn_c' \$1"
wrapper same_a "echo \$\$ >$made/docker-$id_a.scope/cgroup.procs && exec '$programs/burn_c' \$1"
wrapper same_b "echo \$\$ >$made/libpod-$id_b.scope/cgroup.procs && exec '$programs/burn_c' \$1"
wrapper deep "echo \$\$ >$deep/cgroup.procs && exec '$programs/burn_c' \$1"
wrapper unnamed "echo \$\$ >$made/libpod-$id_b.scope/cgroup.procs && exec '$programs/jit' -n \$1 code"
wrapper reuse_a "exec '$cpi' label reuse-a '$programs/burn_a' \$1"
wrapper reuse_b "exec '$cpi' label reuse-b '$programs/burn_b' \$1"
wrapper labelled "exec '$cpi' label outer -- '$tmp/nested' \$1"
wrapper nested "'$programs/burn_b' \$1
'$cpi' label inner '$programs/burn_c' \$1
exec '$programs/burn_b' \$1"

# in_context PROGRAM [CONTEXT]: its samples there, or all of them
in_context()
{
	sql "SELECT total(p.total) FROM profile p JOIN image i ON i.id = p.image
		JOIN context c ON c.id = p.context
		WHERE p.kind = 0 AND i.name GLOB '$real/$1' AND c.name GLOB '${2:-}'" |
		sed 's/\.0$//'
}

# belongs PROGRAM CONTEXT NAME: it has samples, and 99.5 % of them are there; 2 tests
belongs()
{
	belongs_all=$(in_context "$1")
	bound "$belongs_all" '>' 200 "$1 has samples"
	share_at_least "$(in_context "$1" "$2")" "$belongs_all" 0.995 "$3"
}

# image_samples PROGRAM [OPTION...]: its samples in the last epoch
image_samples()
{
	image_samples_of=$1
	shift
	cpi prof --db $db --by image --image "$real/$image_samples_of" "$@" --format=csv |
		sed -n 's/^\([0-9]*\),.*/\1/p'
}

collect_start -F 1000 --sweep 2s --by cgroup,label,process,comm
try 'programs run in two cgroups' "$programs/spawn" 150 2 10 ./in_a ./in_b ./made
cpid_ask flush >/dev/null
belongs burn_a "*cgroup=*/docker-$id_a.scope*" 'samples of burn_a are in its cgroup'
belongs burn_b "*cgroup=*/libpod-$id_b.scope*" 'samples of burn_b are in its cgroup'
if grep -q perf_event /proc/self/cgroup; then
	skip 2 'the kernel reports cgroups of v1 only'
else
	belongs burn_c "*cgroup=*/libpod-$id_b.scope*" 'samples of a process that was made in a cgroup are in it'
fi
is "$(in_context burn_? '*label=*')" 0 'no program without a label has one'
rows=$(cpi prof --db $db --by container --format=csv | cut -d, -f5-7)
like "$rows" '^aaaaaaaaaaaa,docker,' 'cpi prof --by container has short ids'
like "$rows" '^bbbbbbbbbbbb,podman,' 'cpi prof --by container has runtimes'
rows=$(cpi prof --db $db --by comm,container --image "$real/burn_?" --format=csv | cut -d, -f5,6)
like "$rows" '^burn_a,aaaaaaaaaaaa$' 'cpi prof --by comm,container has the command in its container'
unlike "$rows" '^burn_a,bbbbbbbbbbbb$' 'cpi prof --by comm,container has no command in another container'
share_at_least "$(image_samples burn_a --container 'aaaa*' --comm burn_a)" \
	"$(image_samples burn_a)" 0.995 'cpi prof --container --comm selects the samples of a program'
is "$(image_samples burn_a --container 'bbbb*' --comm burn_a)" '' \
	'cpi prof --container --comm selects nothing in another container'
like "$(cpi prof --db $db --by unit --format=csv)" "docker-$id_a.scope" 'cpi prof --by unit has the names of units'

cpid_ask epoch same >/dev/null
try 'one program runs in both cgroups' "$programs/spawn" 100 2 10 ./same_a ./same_b
cpid_ask flush >/dev/null
a=$(image_samples burn_c --cgroup "*$id_a*")
b=$(image_samples burn_c --cgroup "*$id_b*")
share_at_least $((a + b)) "$(image_samples burn_c)" 0.995 'samples of a program in two cgroups are in one of them'
share_near "$a" $((a + b)) 0.5 'both cgroups have the same number of samples'

cpid_ask epoch unnamed >/dev/null
try 'a program runs code without a name' "$programs/spawn" 400 1 1 ./unnamed
cpid_ask flush >/dev/null
for by in comm,jit container,bbbbbbbbbbbb; do
	bound "$(cpi prof --db $db --by ${by%,*} --format=csv |
		awk -F, -v "name=${by#*,}" '{ for (i = 1; i <= NF; i++) if ($i == name) n += $1 } END { print n + 0 }')" \
		'>' 100 "cpi prof --by ${by%,*} has samples of code without a name"
done
bound "$(cpi prof --db $db --comm jit --container 'bbbb*' --format=json |
	sed -n 's/^ *"anonymous": *\([0-9]*\).*/\1/p')" '>' 100 \
	'cpi prof --comm --container has them, by their reason'

cpid_ask epoch deep >/dev/null
try 'a program runs in a cgroup with a path of 1200 bytes' "$programs/spawn" 100 1 10 ./deep
cpid_ask flush >/dev/null
deep_samples=$(cpi prof --db $db --epoch deep --by cgroup --image "$real/burn_c" --format=csv |
	grep -v '^samples' >deep.csv; grep -F '[other]' deep.csv | sed 's/,.*//')
bound "${deep_samples:-0}" '>' 200 'samples in a cgroup with a path of 1200 bytes are of other cgroups'
unlike "$(cat deep.csv)" "$part" 'no sample is in a cgroup with a part of the path'

cpid_ask epoch reuse >/dev/null
"$programs/spawn" -p 100 1 10 ./reuse_a ./reuse_b >/dev/null 2>&1
status=$?
cpid_ask flush >/dev/null
if [ $status -eq 77 ] || [ $collector != perf ]; then
	skip 2 'a process id cannot be reused here, or the collector cannot distinguish its processes'
else
	for x in a b; do
		share_at_least "$(image_samples burn_$x --label reuse-$x)" \
			"$(image_samples burn_$x)" 0.995 \
			"processes that reuse an id have their own labels: reuse-$x"
	done
fi

cpid_ask epoch labels >/dev/null
# The children have the label, though their parent's own process id has none.
try 'programs run under labels' "$programs/spawn" 50 2 10 ./labelled
cpid_ask flush >/dev/null

all=$(image_samples burn_b)
share_at_least "$(image_samples burn_b --label outer)" "$all" 0.995 \
	'samples before and after the inner label have the outer one'
all=$(image_samples burn_c)
share_at_least "$(image_samples burn_c --label inner)" "$all" 0.995 \
	'samples under the inner label have that one'
like "$(cpi list --db $db --label inner --format=csv burn_c)" 'burn_c' 'cpi list --label selects samples'

"$programs/burn_a" 300 &
burner=$!
wait $burner
cpid_ask flush >/dev/null
bound "$(cpi prof --db $db --by process --process "burn_a:$burner" --format=csv |
	sed -n 's/^\([0-9]*\),.*/\1/p')" '>' 100 'cpi prof --process selects the samples of a process'

# The rows of each kind of context add up to all samples.
sum_of()
{
	cpi prof --db $db --idle --epoch all --by "$1" --format=csv 2>/dev/null |
		awk -F, 'NR > 1 { n += $1 } END { print n }'
}
whole=$(sum_of image)
for kind in comm cgroup container unit label process comm,container,label; do
	is "$(sum_of $kind)" "$whole" "the samples by $kind add up to all samples"
done

# A restarted cpid finds labels in the environments of processes, and nothing else there.
# Some processes hide their environment.
mkfifo ready go go_other
for i in 1 2 3; do
	HIDDEN=$(head -c 65536 /dev/zero | tr '\0' x) "$programs/hidden" >ready &
	tap_pids="$tap_pids $!"
	read -r line <ready
	note "one hides its environment: ${line:-not here}"
done
"$cpi" label again sh -c 'echo >ready; read -r line <go; exec "$1" 300' sh "$programs/burn_c" &
again=$!
timeout 300 head -n 1 ready >/dev/null
CPI_LABEL='not again' sh -c 'echo >ready; read -r line <go_other; exec "$1" 300' sh \
	"$programs/burn_a" &
other=$!
tap_pids="$tap_pids $again $other"
timeout 300 head -n 1 ready >/dev/null
collect_stop
collect_start -F 1000 --by label
echo >go
echo >go_other
wait $again $other
is "$(cpid_field contexts_other)" 0 'no sample is in the pool of too many contexts'
collect_stop
check_stored
all=$(image_samples burn_c)
bound "$all" '>' 100 'the program with a label has samples after the restart'
share_at_least "$(image_samples burn_c --label again)" "$all" 0.995 \
	'samples after a restart have the label'
is "$(sql 'SELECT name FROM context' | grep '^label=' | sort -u | tr '\n' ' ')" \
	'label=again label=inner label=outer label=reuse-a label=reuse-b ' 'the database has no other labels'
