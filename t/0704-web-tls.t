#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Other machines reach cpi-web only by TLS, with a certificate or a password.
. "$srcdir/t/tap.sh"
. "$srcdir/t/web.sh"
need curl openssl perl pgrep prlimit
plan 59

"$builddir/t/mkdb" known.db "$builddir/t/target" || bail "mkdb failed"

# authority NAME: makes NAME.pem and NAME.key, of a CA.
authority()
{
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 \
		-subj "/CN=$1" -keyout "$1.key" -out "$1.pem" 2>made || bail "$(cat made)"
}

# certificate NAME CA DAYS EXTENSIONS: makes NAME.pem and NAME.key, signed by CA.
certificate()
{
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" \
		-keyout "$1.key" -out "$1.req" 2>made || bail "$(cat made)"
	echo "$4" >extensions
	openssl x509 -req -in "$1.req" -CA "$2.pem" -CAkey "$2.key" -CAcreateserial -days "$3" \
		-extfile extensions -out "$1.pem" 2>made || bail "$(cat made)"
	chmod 600 "$1.key"
}

# A local server, so both names are in its certificate.
names='subjectAltName=DNS:localhost,IP:127.0.0.1
extendedKeyUsage=serverAuth'
client='extendedKeyUsage=clientAuth'
authority ca
authority other
certificate server ca 30 "$names"
certificate late ca -1 "$names"
certificate anna ca 30 "$client"
certificate expired ca -1 "$client"
certificate forged other 30 "$client"

# hash PASSWORD [SETTING]: yescrypt's, of a cost that suits tests.
hash()
{
	perl -e 'print crypt($ARGV[0], $ARGV[1])' "$1" "${2:-\$y\$j75\$abcdefghijklmnop\$}"
}
# change: users has new lines from now on.
change()
{
	(umask 077 && cat >users.new) && mv users.new users
}
change <<END
# users
bert:$(hash secret)
cleo:$(hash word '$2b$05$abcdefghijklmnopqrstuu'):ignored
END

# ask PATH CURL-OPTION...: prints the status; the body is in body, headers in head.
ask()
{
	ask_path=$1
	shift
	curl -s -o body -D head -w '%{http_code}' --cacert ca.pem "$@" "$url$ask_path"
}
as_client()
{
	echo "--cert $1.pem --key $1.key"
}
secure="--db=known.db --certificate=server.pem --key=server.key --listen=127.0.0.1:0"

# --- certificates ---
web_start $secure --client-ca=ca.pem
is "${url%:*}" https://127.0.0.1 "a port has TLS, and needs no token"
# shellcheck disable=SC2046 # words
is "$(ask -/healthy $(as_client anna)) $(cat body)" "200 healthy" \
	"a client with a certificate of the CA gets answers"
is "$(ask 'api/v1/prof?epoch=all' $(as_client anna)) $(cmp body - <<END
$(cpi prof --db known.db --epoch all --format=json 2>/dev/null)
END
)" "200 " "the answers are those of the commands"
is "$(ask -/healthy) $(cat body)" \
	'403 {"error": "a certificate for clients is needed that is valid here"}' \
	"a client without a certificate is refused"
is "$(ask -/healthy $(as_client forged))" 403 "a certificate of another CA is refused"
is "$(ask -/healthy $(as_client expired))" 403 "a certificate that has expired is refused"
is "$(ask -/healthy $(as_client server))" 403 "a certificate for servers is refused"
is "$(ask -/healthy -u bert:secret)" 403 "a password does not replace a certificate"
is "$(ask -/healthy $(as_client anna) -H 'Host: evil.example')" 421 \
	"another name of the server is refused"
