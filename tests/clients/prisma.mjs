// npm `@open-policy-agent/opa` and `@open-policy-agent/ucast-prisma`: what Prisma finds in SQLite are the rows that the policy
// is true of, with the columns that it masks.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

const binary = resolve(process.env.SOLON ?? "target/debug/solon");
// packages are looked for from where this is run, and in NODE_PATH
const find = createRequire(join(process.cwd(), "x.js"));

function load(name) {
  try {
    return find(name);
  } catch (error) {
    if (error.code !== "MODULE_NOT_FOUND") throw error;
    console.log(`skipped: prisma.mjs needs the npm package ${name}`);
    process.exit(77);
  }
}

const { OPAClient } = load("@open-policy-agent/opa");
const { ucastToPrisma } = load("@open-policy-agent/ucast-prisma");
const { PrismaLibSql } = load("@prisma/adapter-libsql");
const { createClient } = load("@libsql/client");
load("@prisma/client/package.json");
load("prisma/package.json");
const prismaPackage = dirname(find.resolve("prisma/package.json"));

// Prisma's texts within texts fold the case of ASCII letters in SQLite, so no row differs by that alone.
const POLICY = `# METADATA
# scope: package
# compile:
#   unknowns: [input.fruits, input.baskets]
#   mask_rule: masks
package filters

masks.fruits.owner.replace.value := "***" if not input.admin

r1 if input.fruits.name == input.name
r2 if input.fruits.name != input.name
r3 if input.fruits.price < input.limit
r4 if input.fruits.price <= input.limit
r5 if input.limit < input.fruits.price
r6 if input.fruits.price >= input.limit
r7 if input.fruits.name in input.names
r8 if not input.fruits.name in input.names
r9 if not input.fruits.name == input.name
r10 if not input.fruits.price < input.limit
r11 if input.fruits.colour == null
r12 if input.fruits.colour != null
r13 if startswith(input.fruits.name, "pine")
r14 if endswith(input.fruits.name, "pple")
r15 if contains(input.fruits.name, "pple")
r16 if not contains(input.fruits.name, "pple")
r17 if input.fruits.organic == true
r18 if input.fruits.organic != input.admin
r19 if input.admin
r20 if not input.admin
r21 if false
r22 if input.baskets.size > input.limit
r23 if {
	input.fruits.price > 1
	input.baskets.size > 1
}
r24 if {
	input.fruits.name == input.name
	input.admin
}
r24 if input.fruits.price == 11
r24 if {
	input.fruits.name in input.names
	not input.fruits.organic == false
}
r25 if {
	some name in input.names
	input.fruits.name == name
	input.fruits.price != input.limit
}
r26 if every name in input.names { input.fruits.name != name }
r27 if input.fruits.price in [5, 11, 9007199254740991]
r28 if helper
r29 if not helper
helper if input.fruits.name == "apple"
helper if input.fruits.price == input.limit
`;
const SCHEMA = `generator client {
  provider = "prisma-client-js"
  output = "../generated"
}
datasource db {
  provider = "sqlite"
}
model fruits {
  id Int @id
  name String
  colour String?
  price BigInt
  organic Boolean
  owner String
  basket Int
  baskets baskets @relation(fields: [basket], references: [id])
}
model baskets {
  id Int @id
  size Int
  fruits fruits[]
}
`;
const BASKETS = [{ id: 1, size: 1 }, { id: 2, size: 11 }];
const FRUITS = [
  ["apple", "red", 5, true], ["Apple", "green", 7, false], ["pineapple", null, 11, true], ["", "", 0, false],
  ["O'Brien", "red", -3, false], ['"q"', "`", 10, true], ["50%", null, 9007199254740991, true], ["5_0", "x", 12, false],
  ["é", "red", 5, true], ["e\u0301", "red", 5, true], ["apple ", " ", 1, false], ["\\", "\n", 2, false], ["😀", null, 100, true],
].map(([name, colour, price, organic], at) => ({ id: at + 1, name, colour, price, organic, owner: `o${at}`, basket: 1 + (at % 2) }));
const INPUTS = [
  { name: "apple", names: ["apple", "Apple", "é"], limit: 5, admin: true },
  { name: "O'Brien", names: ["\\", "50%", '"q"'], limit: 10, admin: false },
  { name: "e\u0301", names: [], limit: -3, admin: false },
  { name: "", names: ["", "apple "], limit: 9007199254740991, admin: true },
];

async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  probe.close();
  await once(probe, "close");
  return port;
}

