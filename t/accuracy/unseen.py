# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that were chosen after every constant of CPI, and what they are given to do."""

OCAML = r"""
module M = Map.Make(String)
type tree = Leaf | Node of tree * int * tree
let seed = ref 42
let random n = seed := (!seed * 1103515245 + 12345) land 0x7fffffff; !seed mod n
let rec insert x = function
  | Leaf -> Node (Leaf, x, Leaf)
  | Node (l, y, r) as t ->
    if x < y then Node (insert x l, y, r) else if x > y then Node (l, y, insert x r) else t
let rec depth = function Leaf -> 0 | Node (l, _, r) -> 1 + max (depth l) (depth r)
let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)
let count m w = M.update w (function None -> Some 1 | Some n -> Some (n + 1)) m
let () =
  let words = List.init 60000 (fun _ -> "w" ^ string_of_int (random 3000)) in
  let m = List.fold_left count M.empty words in
  let t = List.fold_left (fun t _ -> insert (random 100000) t) Leaf words in
  let a = Array.init 90000 (fun _ -> random 1000000) in
  Array.sort compare a;
  let text = String.concat " " words in
  Printf.printf "%d %d %d %d %s\n" (M.cardinal m) (depth t) (fib 27) a.(45000)
    (String.sub (String.uppercase_ascii text) 0 9)
"""
PROLOG = r"""
queens(N, Qs) :- numlist(1, N, Ns), select_all(Ns, [], Qs).
select_all([], Qs, Qs).
select_all(Ns, Safe, Qs) :- select(Q, Ns, Rest), \+ attack(Q, 1, Safe),
    select_all(Rest, [Q | Safe], Qs).
attack(Q, D, [Y | _]) :- (Q =:= Y + D ; Q =:= Y - D), !.
attack(Q, D, [_ | Ys]) :- D1 is D + 1, attack(Q, D1, Ys).
nrev([], []).
nrev([X | Xs], Ys) :- nrev(Xs, Zs), append(Zs, [X], Ys).
tokens(N, As) :- findall(A, (between(1, N, I), J is I * 7919 mod 1009, atom_concat(w, J, A)), As).
sum([], 0).
sum([K - V | T], S) :- sum(T, S0), atom_length(K, L), S is S0 + V * L.
main :- findall(Q, queens(8, Q), All), length(All, N),
    numlist(1, 300, L), forall(between(1, 80, _), nrev(L, _)),
    tokens(8000, As), msort(As, Sorted), length(Sorted, M),
    findall(K - 1, member(K, Sorted), Ks), sum(Ks, S),
    F is 3 ** 2000 mod 1000007, writeln([N, M, S, F]).
"""
SCHEME = r"""
(define seed 42)
(define (rnd n) (set! seed (logand (+ (* seed 1103515245) 12345) #x7fffffff)) (modulo seed n))
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(define words (map (lambda (i) (string-append "w" (number->string (rnd 3000)))) (iota 20000)))
(define table (make-hash-table))
(for-each (lambda (w) (hash-set! table w (+ 1 (hash-ref table w 0)))) words)
(define sorted (sort words string<?))
(define (tak x y z)
  (if (< y x) (tak (tak (- x 1) y z) (tak (- y 1) z x) (tak (- z 1) x y)) z))
(define text (string-join sorted " "))
(display (list (fib 26) (tak 14 9 4) (string-length (string-upcase text)) (expt 3 500)
  (length (string-split text #\space)) (hash-count (const #t) table)))
"""
PARI = r"""
f(n) = sum(k = 1, n, eulerphi(k) * moebius(k) + numdiv(k));
print(f(300000));
print(#select(p -> isprime(2 * p + 1), primes(20000)));
print(factor(2^163 - 1));
M = matrix(60, 60, i, j, (i * j^2 + i) % 101 + (i == j));
print(matdet(M) % 1000007, " ", trace(M^12) % 65537);
print(polcoef(Ser((1 + x + x^3)^40 + O(x^90)), 50));
print(zeta(3.) + lngamma(7.5));
default(realprecision, 400); print(precision(exp(1) * Pi / log(2), 38));
print(sum(k = 1, 200000, bitxor(k^3, k * 7919) % 1009));
"""
SMT = ("(set-option :smt.random_seed 7)\n"
       + "".join(f"(declare-const x{i} (_ BitVec 16))\n" for i in range(10))
       + "".join(f"(assert (= (bvmul x{i} x{i + 1}) (bvadd (bvxor x{(i + 3) % 10} "
                 f"#x{i * 2741 % 65536:04x}) #x{i * 7919 % 65536:04x})))\n" for i in range(8))
       + "(check-sat)\n")