is "$(curl -s -o body -w '%{http_code}' "http${url#https}-/healthy")" 000 \
	"there is no answer without TLS"
is "$(ask -/healthy $(as_client anna) --tls-max 1.1)" 000 "there is no answer by an old version of TLS"
is "$(curl -s -o body -w '%{http_code}' --cacert other.pem "$url-/healthy")" 000 \
	"a client can tell that it is this server"
web_stop
is "$? $(cat web.log)" "0 " "the server logs nothing"

# --- passwords ---
web_start $secure --passwords=users
is "$(ask -/healthy -u bert:secret) $(cat body)" "200 healthy" "a user with a password gets answers"
is "$(ask -/healthy -u cleo:word)" 200 "a user with a password hashed by bcrypt gets answers"
is "$(ask -/healthy) $(sed -n 's/^WWW-Authenticate: \(.*\)\r$/\1/p' head)" \
	'401 Basic realm="CPI", charset="UTF-8"' "a client without a password is asked for it"
is "$(ask -/healthy -u bert:wrong) $(cat body)" '401 {"error": "no such user and password"}' \
	"a wrong password is refused"
is "$(cat web.log)" "cpi-web: warning: web: a wrong password for user 'bert' from 127.0.0.1" \
	"a wrong password is logged"
is "$(ask -/healthy -u dora:secret) $(cat body)" '401 {"error": "no such user and password"}' \
	"an unknown user is refused in the same words"
is "$(ask -/healthy -u bert:wrong -w '%{time_total}' | awk '{ print ($1 >= 0.9) }')" 1 \
	"a refusal takes a second"
is "$(ask -/healthy $(as_client anna))" 401 "a certificate does not replace a password"
for value in Basic 'Basic !' 'Basic YQ==' 'Basic OgA6' 'Bearer YTpi' \
	"Basic $(head -c 3000 /dev/zero | base64 -w 0)"; do
	ask -/healthy -H "Authorization: $value"
	echo
done >got
is "$(sort -u got)" 401 "a malformed Authorization header is refused"

# A guesser's places are taken: users whose password was right do not wait.
for n in $(seq 12); do
	curl -s -o "guess.$n" -w '%{http_code}\n' --cacert ca.pem -u "bert:guess$n" \
		"$url-/healthy" >"code.$n" &
	tap_pids="$tap_pids $!"
done
is "$(ask -/healthy -u bert:secret)" 200 "a user gets answers while another client guesses passwords"
for n in $(seq 12); do
	await test -s "code.$n"
done
cat code.* | sort | uniq -c | sort -rn | awk '{ print $2 }' >got
is "$(sort -u got | tr '\n' ' ')" "401 503 " "only a limited number of passwords is checked at a time"
is "$(ask metrics -u bert:secret) $(awk '$1 == "cpi_web_logins_refused_total" { print ($2 > 0) }' body)" \
	"200 1" "the metrics count refused passwords"

# --- the file changes ---
echo "bert:$(hash new '$y$j75$bbbbbbbbbbbbbbbb$')" | change
is "$(ask -/healthy -u bert:new)" 200 "a new password is taken without a restart"
is "$(ask -/healthy -u bert:secret)" 401 "the old password is refused after a change"
is "$(ask -/healthy -u cleo:word)" 401 "a user that was removed is refused"
chmod o+r users
is "$(ask -/healthy -u bert:new)" 401 "while other users can read the password file, all clients are refused"
chmod o= users
is "$(ask -/healthy -u bert:new)" 200 "after the file's mode is corrected, clients get answers"
{
	echo 'eve:plain'
	echo "eve:$(hash x '$6$abcdefgh$')"
	echo ':x'
	echo words
	echo "bert:$(hash new)"
} | change
is "$(ask -/healthy -u eve:plain) $(ask -/healthy -u eve:x) $(ask -/healthy -u bert:new)" \
	"401 401 200" "users of malformed lines are refused"
is "$(grep -c "users:[1-4]: " web.log)" 4 "malformed lines are logged"
rm users
is "$(ask -/healthy -u bert:new)" 401 "without the password file all clients are refused"
web_stop
is "$?" 0 "the server ends as usual"

echo "bert:$(hash secret)" | change
web_start $secure --passwords=users --client-ca=ca.pem
for n in $(seq 6); do
	curl -s -o "guess.$n" -w '%{http_code}\n' --cacert ca.pem -u bert:secret \
		"$url-/healthy" >"again.$n" &
	tap_pids="$tap_pids $!"
done
for n in $(seq 6); do
	await test -s "again.$n"
done
is "$(cat again.* | sort -u)" 200 "simultaneous first requests of a browser check the password once"
is "$(ask -/healthy $(as_client anna)) $(ask -/healthy)" "200 401" \
	"either a certificate or a password lets in"
web_stop

# To check this password takes many seconds.
(umask 077 && printf 'bert:$2b$17$%053d\n' 0 >slow)
web_start $secure --passwords=slow
asker=
# is_checking: whether the server's child checks it; asks, again if the client has ended.
is_checking()
{
	if ! kill -0 "$asker" 2>/dev/null; then
		[ -z "$asker" ] || note "asked again after: $(cat code.stop web.log)"
		ask -/healthy -u bert:secret >code.stop &
		asker=$!
		tap_pids="$tap_pids $asker"
	fi
	pgrep -P "$web_pid" -x cpi-web >/dev/null
}
await is_checking || bail "no password is checked: $(cat code.stop web.log)"
web_stop
echo "$? $(cat web.log)" >got
wait "$asker"
is "$(cat got code.stop; find "$tmp" -name 'cpi-web.*' -o -name 'core*')" "0 
000" "the server ends while a password is checked"

# --- what is refused, or warned of ---
ln -s "$builddir/tools/cpi" reporter # the path may have spaces
web="cpi-web --cpi=$tmp/reporter --db=known.db"
refused() # TITLE MESSAGE OPTION...
{
	refused_title=$1 refused_message=$2
	shift 2
	like "$($web "$@" 2>&1; echo $?)" "$refused_message" "$refused_title"
}
refused "passwords without TLS are refused" 'client-ca and passwords need a certificate' \
	--listen=127.0.0.1:0 --passwords=users
refused "so is TLS that lets everybody in" 'client-ca or passwords say who' \
	--certificate=server.pem --key=server.key
refused "... a certificate without its key" 'belong together' --certificate=server.pem
refused "... the key of another one" 'server.pem and anna.key: ' \
	--certificate=server.pem --key=anna.key --client-ca=ca.pem
chmod o+r anna.key
refused "... a key that others can read" 'anna.key: other users can read' \
	--certificate=anna.pem --key=anna.key --client-ca=ca.pem
refused "... and a file that is missing" 'none.pem: No such file' \
	--certificate=none.pem --key=server.key --client-ca=ca.pem
web_start --db=known.db --certificate=late.pem --key=late.key --client-ca=ca.pem
is "$(cat web.log)" "cpi-web: warning: web: late.pem: the certificate has expired" \
	"a certificate that has expired is warned of"
web_stop

# --- new certificates ---
cp server.pem new.pem && cp server.key new.key && cp ca.pem new-ca.pem && chmod 600 new.key
mkdir run
RUNTIME_DIRECTORY=$PWD/run
export RUNTIME_DIRECTORY
web_start --db=known.db --certificate=new.pem --key=new.key --client-ca=new-ca.pem --listen=127.0.0.1:0
unset RUNTIME_DIRECTORY
certificate renewed other 30 "$names"
certificate carl other 30 "$client"
# answers_to CA CLIENT: whether the server has a certificate of CA, and lets CLIENT in.
answers_to()
{
	[ "$(curl -s -o body -w '%{http_code}' --cacert "$1.pem" --cert "$2.pem" --key "$2.key" \
		"${url}-/healthy")" = 200 ]
}
try "a server has the certificate that it began with" answers_to ca anna
echo nonsense >new.pem.1 && mv new.pem.1 new.pem
await grep -q 'new.pem and new.key' web.log
try "a file that is no certificate changes nothing" answers_to ca anna
await test -s run/certificate-refused
is "$(cat run/certificate-refused 2>&1)" new.pem "... and cpi doctor finds it"
# A client that keeps its connection must not hold up what comes later.
python3 "$srcdir/t/web_keeps.py" "${url}-/healthy" ca.pem anna.pem anna.key >kept.out 2>&1 &
keeper=$!
tap_pids="$tap_pids $keeper"
await grep -q '^200 keep-alive' kept.out || bail "$(cat kept.out)"
cp renewed.key new.key.1 && chmod 600 new.key.1 && mv new.key.1 new.key
cp renewed.pem new.pem.1 && mv new.pem.1 new.pem
cp other.pem new-ca.pem.1 && mv new-ca.pem.1 new-ca.pem
await answers_to other carl
try "new files are read without a restart" answers_to other carl
is "$(ls run)" options "... and cpi doctor finds nothing any more"
unlike "$(answers_to ca anna && echo in)" in "after a new CA, a client of the old one is refused"
: >go
wait $keeper
is "$(tail -n 1 kept.out)" "200 close" "a connection from before ends with its next answer"
cp ca.pem new-ca.pem.1 && mv new-ca.pem.1 new-ca.pem
await answers_to other anna
try "... and then files are read again" answers_to other anna

# The new files are right, but the server has no descriptor for them.
refuses()
{
	curl -s --cacert other.pem --cert anna.pem --key anna.key "${url}metrics" |
		awk '$1 == "cpi_web_certificate_refused" { print $2 }'
}
is "$(refuses)" 0 "the metrics say that the certificate is in use"
rm -f go
python3 "$srcdir/t/web_keeps.py" "${url}-/healthy" other.pem anna.pem anna.key >kept.out 2>&1 &
keeper=$!
tap_pids="$tap_pids $keeper"
await grep -q '^200 keep-alive' kept.out || bail "$(cat kept.out)"
prlimit --pid "$web_pid" --nofile=0: || bail "no limit of descriptors"
cp server.key new.key.1 && chmod 600 new.key.1 && mv new.key.1 new.key
cp server.pem new.pem.1 && mv new.pem.1 new.pem
await grep -q 'the former one stays in use' web.log
is "$(grep -c 'new.pem: .*the former one stays in use' web.log)" 1 \
	"a port that cannot be opened with a new certificate is logged once"
: >go
wait $keeper
is "$(tail -n 1 kept.out)" "200 keep-alive" "... and its connections stay"
prlimit --pid "$web_pid" --nofile=1024:
await answers_to ca anna
try "... until it can be opened" answers_to ca anna
web_stop

# --- the configuration file ---
cat >web.conf <<END
[cpi-web]
db = known.db
certificate = server.pem
key = server.key
passwords = users
host = nobody.example
listen = 127.0.0.1:0
END
mkdir web.conf.d
printf '[cpi-web]\nhost =\nhost = localhost.example\n' >web.conf.d/10-name.conf
web_start --config=web.conf
port=${url##*:}
port=${port%/}
is "$url $(ask -/ready -u bert:secret -k --resolve "localhost.example:$port:127.0.0.1")" \
	"https://localhost.example:$port/ 200" "options come from a file, and others beside it"
web_stop
web_start --config=web.conf --host=localhost
is "${url%:*}" https://localhost "the command line replaces them"
web_stop
printf '[cpi-web]\ncertficate = x\n' >bad.conf
is "$(cpi-web --config=bad.conf 2>&1; echo $?)" \
	'cpi-web: error: bad.conf:2:1: there is no option "certficate"; did you mean "certificate"?
Try '"'cpi-web --help'"'.
2' "a wrong name in a file is an error, with its place"
