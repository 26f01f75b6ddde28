// A browser with the page of the control plane. The variables of the environment are set by `browser.rs`.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import path from "node:path";

const { PAGE_TOOLS, PAGE_CHROMIUM, PAGE_ADDRESS, PAGE_KEY } = process.env;
const installed = createRequire(path.join(PAGE_TOOLS, "package.json"));
const { chromium } = installed("playwright-core");

export const key = PAGE_KEY;

// Returns the address of a path of the page.
export const at = (target) => `${PAGE_ADDRESS}${target}`;

// Runs a function with a new tab, whose documents all have axe-core. Errors of the console, such as violations of the content security
// policy, fail the test, except for responses with a status of errors.
export async function withPage(run) {
  const browser = await chromium.launch({ executablePath: PAGE_CHROMIUM });
  try {
    const context = await browser.newContext();
    await context.addInitScript({ path: installed.resolve("axe-core/axe.min.js") });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const errors = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("console", (message) => {
      const isStatus = message.text().startsWith("Failed to load resource");
      if (message.type() === "error" && !isStatus) errors.push(message.text());
    });
    await run(page);
    assert.deepEqual(errors, []);
  } finally {
    await browser.close();
  }
}
