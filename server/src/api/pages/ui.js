// The page at /ui. It uses the server's public API, and inserts responses only as text, never as markup.

/** Maximum number of rows of a tree level that are requested and initially shown. */
const ROWS = 500;

const byId = (id) => document.getElementById(id);

/** Creates an element with a class and children. Strings become text nodes. */
function element(name, kind, ...children) {
  const made = document.createElement(name);
  if (kind) made.className = kind;
  made.append(...children);
  return made;
}

/** Sends a request to the server. An error response is thrown with its message. */
async function ask(method, target, body) {
  const headers = {};
  const token = byId("token").value;
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const response = await fetch(target, { method, headers, body });
  const text = await response.text();
  if (response.ok) return text;
  throw new Error(refusal(response, text));
}

function refusal(response, text) {
  try {
    const { code, message, errors = [] } = JSON.parse(text);
    const places = errors.map(({ code, message, location }) => {
      const place = location ? `${location.file || "query"}:${location.row}: ` : "";
      return `\n${place}${code}: ${message}`;
    });
    return `${code}: ${message}${places.join("")}`;
  } catch {
    return `${response.status} ${response.statusText}`;
  }
}

function notice(text, failed = false) {
  byId("notice").textContent = text;
  byId("notice").className = failed ? "failed" : "";
}

// --- policies

async function loadPolicies() {
  const list = byId("policies");
  list.replaceChildren();
  const { result } = JSON.parse(await ask("GET", "/v1/policies"));
  // grouped by folders, because policy ids contain slashes
  const root = new Map();
  for (const policy of result) {
    const steps = policy.id.split("/");
    const name = steps.pop();
    let folder = root;
    for (const step of steps) {
      const key = `${step}/`;
      if (!folder.has(key)) folder.set(key, new Map());
      folder = folder.get(key);
    }
    folder.set(name, policy);
  }
  list.append(...policyRows(root));
  if (!result.length) list.append(element("li", "leaf", "none"));
}

function* policyRows(folder) {
  for (const [name, entry] of folder) {
    if (entry instanceof Map) {
      const below = element("ul", "", ...policyRows(entry));
      yield element("li", "", element("details", "", element("summary", "", name), below));
      continue;
    }
    const summary = element("summary", "");
    summary.append(button(name, () => showPolicy(entry)));
    const rules = element("ul", "", ...ruleRows(entry));
    yield element("li", "", element("details", "", summary, rules));
  }
}

function ruleRows({ ast }) {
  const steps = ast.package.path.map(({ value }) => value);
  const base = steps[0] === "data" ? steps.slice(1) : steps;
  // only the constant prefix of a head is a path that can be evaluated
  const heads = (ast.rules ?? []).map(({ head }) => {
    const path = [];
    for (const { type, value } of head.ref ?? [{ type: "var", value: head.name }]) {
      if (path.length && type !== "string") break;
      path.push(value);
    }
    return path;
  });
  const paths = new Map(heads.map((path) => [path.join("."), path]));
  return [...paths].map(([name, path]) =>
    element("li", "leaf", button(name, () => choose([...base, ...path]))));
}

function showPolicy({ id, raw }) {
  byId("text").hidden = false;
  byId("text-title").textContent = id;
  byId("module").textContent = raw;
}

function button(text, onClick) {
  const made = element("button", "", text);
  made.type = "button";
  made.addEventListener("click", (event) => {
    event.preventDefault();
    onClick();
  });
  return made;
}

/** Puts a document into the form. */
function choose(path) {
  byId("kind").value = "document";
  byId("subject").value = path.map((step) => String(step).replaceAll("/", "%2F")).join("/");
  byId("subject").focus();
}

// --- documents

