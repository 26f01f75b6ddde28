// Tells which pairs of rows each condition keeps. Read from the input: the statements that make the tables, `==`, and a
// condition a line.
import { createJsInterpreter, allInterpreters } from "@ucast/js";
import { CompoundCondition, FieldCondition } from "@ucast/core";
import { readFileSync } from "node:fs";

const lines = readFileSync(0, "utf8").split("\n").slice(0, -1);
const end = lines.indexOf("==");
const tables = {};
let columns = {};
for (const line of lines.slice(0, end)) {
  const [, name] = /(?:EXISTS|TABLE|INTO) (\w+)/.exec(line);
  if (line.startsWith("CREATE")) {
    columns[name] = [...line.matchAll(/"(\w+)"/g)].map((found) => found[1]);
    tables[name] = [];
  } else if (line.startsWith("INSERT")) {
    const [, ...values] = JSON.parse("[" + /VALUES \((.*)\)$/.exec(line)[1] + "]");
    tables[name].push(Object.fromEntries(values.map((value, at) => [columns[name][at], value])));
  }
}

const text = (holds) => (condition, row, { get }) => {
  const value = get(row, condition.field);
  return typeof value === "string" && holds(value, condition.value);
};
const interpreters = {
  ...allInterpreters,
  startswith: text((value, part) => value.startsWith(part)),
  endswith: text((value, part) => value.endsWith(part)),
  contains: text((value, part) => value.includes(part)),
};
// a value may be another column
const resolving = (inner) => (condition, row, context) => {
  const other = condition.value?.field;
  const value = other === undefined ? condition.value : context.get(row, other);
  const known = other === undefined ? condition : new FieldCondition(condition.operator, condition.field, value);
  return inner(known, row, context);
};
const compounds = ["and", "or", "not", "nor"];
for (const [name, inner] of Object.entries(interpreters)) {
  if (!compounds.includes(name)) interpreters[name] = resolving(inner);
}
const interpret = createJsInterpreter(interpreters);
const condition = (tree) =>
  tree.type === "compound"
    ? new CompoundCondition(tree.operator, tree.value.map(condition))
    : new FieldCondition(tree.operator, tree.field, tree.value);

const answers = [];
for (const line of lines.slice(end + 1)) {
  answers.push("==");
  const tree = JSON.parse(line);
  if (tree === null) continue;
  const made = Object.keys(tree).length === 0 ? undefined : condition(tree);
  tables.fruits.forEach((fruits, one) =>
    tables.baskets.forEach((baskets, other) => {
      if (made === undefined || interpret(made, { fruits, baskets })) answers.push(`${one} ${other}`);
    }),
  );
}
console.log(answers.join("\n"));
