// Checks every kind of page with the rules of axe-core for WCAG 2.2 AA, wide and narrow, with a light and a dark colour scheme.
// Prints the rules that passed, one a line.

import assert from "node:assert/strict";
import { at, key, withPage } from "./session.mjs";

const options = {
  runOnly: { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] },
  // off by default
  rules: { "target-size": { enabled: true } },
};

// Width of 1280 pixels at a zoom of 400 %, at which nothing may need scrolling in two directions (1.4.10).
const NARROW = 320;

const passed = new Set();

// Returns the findings of axe-core as text.
const texts = (results) =>
  results.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html}: ${node.failureSummary}`));

async function check(page, what) {
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    for (const width of [1280, NARROW]) {
      await page.setViewportSize({ width, height: 800 });
      const result = await page.evaluate((options) => globalThis.axe.run(document, options), options);
      const place = `${what}, ${colorScheme}, ${width} pixels`;
      assert.deepEqual(texts(result.violations), [], place);
      // a contrast that cannot be computed is not a success, except for what a narrow table has scrolled out of sight
      if (width !== NARROW) assert.deepEqual(texts(result.incomplete), [], place);
      for (const { id } of result.passes) passed.add(id);
      const scrolled = await page.evaluate(() => document.scrollingElement.scrollWidth);
      assert.ok(scrolled <= width, `${place}: the document is ${scrolled} pixels wide`);
    }
  }
}

async function visit(page, target, title, status = 200) {
  const response = await page.goto(at(target));
  assert.equal(response.status(), status, target);
  assert.equal(await page.title(), `${title} – Solon control plane`, target);
  await check(page, target);
}

await withPage(async (page) => {
  await visit(page, "/ui/login", "Sign in");
  await page.fill("#key", "wrong");
  await page.click("button");
  assert.equal(await page.textContent("[role=alert]"), "The key is unknown or has expired.");
  await check(page, "a rejected key");
  await page.fill("#key", key);
  await page.click("button");
  await page.waitForURL(at("/ui"));
  await visit(page, "/ui", "Bundles");
  const bundles = await page.$$eval("th[scope=row] a", (links) => links.map((link) => [link.textContent, link.pathname]));
  assert.deepEqual(bundles.map(([name]) => name).slice(0, 2), ["app", "broken"]);
  for (const [name, target] of bundles) await visit(page, target, `Bundle ${name}`);
  await visit(page, "/ui/bundles/app?notice=build", "Bundle app");
  await visit(page, "/ui/sources", "Sources");
  await visit(page, "/ui/bundles/absent", "Not Found", 404);
  await visit(page, "/ui/logout", "Method Not Allowed", 405);
});
for (const id of passed) console.log(id);
