// Signs in, requests a build, activates a revision and signs out with the keys Tab and Enter alone. Each focused element must be visible
// with a focus ring, and the order is that of the page.

import assert from "node:assert/strict";
import { at, key, withPage } from "./session.mjs";

// Maximum number of elements in the order of a page.
const MOST = 60;

// Returns the focused element: its role and name, and what is wrong with its visibility. `null` if none is focused.
function focused() {
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  const roles = { A: "link", BUTTON: "button", INPUT: "field", MAIN: "main" };
  const role = element.getAttribute("role") ?? roles[element.tagName];
  const label = element.labels?.[0] ?? element;
  const name = element.getAttribute("aria-label") ?? label.textContent.trim();
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  // the first line of a link that is broken, and of it, or of a large region, the part within the window
  const { left, top, right, bottom } = element.getClientRects()[0];
  const [x, width] = [Math.max(left, 0), Math.min(right, innerWidth) - Math.max(left, 0)];
  const [y, height] = [Math.max(top, 0), Math.min(bottom, innerHeight) - Math.max(top, 0)];
  const wrong = [];
  if (outlineStyle === "none" || parseFloat(outlineWidth) < 2) wrong.push("no outline");
  if (width <= 0 || height <= 0) wrong.push(`out of sight: ${left}, ${top} to ${right}, ${bottom}`);
  else {
    const shown = document.elementFromPoint(x + width / 2, y + height / 2);
    if (!element.contains(shown)) wrong.push(`covered by ${shown?.tagName}`);
  }
  return { text: role === "main" ? role : `${role} ${name}`, wrong };
}

// Presses a key and returns the text of the focused element, which must become visible. Returns `null` at the end of the page.
async function press(page, key) {
  await page.keyboard.press(key);
  let element = await page.evaluate(focused);
  // the browser scrolls a little later
  for (let tries = 0; element?.wrong.length && tries < 100; tries++) {
    await page.waitForTimeout(50);
    element = await page.evaluate(focused);
  }
  if (element) assert.deepEqual(element.wrong, [], element.text);
  return element?.text ?? null;
}

// Returns the elements in the order of the key Tab.
async function order(page) {
  const found = [];
  for (let text = await press(page, "Tab"); text !== null; text = await press(page, "Tab")) {
    found.push(text);
    assert.ok(found.length < MOST, found.join(", "));
  }
  return found;
}

// Presses Tab until an element is focused whose text begins with `wanted`.
async function tabTo(page, wanted) {
  const found = [];
  while (found.length < MOST) {
    const text = await press(page, "Tab");
    if (text?.startsWith(wanted)) return text;
    found.push(text);
  }
  assert.fail(`${wanted} is not among ${found.join(", ")}`);
}

// Presses Tab until an element is focused, and Enter, which opens a page.
async function follow(page, wanted, target) {
  await tabTo(page, wanted);
  await Promise.all([page.waitForURL((url) => url.href === at(target)), page.keyboard.press("Enter")]);
  await page.waitForLoadState();
}

const header = ["link Skip to the content", "link Bundles", "link Sources", "button Sign out"];

await withPage(async (page) => {
  await page.goto(at("/ui"));
  assert.equal(page.url(), at("/ui/login"));
  assert.deepEqual(await order(page), ["link Skip to the content", "field API key", "button Sign in"]);
  await page.reload();
  await tabTo(page, "field API key");
  await page.keyboard.type(key);
  await Promise.all([page.waitForURL(at("/ui")), page.keyboard.press("Enter")]);

  const list = await order(page);
  assert.deepEqual(list.slice(0, 7), [...header, "region Bundles", "link app", "link broken"]);
  await page.reload();
  await follow(page, "link Sources", "/ui/sources");
  assert.deepEqual((await order(page)).slice(0, 6), [...header, "region Sources", "link app"]);
  await page.reload();
  await follow(page, "link app", "/ui/bundles/app");

  const bundle = await order(page);
  const activate = bundle.at(-1);
  assert.match(activate, /^button Activate revision [0-9a-f]{64} of 2/);
  assert.deepEqual(bundle, [...header, "button Request a build", "region Builds", "region Stored revisions", activate]);
  await page.reload();
  // the skip link leads past the header
  assert.equal(await press(page, "Tab"), header[0]);
  await page.keyboard.press("Enter");
  assert.equal((await page.evaluate(focused)).text, "main");
  assert.equal(await press(page, "Tab"), "button Request a build");
  assert.equal(await press(page, "Shift+Tab"), "button Sign out");
  await follow(page, "button Request a build", "/ui/bundles/app?notice=build");
  assert.match(await page.textContent("[role=status]"), /^A build was requested/);
  await follow(page, activate, "/ui/bundles/app?notice=rollback");
  assert.match(await page.textContent("[role=status]"), /^The active revision was changed/);

  // a table that is wider than the window is scrolled by the arrow keys
  await page.setViewportSize({ width: 320, height: 640 });
  await tabTo(page, "region Builds");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => document.activeElement.scrollLeft > 0);
  await page.setViewportSize({ width: 1280, height: 720 });

  await page.reload();
  await follow(page, "button Sign out", "/ui/login");
  await page.goto(at("/ui"));
  assert.equal(page.url(), at("/ui/login"));
});
