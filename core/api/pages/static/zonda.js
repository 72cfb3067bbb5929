// The only script of the pages: states by events, parts that are fetched again, dialogs, the
// graph's pan and zoom, dark and light. Everything else works by links and forms, without it.

const PATIENCE = 2000; // ms between two fetches of the same part
const page = document.body.dataset;

// -- dark and light -------------------------------------------------------------------------------

const theme = document.getElementById("theme");
const storage = (() => { try { return window.localStorage; } catch { return null; } })();

const showTheme = (name) => { document.documentElement.dataset.theme = name; };

showTheme(storage?.getItem("zonda-theme") ?? "");
theme.hidden = false;
theme.addEventListener("click", () => {
  const isDark = document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  showTheme(isDark ? "light" : "dark");
  storage?.setItem("zonda-theme", isDark ? "light" : "dark");
});

// -- states ---------------------------------------------------------------------------------------

function getLook(state) {
  if (!state) return "none";
  if (state.startsWith("INIT")) return "init";
  if (state.endsWith("_FAILED")) return "failed";
  return state.endsWith("_IN_PROGRESS") ? "progress" : "complete";
}

// The elements of an event: those of its stack's page, and those of the page of its root.
function findElements(event) {
  const quote = (text) => `"${CSS.escape(text)}"`;
  const [name, path] = [event.resource_name ?? "", event.path ?? ""];
  const own = `[data-stack=${quote(event.stack_id)}]`;
  if (!name) return [...document.querySelectorAll(`${own}:is(:not([data-resource]), [data-resource=""])`)];
  const found = document.querySelectorAll(`${own}[data-resource=${quote(name)}], `
    + `[data-stack=${quote(event.root_id ?? "")}][data-resource=${quote(path)}]`);
  // Another instance of the same name (a replacement) has elements of its own.
  return [...found].filter(({ dataset }) => !dataset.id || dataset.id === event.resource_id);
}

function showState(element, state) {
  const word = element.matches("[data-state]") ? element : element.querySelector("[data-state]");
  if (!word || word.dataset.state === state) return;
  word.dataset.state = word.textContent = state;
  if (element.matches(".graph .node")) {
    element.setAttribute("class", `node ${getLook(state)}`);
    const name = element.querySelector("title");
    name.textContent = `${name.textContent.split(": ")[0]}: ${state}`;
  } else {
    element.classList.remove("fresh");
    requestAnimationFrame(() => element.classList.add("fresh"));
  }
}

// -- events ---------------------------------------------------------------------------------------

let source = null;
let newest = page.after ?? "0";
const missing = new Set();
let wait = 1000;

function showLink(isLive) {
  const live = document.getElementById("live");
  live.hidden = false;
  live.dataset.link = isLive ? "live" : "lost";
  const text = isLive ? "live" : "not live, connecting";
  if (live.textContent !== text) live.textContent = text;
}

function connect() {
  const url = new URL(page.events, location.href);
  url.searchParams.set("after", newest);
  source?.close();
  source = new EventSource(url);
  source.addEventListener("open", () => { wait = 1000; showLink(true); });
  source.addEventListener("error", reconnect);
  for (const kind of ["state", "gap"]) source.addEventListener(kind, receive);
}

function reconnect() {
  showLink(false);
  if (source.readyState !== EventSource.CLOSED) return; // the browser does it, with Last-Event-ID
  source = null;
  refresh(true); // tells as well whether the session has ended
  setTimeout(() => { if (!source && !document.hidden) connect(); }, wait);
  wait = Math.min(2 * wait, 30000);
}

function receive(message) {
  if (message.lastEventId) newest = message.lastEventId;
  if (message.type === "gap") return refresh(true);
  const event = JSON.parse(message.data);
  const shown = findElements(event);
  shown.forEach((element) => showState(element, event.state));
  if (!event.resource_name && shown.length) {
    document.getElementById("news").textContent = `${event.stack_name}: ${event.state}`;
  }
  // A large stack does not show all it has: what is not shown counts once.
  const isNew = !shown.length && !missing.has(event.resource_id);
  missing.add(event.resource_id);
  refresh(isNew || event.state === "DELETE_COMPLETE");
}

