// SPDX-License-Identifier: GPL-2.0-or-later
// clickhouse_now.js - today's ClickHouse, a library, behind the HTTP interface of its server
//
//	clickhouse_now.js PORT FOLDER
//
// The engine is the real one. Only what CPI uses of the interface is here: a statement in
// the body or in ?query=, the rows of an INSERT in the body, compressed bodies, ?database=.
'use strict';
const http = require('http');
const zlib = require('zlib');
const { execFileSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');
const { Session } = require('chdb');

const [port, folder] = process.argv.slice(2);
const session = new Session(folder);

function unpack(encoding, body) {
	if (encoding === 'gzip')
		return zlib.gunzipSync(body);
	if (encoding === 'zstd')
		return execFileSync('zstd', ['-dc'], { input: body, maxBuffer: 1 << 30 });
	return body;
}

// The rows go through a file, for a statement is text.
function insert(sql, body) {
	const m = /^INSERT INTO (\S+) (\([^)]*\) )?FORMAT (\w+)$/.exec(sql.trim());
	const file = path.join(os.tmpdir(), `rows.${process.pid}`);
	if (!m)
		throw new Error(`not understood: ${sql}`);
	const columns = m[2] ? m[2].trim().slice(1, -1).split(',').map((c) => c.trim()) : null;
	const types = session.query(`DESCRIBE TABLE ${m[1]}`, 'TSV').trim().split('\n')
		.map((l) => l.split('\t')).filter((l) => !columns || columns.includes(l[0]));
	const structure = types.map((l) => `${l[0]} ${l[1].replace(/\\'/g, "''").replace(/'/g, "''")}`).join(', ');
	fs.writeFileSync(file, body);
	session.query(`INSERT INTO ${m[1]} (${types.map((l) => l[0]).join(', ')}) ` +
		`SELECT * FROM file('${file}', ${m[3]}, '${structure}')`);
	fs.unlinkSync(file);
	return '';
}

async function run(url, headers, body) {
	const query = url.searchParams.get('query') || '';
	const database = url.searchParams.get('database');
	body = unpack(headers['content-encoding'], body);
	if (database && database !== 'default')
		session.query(`USE ${database}`);
	else
		session.query('USE default');
	const size = Number(url.searchParams.get('max_query_size'));
	if (size)
		session.query(`SET max_query_size = ${size}`);
	if (/^INSERT INTO \S+ (\([^)]*\) )?FORMAT/.test(query))
		return insert(query, body);
	const result = await session.queryAsync(`${query}${body.toString('utf8')}`, { format: 'TSV' });
	return result.bytes();
}

// One statement at a time, in the order in which they came.
let last = Promise.resolve();

function answer(request, response, body) {
	return run(new URL(request.url, 'http://localhost'), request.headers, body).then(
		(out) => response.writeHead(200).end(out),
		(e) => response.writeHead(500).end(`${e.message}\n`));
}

http.createServer((request, response) => {
	const parts = [];
	request.on('data', (part) => parts.push(part));
	request.on('end', () => {
		last = last.then(() => answer(request, response, Buffer.concat(parts)));
	});
}).listen(Number(port), '127.0.0.1');
