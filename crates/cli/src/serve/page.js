// Draws the runs of `isobath serve`. Texts come from services under test, so they are only ever set as text.
"use strict";

const at = (id) => document.getElementById(id);
const element = (name, text = "", properties = {}) =>
  Object.assign(document.createElement(name), { textContent: text }, properties);
const percent = (share) => (share && share[1] > 0 ? (100 * share[0]) / share[1] : null);
const rounded = (number, unit = "") => (number === null || number === undefined ? "–" : `${Math.round(number * 10) / 10}${unit}`);
const labelOf = ({ run }) => `${run.name} (${run.started.slice(0, 16).replace("T", " ") || "no date"})`;

let all = [];

// The runs of the chosen subject, the oldest first.
const chosen = () => all.filter(({ run }) => `${run.job}: ${run.subject}` === at("subject").value);

function row(cells, cell = "td") {
  const line = document.createElement("tr");
  for (const [content, kind] of cells) {
    const place = element(cell, content instanceof Node ? "" : String(content), { className: kind || "" });
    if (content instanceof Node) place.append(content);
    line.append(place);
  }
  return line;
}

function chart(title, runs, lines) {
  const figure = document.createElement("figure");
  figure.append(element("figcaption", title));
  const known = lines.filter(({ values }) => values.some((value) => value !== null));
  if (known.length === 0) {
    figure.append(element("p", "not measured in these runs", { className: "faint" }));
    return figure;
  }
  const space = "http://www.w3.org/2000/svg";
  const [width, height, left, top, bottom] = [300, 130, 34, 8, 18];
  const make = (name, attributes, text = "") => {
    const node = document.createElementNS(space, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.textContent = text;
    return node;
  };
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title });
  const most = Math.max(...known.flatMap(({ values }) => values.map((value) => value ?? 0)), 1);
  const x = (index) => left + ((width - left - 8) * (runs.length === 1 ? 0.5 : index / (runs.length - 1)));
  const y = (value) => height - bottom - ((height - top - bottom) * value) / most;
  for (const value of [0, most / 2, most]) {
    svg.append(make("line", { x1: left, x2: width - 8, y1: y(value), y2: y(value), stroke: "currentColor", opacity: 0.15 }));
    svg.append(make("text", { x: left - 4, y: y(value) + 4, "text-anchor": "end" }, rounded(value)));
  }
  known.forEach(({ name, values }, index) => {
    const color = `var(--${["one", "two", "three"][index]})`;
    const points = values.map((value, run) => (value === null ? null : [x(run), y(value)])).filter((point) => point);
    svg.append(make("polyline", { points: points.map((point) => point.join(",")).join(" "), fill: "none", stroke: color, "stroke-width": 2 }));
    values.forEach((value, run) => {
      if (value === null) return;
      const dot = make("circle", { cx: x(run), cy: y(value), r: 3, fill: color });
      dot.append(make("title", {}, `${labelOf(runs[run])}: ${rounded(value)}`));
      svg.append(dot);
    });
    const legend = make("text", { x: left + index * 80, y: height - 3 }, name);
    legend.style.fill = color;
    svg.append(legend);
  });
  figure.append(svg);
  return figure;
}

function drawTrends(runs) {
  const values = (read) => runs.map(({ run }) => read(run) ?? null);
  at("charts").replaceChildren(
    chart("Coverage, %", runs, [
      { name: "targets", values: values((run) => percent(run.covered)) },
      { name: "lines", values: values((run) => percent(run.lines)) },
      { name: "branches", values: values((run) => percent(run.branches)) },
    ]),
    chart("Findings", runs, [{ name: "findings", values: values((run) => run.findings) }]),
    chart("Duration, s", runs, [{ name: "seconds", values: values((run) => run.seconds) }]),
  );
}

function drawRuns(runs) {
  const table = at("runs");
  const names = ["Run", "Started", "Targets", "Lines", "Branches", "Findings", "Tests", "Calls", "Seconds"];
  table.replaceChildren(row(names.map((name, index) => [name, index > 1 ? "number" : ""]), "th"));
  for (const { run } of [...runs].reverse()) {
    const link = element("a", run.name, { href: `/report?run=${encodeURIComponent(run.name)}` });
    table.append(row([
      [link, "text"],
      [run.started.slice(0, 16).replace("T", " ")],
      [rounded(percent(run.covered), " %"), "number"],
      [rounded(percent(run.lines), " %"), "number"],
      [rounded(percent(run.branches), " %"), "number"],
      [run.findings, "number"],
      [run.tests, "number"],
      [run.calls ?? "–", "number"],
      [rounded(run.seconds), "number"],
    ]));
  }
}