POSTSCRIPT = r"""%!
/seed 42 def
/random { /seed seed 16807 mul 2147483647 mod cvi def seed exch mod } def
/tree { dup 0 gt { gsave dup 2 mul 0 exch rlineto currentpoint stroke translate
  dup 1 sub 25 rotate tree dup 1 sub -40 rotate tree grestore } if pop } def
/seed 42 def
0.3 setlinewidth
/Helvetica findfont 7 scalefont setfont
1 1 60 { /i exch def i 9 mod 60 mul 20 add i 11 mul moveto
  (row ) show i 10 string cvs show i 97 mul 10 string cvs show } for
1 1 900 { /i exch def i 7 mod 7 div i 5 mod 5 div i 3 mod 3 div setrgbcolor
  i 31 mul 600 mod i 17 mul 780 mod i 13 mod 2 add 0 360 arc fill } for
0 setgray 300 100 moveto
/branch { /n exch def n 0 gt { gsave 0 n 6 mul rlineto currentpoint stroke
  translate 0 0 moveto 24 rotate n 1 sub branch grestore } if } def
13 branch
/a 700 array def 0 1 699 { a exch dup 7919 mul 1009 mod put } for
0 1 698 { /i exch def 0 1 698 i sub { /j exch def a j get a j 1 add get gt
  { a j a j 1 add get a j 1 add a j get put put } if } for } for
a 200 get 10 string cvs show
showpage
"""
PLOT = r"""
set terminal svg size 800,600
set samples 1000
set isosamples 80
f(x) = sin(x) * exp(-x * x / 50.0) + besj0(x) * gamma(1.5)
g(n, x) = n < 1 ? 0 : sin(n * x) / n + g(n - 1, x)
plot f(x), g(9, x), abs(f(x)) ** 0.5, floor(10 * f(x)) % 3
set hidden3d
splot [-5:5] [-5:5] sin(sqrt(x * x + y * y)), x * y / 10 + cos(x)
set contour; set cntrparam levels 12
splot [-3:3] [-3:3] x * exp(-x * x - y * y)
"""
ARIA = ["openssl", "enc", "-aria-128-cbc", "-K", "00112233445566778899aabbccddeeff",
        "-iv", "0f1e2d3c4b5a69788796a5b4c3d2e1f0", "-a", "-in", "CORPUS"]
PICTURE = ["convert-im6.q16", "-limit", "thread", "1", "-seed", "7", "-size", "320x320",
           "plasma:fractal", "-blur", "0x2", "-resize", "150%", "-modulate", "110,80",
           "-colors", "24", "png:-"]

# name → (command, standard input)
PROGRAMS = {
    "zstd19": (["zstd", "-q", "--single-thread", "-19", "-c", "SOURCE"], ""),
    "openssl": (ARIA, ""),
    "convert": (PICTURE, ""),
    "gs": (["gs", "-q", "-dNOPAUSE", "-dBATCH", "-sDEVICE=ppmraw", "-r72",
            "-sOutputFile=%stdout", "-"], POSTSCRIPT),
    "gnuplot": (["gnuplot", "-"], PLOT),
    "ocaml": (["ocaml", "/dev/stdin"], OCAML),
    "swipl": (["swipl", "-q", "-g", "[user],main,halt"], PROLOG),
    "guile": (["guile", "--no-auto-compile", "-q", "-s", "/dev/stdin"], SCHEME),
    "gp": (["gp", "-q", "-f"], PARI),
    "z3": (["z3", "-in"], SMT),
    "clang-format": (["clang-format-14", "--style=llvm", "SOURCE"], ""),
}