const folder = mkdtempSync(join(tmpdir(), "solon-prisma-"));
mkdirSync(join(folder, "prisma"));
writeFileSync(join(folder, "prisma/schema.prisma"), SCHEMA);
writeFileSync(join(folder, "filters.rego"), POLICY);
symlinkSync(dirname(prismaPackage), join(folder, "node_modules"));
// the client alone needs no engine that would have to be fetched
const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, PRISMA_HIDE_UPDATE_MESSAGE: "1" };
const generate = [join(prismaPackage, "build/index.js"), "generate", "--schema", "prisma/schema.prisma"];
const generated = spawnSync(process.execPath, generate, { cwd: folder, env, encoding: "utf8" });
assert.equal(generated.status, 0, generated.stdout + generated.stderr);
const { PrismaClient } = find(join(folder, "generated"));

const url = `file:${join(folder, "rows.db")}`;
const database = createClient({ url });
await database.execute("CREATE TABLE baskets (id INTEGER PRIMARY KEY, size INTEGER NOT NULL)");
await database.execute(`CREATE TABLE fruits (id INTEGER PRIMARY KEY, name TEXT NOT NULL, colour TEXT, price BIGINT NOT NULL,
  organic BOOLEAN NOT NULL, owner TEXT NOT NULL, basket INTEGER NOT NULL REFERENCES baskets (id))`);
for (const row of BASKETS) await database.execute({ sql: "INSERT INTO baskets VALUES (?, ?)", args: Object.values(row) });
for (const row of FRUITS) {
  const args = Object.values({ ...row, price: BigInt(row.price) });
  await database.execute({ sql: "INSERT INTO fruits VALUES (?, ?, ?, ?, ?, ?, ?)", args });
}
const prisma = new PrismaClient({ adapter: new PrismaLibSql({ url }) });

const port = await freePort();
const address = `http://127.0.0.1:${port}`;
const flags = ["--addr", `127.0.0.1:${port}`, "--log-level", "error", "--compat", "opa"];
const server = spawn(binary, ["run", "--server", ...flags, "filters.rego"], { cwd: folder, stdio: "inherit" });
let asked = 0;
try {
  for (let turn = 0; turn < 200; turn += 1) {
    try {
      await fetch(`${address}/health`);
      break;
    } catch {
      await new Promise((done) => setTimeout(done, 50));
    }
  }
  const opa = new OPAClient(address);
  const rules = [...new Set([...POLICY.matchAll(/^(r\d+) if/gm)].map(([, rule]) => rule))];
  for (const input of INPUTS) {
    for (const rule of rules) {
      const rows = {};
      for (const fruits of FRUITS) {
        const baskets = BASKETS.find(({ id }) => id === fruits.basket);
        rows[fruits.id] = { ...input, fruits, baskets };
      }
      const decisions = await opa.evaluateBatch(`filters/${rule}`, rows);
      const isTrue = ({ id }) => decisions[id] === true;
      // as Prisma has rows: those with NULL are compared with nothing
      const truth = FRUITS.filter(isTrue);
      const path = `filters/${rule}`;
      const found = { query: undefined };
      try {
        Object.assign(found, await opa.getFilters(path, input, "fruits"));
      } catch (error) {
        // the client converts what is not there
        assert.match(String(error), /undefined/, rule);
      }
      // the published SQLite has no words for texts within texts
      const targets = /^r1[3-6]$/.test(rule) ? ["ucastPrisma"] : ["ucastPrisma", "sqlite"];
      const several = await opa.getMultipleFilters(path, input, { targets });
      const other = several?.ucast?.query && ucastToPrisma(several.ucast.query, "fruits");
      assert.deepEqual(other, found.query, rule);
      const kept = found.query === undefined ? [] : await prisma.fruits.findMany({ where: found.query, orderBy: { id: "asc" } });
      const plain = kept.map((row) => ({ ...row, price: Number(row.price) }));
      assert.deepEqual(plain, truth, `${rule} ${JSON.stringify(input)} ${JSON.stringify(found.query)}`);
      if (plain.length > 0) {
        const shown = plain.map((row) => found.mask(row).owner);
        assert.deepEqual(shown, truth.map(({ owner }) => (input.admin ? owner : "***")), rule);
        // the text of SQL keeps the same rows
        const sql = `SELECT fruits.id FROM fruits JOIN baskets ON fruits.basket = baskets.id ${several?.sqlite?.query ?? ""} ORDER BY 1`;
        if (several?.sqlite) {
          const ids = (await database.execute(sql)).rows.map(({ id }) => id);
          assert.deepEqual(ids, truth.map(({ id }) => id), sql);
        }
      }
      asked += 1;
    }
  }
  console.log(`passed: Prisma over SQLite, ${asked} filters asked`);
} finally {
  server.kill();
  await prisma.$disconnect();
  rmSync(folder, { recursive: true });
}