/** Returns a level of the documents: keys, kinds, and the texts of scalar values. */
async function level(path) {
  const reference = `data${path.map((step) => `[${JSON.stringify(step)}]`).join("")}`;
  const query = `kinds := {"array", "object", "set"}; `
    + `rows := array.slice(sort([[k, type_name(v), [json.marshal(v) | not kinds[type_name(v)]]] | v := ${reference}[k]]), 0, ${ROWS + 1})`;
  const { result = [] } = JSON.parse(await ask("POST", "/v1/query", JSON.stringify({ query })));
  return result[0]?.rows ?? [];
}

function documentRow(path, name, kind, text) {
  const shown = button(typeof name === "string" ? name : JSON.stringify(name), () => choose(path));
  if (!["array", "object", "set"].includes(kind)) {
    return element("li", "leaf", shown, element("span", "value", text));
  }
  const below = element("ul", "");
  const details = element("details", "", element("summary", "", shown, element("span", "value", kind)), below);
  details.addEventListener("toggle", async () => {
    if (!details.open || below.childElementCount) return;
    try {
      below.append(...await documentRows(path));
    } catch (error) {
      below.append(element("li", "failed", error.message));
    }
  });
  return element("li", "", details);
}

async function documentRows(path) {
  const rows = await level(path);
  const made = rows.slice(0, ROWS).map(([key, kind, [text]]) => documentRow([...path, key], key, kind, text));
  if (rows.length > ROWS) made.push(element("li", "leaf", "… and more"));
  if (!rows.length) made.push(element("li", "leaf", "none"));
  return made;
}

async function loadDocuments() {
  const list = byId("documents");
  list.replaceChildren();
  list.append(...await documentRows([]));
}

// --- decisions

async function decide() {
  const kind = byId("kind").value;
  const subject = byId("subject").value.trim();
  const explain = byId("explain").value;
  const input = byId("input").value.trim();
  remember({ [kind]: subject, input, explain });
  const params = new URLSearchParams({ pretty: "true", metrics: "true" });
  if (explain) params.set("explain", explain);
  for (const id of ["answer", "explanation"]) byId(id).hidden = true;
  if (input) JSON.parse(input);
  // the text of the input is sent unchanged, so that numbers keep their digits
  const given = input ? `"input": ${input}` : "";
  const started = performance.now();
  let text;
  if (kind === "document") {
    const steps = subject.split("/").filter(Boolean).map(decodeStep);
    text = await ask("POST", `/v1/data/${steps.map(encodeURIComponent).join("/")}?${params}`.replace("/?", "?"), `{${given}}`);
  } else {
    const query = `"query": ${JSON.stringify(subject)}`;
    text = await ask("POST", `/v1/query?${params}`, `{${[query, given].filter(Boolean).join(", ")}}`);
  }
  show(text, performance.now() - started);
}

/** Decodes a typed path segment, in which slashes are escaped. */
const decodeStep = (step) => step.replaceAll(/%2f/gi, "/");

function show(text, took) {
  const { result, explanation, metrics = {} } = JSON.parse(text);
  byId("answer").hidden = false;
  byId("decision").textContent = result === undefined ? "undefined" : own(text, result);
  const handler = metrics.timer_server_handler_ns;
  const within = handler === undefined ? "" : `${milliseconds(handler / 1e6)} in the server, `;
  byId("timing").textContent = `${within}${milliseconds(took)} in all`;
  const rows = Object.entries(metrics).map(([name, value]) => {
    const shown = name.startsWith("timer_") ? `${(value / 1e3).toFixed(1)} µs` : JSON.stringify(value);
    return element("tr", "", element("td", "", name), element("td", "", shown));
  });
  byId("times").hidden = !rows.length;
  byId("times").querySelector("tbody").replaceChildren(...rows);
  byId("explanation").hidden = !explanation;
  byId("search").replaceChildren(...(explanation ? searchRows(tree(explanation)) : []));
}

const milliseconds = (time) => `${time.toFixed(time < 10 ? 2 : 0)} ms`;