// Which findings appeared and which are gone, by their fingerprints.
function drawDifference(runs) {
  const [from, to] = [runs[at("from").value], runs[at("to").value]];
  const place = at("difference");
  if (!from || !to) return place.replaceChildren(element("p", "There is only one run.", { className: "faint" }));
  const missing = (some, others) => some.findings.filter(({ id }) => !others.findings.some((other) => other.id === id));
  const [added, gone] = [missing(to, from), missing(from, to)];
  const both = to.findings.length - added.length;
  const change = (read) => {
    const [before, after] = [percent(read(from.run)), percent(read(to.run))];
    return before === null || after === null ? "not measured" : `${rounded(before)} % → ${rounded(after)} %`;
  };
  const table = document.createElement("table");
  table.id = "changes";
  for (const [sign, kind, findings] of [["+ new", "added", added], ["− gone", "removed", gone]]) {
    for (const finding of findings) table.append(row([[sign, kind], [finding.code], [finding.subject, "text"], [finding.message, "text"]]));
  }
  const summary = `${added.length} new, ${gone.length} gone, ${both} in both. Targets: ${change((run) => run.covered)}. ` +
    `Lines: ${change((run) => run.lines)}. Branches: ${change((run) => run.branches)}.`;
  place.replaceChildren(element("p", summary, { id: "changed" }), table);
}

function drawFindings(runs) {
  const found = new Map();
  runs.forEach((entry) => {
    for (const finding of entry.findings) {
      const known = found.get(finding.id) || { finding, first: entry, count: 0 };
      found.set(finding.id, { ...known, finding, last: entry, count: known.count + 1 });
    }
  });
  const words = at("search").value.toLowerCase().split(/\s+/).filter((word) => word);
  const matches = ({ finding }) => {
    const text = `${finding.id} ${finding.code} ${finding.subject} ${finding.message} ${finding.severity}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const list = [...found.values()].filter(matches);
  const table = at("findings");
  table.replaceChildren(row([["Code"], ["Where"], ["Finding"], ["Seen in runs", "number"], ["Last seen"]], "th"));
  for (const { finding, last, count } of list) {
    let text = document.createElement("div");
    text.append(finding.message);
    if (finding.known) text.append(element("div", `in the baseline: ${finding.known}`, { className: "faint" }));
    if (finding.reproduce) {
      const details = document.createElement("details");
      details.append(element("summary", "reproduce"), element("pre", finding.reproduce));
      text.append(details);
    }
    table.append(row([[finding.code], [finding.subject, "text"], [text, "text"], [`${count} of ${runs.length}`, "number"], [last.run.name, "text"]]));
  }
  at("shown").textContent = `${list.length} of ${found.size} findings`;
}

// The names of the runs to compare may stand in the address, so that a comparison can be linked.
const asked = new URLSearchParams(location.search);

function draw() {
  const runs = chosen();
  at("count").textContent = runs.length === 1 ? "1 run" : `${runs.length} runs`;
  for (const [id, latest] of [["from", runs.length - 2], ["to", runs.length - 1]]) {
    const named = runs.findIndex(({ run }) => run.name === asked.get(id));
    const selected = named < 0 ? latest : named;
    at(id).replaceChildren(...runs.map((entry, index) =>
      element("option", labelOf(entry), { value: String(index), selected: index === Math.max(selected, 0) })));
  }
  drawTrends(runs);
  drawRuns(runs);
  drawDifference(runs.length > 1 ? runs : []);
  drawFindings(runs);
}

async function start() {
  all = await (await fetch("/runs.json")).json();
  const subjects = [...new Set(all.map(({ run }) => `${run.job}: ${run.subject}`))];
  at("subject").replaceChildren(...subjects.map((name) => element("option", name, { value: name })));
  // The subject of the run that is asked for, or of the newest one.
  const first = all.find(({ run }) => run.name === asked.get("to")) ?? all[all.length - 1];
  if (first) at("subject").value = `${first.run.job}: ${first.run.subject}`;
  if (asked.has("subject")) at("subject").value = asked.get("subject");
  at("search").value = asked.get("search") ?? "";
  at("subject").addEventListener("change", draw);
  for (const id of ["from", "to"]) at(id).addEventListener("change", () => drawDifference(chosen()));
  at("search").addEventListener("input", () => drawFindings(chosen()));
  draw();
  document.body.dataset.ready = "yes";
}

start();