if (page.events) {
  connect();
  // A browser has few connections to one server; a page that nobody sees needs none.
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) return void (source || connect());
    source?.close();
    source = null;
  });
}

// -- parts that are fetched again -----------------------------------------------------------------

let timer = 0;
let last = 0;
let hasNewRows = false;

function refresh(rows) {
  hasNewRows ||= rows;
  timer ||= setTimeout(async () => {
    const names = listParts(hasNewRows);
    hasNewRows = false;
    // Where this fails, the next event asks again.
    const found = names.length && await fetchDocument(location.href, names.join()).catch(() => null);
    last = performance.now();
    timer = 0;
    if (found) names.forEach((name) => replacePart(name, found));
    awaitEnds();
  }, Math.max(50, last + PATIENCE - performance.now()));
}

// What runs without events (a check of drift) is looked at again and again until it ends.
const awaitEnds = () => document.querySelector("[data-poll]") && refresh(false);

// The graph changes its colours by itself: it is only drawn again when it has other nodes.
function listParts(rows) {
  return [...document.querySelectorAll("[data-fragment]")]
    .filter((part) => rows || !part.querySelector(".graph svg"))
    .map((part) => part.dataset.fragment);
}

async function fetchDocument(href, names) {
  const url = new URL(href, location.href);
  url.searchParams.set("fragment", names);
  const answer = await fetch(url, { headers: { "HX-Request": "true" } });
  if (answer.redirected) openPage(href); // to the sign-in: the session has ended
  if (!answer.ok || answer.redirected) throw new Error(`${answer.status}`);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

function openPage(href) {
  const url = new URL(href, location.href);
  url.hash = ""; // or the browser would only scroll
  location.assign(url);
}

function replacePart(name, found) {
  const [part, fresh] = [document, found].map((each) => each.querySelector(`[data-fragment="${name}"]`));
  const focus = document.activeElement;
  if (!part || !fresh || (part.contains(focus) && focus.matches("input, textarea, select"))) return;
  const key = part.contains(focus) && (focus.id || focus.getAttribute("href"));
  const open = [...part.querySelectorAll("details")].map((each) => each.open);
  const view = views.get(part.querySelector(".graph svg"));
  part.replaceChildren(...fresh.childNodes);
  part.querySelectorAll("details").forEach((each, at) => { each.open = open[at] ?? each.open; });
  if (key) part.querySelector(`[id="${CSS.escape(key)}"], [href="${CSS.escape(key)}"]`)?.focus();
  part.querySelectorAll(".graph").forEach((graph) => makeMovable(graph, view));
}

// -- dialogs: pages of their own without scripts --------------------------------------------------

document.addEventListener("click", async (click) => {
  const link = click.target.closest("a[data-dialog]");
  if (!link || click.ctrlKey || click.metaKey || click.shiftKey || click.button) return;
  click.preventDefault();
  try {
    const found = await fetchDocument(link.href, "dialog");
    openDialog(found.querySelector('[data-fragment="dialog"], main') ?? found.body, link);
  } catch {
    openPage(link.href);
  }
});

function openDialog(content, link) {
  const dialog = document.createElement("dialog");
  dialog.append(...content.childNodes);
  dialog.setAttribute("aria-label", dialog.querySelector("h1, h2")?.textContent ?? link.textContent);
  for (const close of dialog.querySelectorAll("[data-close]")) {
    close.addEventListener("click", (click) => { click.preventDefault(); dialog.close(); });
  }
  dialog.addEventListener("close", () => { dialog.remove(); link.focus(); });
  dialog.addEventListener("click", (click) => { if (click.target === dialog) dialog.close(); });
  document.body.append(dialog);
  dialog.showModal();
}

// -- the graph: pan and zoom by its viewBox -------------------------------------------------------

const views = new Map();
const SMALLEST = 0.62; // of its size: below that nobody reads it
const ZOOMS = { "+": 0.8, "=": 0.8, "-": 1.25 };
const MOVES = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] };

