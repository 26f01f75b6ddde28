// npm `@open-policy-agent/opa`: decisions, batches and filters.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const binary = resolve(process.env.SOLON ?? "target/debug/solon");
// packages are looked for from where this is run, and in NODE_PATH
const find = createRequire(join(process.cwd(), "x.js"));

async function load(name) {
  try {
    return await import(find.resolve(name));
  } catch (error) {
    if (!["MODULE_NOT_FOUND", "ERR_MODULE_NOT_FOUND"].includes(error.code)) throw error;
    console.log(`skipped: sdk.mjs needs the npm package ${name} (and zod)`);
    process.exit(77);
  }
}

const { OPAClient } = await load("@open-policy-agent/opa");

const POLICY = `package authz

allow if input.subject == "alice"

failing := 1 / input.by

clash := 1 if input.a
clash := 2 if input.b
`;
const FILTERS = `# METADATA
# scope: package
# compile:
#   unknowns: [input.fruits]
package filters

include if input.fruits.name == input.favorite

include if input.fruits.owner == input.user
`;
const MAIN = "package system\n\nmain := {\"subject\": input.subject}\n";

async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  probe.close();
  await once(probe, "close");
  return port;
}

const folder = mkdtempSync(join(tmpdir(), "solon-sdk-"));
const files = { "authz.rego": POLICY, "filters.rego": FILTERS, "main.rego": MAIN };
for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
const port = await freePort();
const url = `http://127.0.0.1:${port}`;
const flags = ["--addr", `127.0.0.1:${port}`, "--log-level", "error", "--compat", "opa"];
const server = spawn(binary, ["run", "--server", ...flags, ...Object.keys(files)], { cwd: folder, stdio: "inherit" });
try {
  for (let turn = 0; turn < 200; turn += 1) {
    try {
      await fetch(`${url}/health`);
      break;
    } catch {
      await new Promise((done) => setTimeout(done, 50));
    }
  }
  const opa = new OPAClient(url, { headers: { authorization: "Bearer abc" } });
  assert.equal(await opa.evaluate("authz/allow", { subject: "alice" }), true);
  assert.equal(await opa.evaluate("authz/allow", { subject: "bob" }), undefined);
  assert.equal(await opa.evaluate("authz/allow"), undefined);
  assert.deepEqual(await opa.evaluateDefault({ subject: "alice" }), { subject: "alice" });
  const both = { a: { subject: "alice" }, b: { subject: "bob" } };
  assert.deepEqual(await opa.evaluateBatch("authz/allow", both), { a: true, b: undefined });
  // some inputs fail: each is told
  const mixed = await opa.evaluateBatch("authz/clash", { fine: { a: 1 }, fails: { a: 1, b: 1 } });
  assert.equal(mixed.fine, 1);
  assert.equal(mixed.fails.code, "internal_error");
  assert.match(mixed.fails.message, /^eval_conflict_error: /);
  await assert.rejects(opa.evaluateBatch("authz/clash", { fails: { a: 1, b: 1 } }, { rejectMixed: true }));
  await assert.rejects(opa.evaluate("authz/clash", { a: 1, b: 1 }), /error\(s\) occurred while evaluating query/);
  for (const target of ["postgresql", "sqlite", "mysql", "sqlserver"]) {
    const tableMappings = { fruits: { $self: "f" } };
    const { query } = await opa.getFilters("filters/include", { favorite: "apple", user: "x" }, { target, tableMappings });
    assert.match(query, /^WHERE .*apple.* OR /, target);
  }
  for (const target of ["ucastAll", "ucastMinimal", "ucastLinq"].map((name) => name)) {
    const found = await opa.getFilters("filters/include", { favorite: "apple", user: "x" }, { target }).catch((error) => error);
    if (found instanceof Error) {
      const other = target.replace("All", "ALL");
      const again = await opa.getFilters("filters/include", { favorite: "apple", user: "x" }, { target: other });
      assert.equal(again.query.type, "compound", target);
    } else {
      assert.equal(found.query.type, "compound", target);
    }
  }
  const targets = ["sqlite", "ucastAll"];
  const several = await opa.getMultipleFilters("filters/include", { favorite: "apple", user: "x" }, { targets })
    .catch(() => opa.getMultipleFilters("filters/include", { favorite: "apple", user: "x" }, { targets: ["sqlite", "ucastALL"] }));
  assert.deepEqual(Object.keys(several).sort(), ["sqlite", "ucast"]);
  console.log("passed: @open-policy-agent/opa");
} finally {
  server.kill();
  rmSync(folder, { recursive: true });
}