/** Returns the result in the server's text, since numbers may have more digits than JavaScript keeps. */
function own(text, result) {
  const start = text.indexOf('\n  "result": ');
  const end = start < 0 ? -1 : endOf(text, start + 13);
  if (end < 0) return JSON.stringify(result, null, 2);
  // the result is shown as text, so characters that the server escapes for HTML are decoded
  const plain = (all, code) => (/^u00(3c|3e|26)$/.test(code) ? JSON.parse(`"${all}"`) : all);
  return text.slice(start + 13, end).replaceAll("\n  ", "\n").replaceAll(/\\(u[0-9a-f]{4}|.)/g, plain);
}

/** Returns the end of the member that begins at `start`: before the next one of the same depth, or the object's end. */
function endOf(text, start) {
  const next = /,?\n(?: {2}"|\})/g;
  next.lastIndex = start;
  return next.exec(text)?.index ?? -1;
}

// --- explanations

/** Converts the lines of a trace to a tree. Lines with more indentation are children of the line before. */
function tree(lines) {
  const root = { depth: -1, below: [] };
  const open = [root];
  for (const line of lines) {
    const [, place = "", bars, op, words] = /^(\S+:\d+)?\s*((?:\| )*)(\w+) ?(.*)$/s.exec(line) ?? [line, "", "", "", line];
    const row = { depth: bars.length / 2, place, op, words, below: [] };
    while (open.at(-1).depth >= row.depth) open.pop();
    open.at(-1).below.push(row);
    open.push(row);
  }
  return root.below;
}

function searchRows(rows) {
  const made = rows.slice(0, ROWS).map(searchRow);
  const rest = rows.slice(ROWS);
  if (rest.length) {
    const item = element("li", "leaf");
    item.append(button(`… ${rest.length} more`, () => item.replaceWith(...searchRows(rest))));
    made.push(item);
  }
  return made;
}

function searchRow({ place, op, words, below }) {
  const line = [element("span", "op", op), words, element("span", "place", place)];
  if (!below.length) return element("li", `leaf ${op}`, ...line);
  if (op === "Enter") {
    const found = below.some((row) => row.op === "Exit");
    line.push(element("span", `place ${found ? "found" : "failed"}`, found ? "holds" : "does not hold"));
  }
  const list = element("ul", "");
  const details = element("details", op, element("summary", "", ...line), list);
  // collapsed rows are created when they are expanded
  details.addEventListener("toggle", () => {
    if (details.open && !list.childElementCount) list.append(...searchRows(below));
  });
  return element("li", op, details);
}

/** Expands collapsed rows until all are expanded, or there are many. */
function unfold() {
  for (let turn = 0; turn < 64; turn += 1) {
    const closed = [...byId("search").querySelectorAll("details:not([open])")].slice(0, ROWS);
    if (!closed.length || byId("search").querySelectorAll("li").length > 20 * ROWS) return;
    for (const details of closed) {
      details.open = true;
      details.dispatchEvent(new Event("toggle"));
    }
  }
}

// --- the URL contains the evaluated document, so that it can be shared, but never a token

function remember(asked) {
  const kept = Object.entries(asked).filter(([, value]) => value);
  history.replaceState(null, "", `#${new URLSearchParams(kept)}`);
}

function recall() {
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const kind of ["document", "query"]) {
    if (asked.has(kind)) {
      byId("kind").value = kind;
      byId("subject").value = asked.get(kind);
    }
  }
  byId("input").value = asked.get("input") ?? "";
  byId("explain").value = asked.get("explain") ?? "";
}

async function guarded(button, work) {
  button.disabled = true;
  notice("…");
  try {
    await work();
    notice("");
  } catch (error) {
    notice(error.message, true);
  } finally {
    button.disabled = false;
  }
}

function load() {
  return guarded(byId("access").querySelector("button"), async () => {
    await loadPolicies();
    await loadDocuments();
  });
}

byId("access").addEventListener("submit", (event) => {
  event.preventDefault();
  load();
});
byId("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  guarded(byId("go"), decide);
});
byId("unfold").addEventListener("click", unfold);
recall();
load();