function makeMovable(graph, view) {
  const svg = graph.querySelector("svg");
  if (!svg) return;
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const state = { svg, width, height, box: null };
  graph.classList.add("movable");
  svg.setAttribute("tabindex", "0");
  svg.setAttribute("preserveAspectRatio", "xMidYMin meet");
  views.set(svg, state);
  fit(state, SMALLEST);
  if (view?.isMoved) setBox(state, view.box);
  views.delete(view?.svg);
  graph.append(makeTools(state));
  listen(state);
}

function setBox(state, box) {
  state.box = box;
  state.svg.setAttribute("viewBox", box.map((each) => each.toFixed(1)).join(" "));
}

// All of it, but never smaller than `least` of its size.
function fit(state, least) {
  const wide = state.svg.clientWidth || 1;
  const scale = Math.max(Math.min(1, wide / state.width), least);
  state.svg.style.height = `${Math.min(state.height * scale, 0.7 * innerHeight)}px`;
  const high = state.svg.clientHeight || 1;
  const used = Math.max(Math.min(1, wide / state.width, high / state.height), least);
  setBox(state, [(state.width - wide / used) / 2, 0, wide / used, high / used]);
  state.isMoved = false;
}

function move(state, x, y) {
  const [left, top, width, height] = state.box;
  setBox(state, [left + x * width, top + y * height, width, height]);
  state.isMoved = true;
}

function zoom(state, factor, x = 0.5, y = 0.5) {
  const [left, top, width, height] = state.box;
  const by = Math.min(Math.max(width * factor, 80), 4 * state.width + 800) / width;
  setBox(state, [left + x * width * (1 - by), top + y * height * (1 - by), width * by, height * by]);
  state.isMoved = true;
}

function makeTools(state) {
  const tools = document.createElement("div");
  tools.className = "tools";
  for (const [sign, name, act] of [["+", "Zoom in", () => zoom(state, 0.8)],
    ["−", "Zoom out", () => zoom(state, 1.25)], ["⤢", "Show the whole graph", () => fit(state, 0)]]) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: sign, title: name, ariaLabel: name });
    button.addEventListener("click", act);
    tools.append(button);
  }
  return tools;
}

function listen(state) {
  const { svg } = state;
  let from = null;
  svg.addEventListener("wheel", (wheel) => {
    // Without a click into the graph before, the wheel scrolls the page as everywhere.
    if (!wheel.ctrlKey && !svg.matches(":focus-within")) return;
    wheel.preventDefault();
    const box = svg.getBoundingClientRect();
    const x = (wheel.clientX - box.left) / box.width;
    zoom(state, wheel.deltaY > 0 ? 1.15 : 0.87, x, (wheel.clientY - box.top) / box.height);
  }, { passive: false });
  svg.addEventListener("keydown", (key) => {
    if (MOVES[key.key]) move(state, ...MOVES[key.key]);
    else if (ZOOMS[key.key]) zoom(state, ZOOMS[key.key]);
    else if (key.key === "0") fit(state, 0);
    else return;
    key.preventDefault();
  });
  svg.addEventListener("pointerdown", (down) => { from = [down.clientX, down.clientY, false]; });
  svg.addEventListener("pointermove", (to) => {
    if (!from || !to.buttons) return;
    const [x, y] = [from[0] - to.clientX, from[1] - to.clientY];
    if (!from[2] && Math.abs(x) + Math.abs(y) < 4) return; // a click on a node
    if (!from[2]) svg.setPointerCapture(to.pointerId);
    move(state, x / svg.clientWidth, y / svg.clientHeight);
    from = [to.clientX, to.clientY, true];
  });
  svg.addEventListener("dragstart", (drag) => drag.preventDefault());
  svg.addEventListener("click", (click) => { if (from?.[2]) click.preventDefault(); from = null; });
}

document.querySelectorAll(".graph").forEach((graph) => makeMovable(graph));
awaitEnds();
