// SPDX-License-Identifier: GPL-2.0-or-later
// Moves the boxes of a flame graph: zoom, search, and a box that the keys walk from.
// Names are read from the picture as text, and written as text.
'use strict';
(() => {
const svg = document.currentScript.closest('svg');
const PAD = 10, ROW = 18, CHAR = 6.65, LEAST = 0.3, LINE = 15;
const icicle = 'icicle' in svg.dataset;

// Parents come before their children, which stand side by side from the parent's left.
const path = [];
const boxes = Array.from(svg.querySelectorAll('.f'), (g, index) => {
	const title = g.querySelector('title');
	const lines = title.textContent.split('\n');
	const depth = Number(g.dataset.d);
	const parent = depth ? path[depth - 1] : null;
	const box = { g, lines, depth, parent, index, weight: Number(g.dataset.w),
		x: parent ? parent.filled : 0, end: index + 1, children: [],
		rect: g.querySelector('rect'), text: g.querySelector('text') };

	box.filled = box.x;
	path[depth] = box;
	if (parent) {
		parent.filled += box.weight;
		parent.children.push(box);
	}
	for (let up = parent; up; up = up.parent)
		up.end = index + 1;
	g.setAttribute('aria-label', lines.join(', '));
	title.remove();
	return box;
});
const all = boxes[0];
let zoom = all, here = null;

const make = (parent, name, attributes = {}) => {
	const xhtml = ['div', 'input', 'button', 'output'].includes(name);
	const element = document.createElementNS(
		xhtml ? 'http://www.w3.org/1999/xhtml' : svg.namespaceURI, name);

	for (const [key, value] of Object.entries(attributes))
		element.setAttribute(key, value);
	parent.append(element);
	return element;
};

const frame = make(svg, 'foreignObject', { y: 8, width: 460, height: 32 });
const tools = make(frame, 'div', { class: 'tools' });
const found = make(tools, 'output', { 'aria-live': 'polite' });
const input = make(tools, 'input', { type: 'search', placeholder: 'Search  /',
	'aria-label': 'Search: text or regular expression' });
const reset = make(tools, 'button', { type: 'button', title: 'Escape' });
reset.textContent = 'Reset zoom';
const said = make(svg, 'text', { class: 'said', x: PAD, role: 'status' });
const tip = make(svg, 'g', { class: 'tip', visibility: 'hidden' });
const tipPaper = make(tip, 'rect', { rx: 4 });
const tipText = make(tip, 'text');

const width = () => Math.max(400, svg.getBoundingClientRect().width);
const isShown = box => box.g.style.display !== 'none';
const isAbove = (box, below) => box.index < below.index && below.index < box.end;

const fit = (name, room) => {
	const chars = Math.floor((room - 6) / CHAR), letters = Array.from(name);

	if (chars < 3)
		return '';
	return letters.length <= chars ? name : letters.slice(0, chars - 1).join('') + '…';
};

// Keeps the tools and the line below the boxes in view while a tall picture is scrolled.
const follow = () => {
	const top = Math.max(0, -svg.getBoundingClientRect().top);
	const bottom = Math.min(svg.height.baseVal.value, top + window.innerHeight);

	frame.setAttribute('y', top + 8);
	said.setAttribute('y', bottom - 10);
};

const layout = () => {
	const room = width() - 2 * PAD, scale = room / zoom.weight;

	for (const box of boxes) {
		const up = isAbove(box, zoom);
		const inside = box.index >= zoom.index && box.index < zoom.end;
		const wide = up ? room : box.weight * scale;
		const shown = up || (inside && wide >= LEAST);

		box.g.style.display = shown ? '' : 'none';
		box.g.classList.toggle('up', up);
		if (!shown)
			continue;
		const x = up ? PAD : PAD + (box.x - zoom.x) * scale;
		box.rect.setAttribute('x', x);
		box.rect.setAttribute('width', Math.max(wide - 1, LEAST));
		box.text.setAttribute('x', x + 3);
		box.text.textContent = fit(box.lines[0], wide);
	}
	frame.setAttribute('x', width() - PAD - 460);
	follow();
	reset.disabled = zoom === all;
};

const say = box => {
	said.textContent = box ? fit(box.lines.join('  ·  '), width() - 2 * PAD) : '';
};

const stand = box => {
	if (here)
		here.g.classList.remove('here');
	here = box;
	say(box);
	if (!box)
		return;
	box.g.classList.add('here');
	box.g.scrollIntoView({ block: 'nearest' });
};

const zoomTo = box => {
	zoom = box.children.length || box === all ? box : box.parent || all;
	layout();
	if (here && !isShown(here))
		stand(zoom);
};

const matcher = text => {
	try {
		const pattern = new RegExp(text, 'i');
		return name => pattern.test(name);
	} catch (e) {
		return name => name.toLowerCase().includes(text.toLowerCase());
	}
};

// A match inside a match adds nothing: its time is the outer one's, too.
const search = text => {
	const matches = text ? matcher(text) : () => false;
	let weight = 0, counted = 0, nr = 0;

	svg.classList.toggle('looking', text !== '');
	for (const box of boxes) {
		const match = box !== all && matches(box.lines[0]);

		box.g.classList.toggle('m', match);
		nr += match;
		if (!match || box.index < counted)
			continue;
		weight += box.weight;
		counted = box.end;
	}
	found.textContent = text ? `${(100 * weight / all.weight).toFixed(2)}% in ${nr} found` : '';
};

const showTip = (box, event) => {
	const at = svg.getBoundingClientRect();
	const lines = box.lines.map(line => fit(line, width() - 2 * PAD));
	const wide = CHAR * Math.max(...lines.map(line => line.length)) + 16;
	const high = LINE * lines.length + 10;
	const x = event.clientX - at.left, y = event.clientY - at.top;
	const left = Math.max(2, Math.min(x + 14, width() - wide - 2));
	const below = event.clientY + high + 24 < window.innerHeight;
	const top = Math.max(2, below ? y + 18 : y - high - 8);

	tipText.replaceChildren();
	lines.forEach((line, i) => {
		make(tipText, 'tspan', { x: left + 8, y: top + LINE * (i + 1) + 1,
			'font-weight': i ? 'normal' : 'bold' }).textContent = line;
	});
	for (const [key, value] of Object.entries({ x: left, y: top, width: wide, height: high }))
		tipPaper.setAttribute(key, value);
	tip.setAttribute('visibility', 'visible');
	say(box);
};

const hideTip = () => {
	tip.setAttribute('visibility', 'hidden');
	say(here);
};

const boxOf = event => {
	const g = event.target.closest('.f');

	return g && boxes.find(box => box.g === g);
};

// To the nearest box of the same depth that is shown, or in or out of this one.
const beside = (box, step) => {
	for (let i = box.index + step; boxes[i]; i += step) {
		if (boxes[i].depth === box.depth && isShown(boxes[i]))
			return boxes[i];
	}
	return box;
};
const inner = box => box.children.find(isShown) || box;
const outer = box => box.parent || box;
const moves = {
	ArrowLeft: box => beside(box, -1),
	ArrowRight: box => beside(box, 1),
	ArrowUp: icicle ? outer : inner,
	ArrowDown: icicle ? inner : outer,
};

const escape = () => {
	if (input.value) {
		input.value = '';
		search('');
	} else {
		zoomTo(all);
	}
	input.blur();
};

const onKey = event => {
	const typing = document.activeElement === input;

	if (event.ctrlKey || event.altKey || event.metaKey)
		return;
	if (event.key === 'Escape')
		escape();
	else if (typing && event.key === 'Enter')
		input.blur();
	else if (typing || (event.key === 'Enter' && document.activeElement === reset))
		return;
	else if (event.key === '/')
		input.focus();
	else if (event.key === 'Enter' && here)
		zoomTo(here);
	else if (moves[event.key])
		stand(here ? moves[event.key](here) : zoom);
	else
		return;
	event.preventDefault();
};

svg.classList.add('live');
svg.setAttribute('width', '100%');
svg.addEventListener('click', event => {
	const box = boxOf(event);

	if (box) {
		stand(box);
		zoomTo(box);
	}
});
svg.addEventListener('mousemove', event => {
	const box = boxOf(event);

	if (box)
		showTip(box, event);
	else
		hideTip();
});
svg.addEventListener('mouseleave', hideTip);
input.addEventListener('input', () => search(input.value));
reset.addEventListener('click', () => zoomTo(all));
window.addEventListener('keydown', onKey);
window.addEventListener('resize', layout);
window.addEventListener('scroll', follow);
layout();
if (!icicle)
	window.scrollTo(0, svg.height.baseVal.value);
})();
