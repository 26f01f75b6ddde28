/* Engines: modules, data, changes, documents, queries. */

#include "check.hpp"

#include <string>
#include <thread>
#include <vector>

using solon::value;

static void decisions() {
    solon::engine engine;
    engine.set_module("authz.rego", "package authz\nallow if input.user in data.admins\nshout := 1 if print(\"hi\", input.user)");
    engine.set_data_json(R"({"admins": ["alice"]})");
    const solon::document allow = engine.prepare("authz/allow");
    CHECK(allow.allow(R"({"user": "alice"})") && !allow.allow(R"({"user": "bob"})"));
    CHECK(THROWS(solon::input_error, allow.allow("{")));
    CHECK(THROWS(solon::input_error, allow.allow("")));
    CHECK(THROWS(solon::input_error, *allow.try_allow("{")) && !allow.try_allow("{").value_or(false));
    CHECK(allow.try_allow(R"({"user": "bob"})").has_value() && !*allow.try_allow(R"({"user": "bob"})"));

    /* undefined is `std::nullopt` */
    CHECK(allow.evaluate_json(R"({"user": "alice"})") == "true" && !allow.evaluate_json("{}"));
    solon::request request;
    value input = value::object({{"user", "alice"}});
    request.input(input);
    CHECK(allow.evaluate(request)->look().is_true() && !allow.evaluate());
    CHECK(allow.evaluate_json(request) == "true" && allow.allow(request));

    /* many inputs, each with a result or an error */
    auto many = allow.evaluate_many_json({R"({"user": "alice"})", "{", "{}"});
    CHECK(many.size() == 3 && *many[0] && **many[0] == "true" && !many[1] && many[2] && !*many[2]);
    CHECK(many[1].error().code() == SOLON_ERROR_INPUT);
    auto values = allow.evaluate_many({input, solon::view(nullptr)});
    CHECK(values.size() == 2 && values[0]->value().look().is_true() && !*values[1]);

    /* modules that refer to one another */
    solon::engine both;
    both.set_modules({{"a.rego", "package a\np := data.b.f(1)\ng(x) := x + 1"}, {"b.rego", "package b\nf(x) := data.a.g(x) * 2"}});
    CHECK(both.prepare("a/p").evaluate_json() == "4");
    CHECK(THROWS(solon::compile_error, both.set_modules({{"c.rego", "package c\np := q"}})));

    std::vector<std::string> lines;
    request.print([&](std::string_view line) { lines.emplace_back(line); });
    CHECK(engine.prepare("authz/shout").evaluate_json(request) == "1");
    CHECK(lines.size() == 1 && lines[0] == "hi alice");

    CHECK(THROWS(solon::load_error, engine.load({"/no/such/folder"})));
    solon::change missing;
    CHECK(THROWS(solon::load_error, missing.load(engine, {"/no/such/folder"})));
    CHECK(THROWS(solon::unknown_path_error, engine.prepare_existing("authz/alow")));
    solon::explanation explained = allow.explain(request);
    CHECK(has(explained.text(), "Enter data.authz.allow") && has(explained.json(), "\"op\":\"enter\""));
    CHECK(explained.document()->look().is_true());
    CHECK(THROWS(solon::argument_error, explained.solutions()));

    /* several threads evaluate one document, and the engine may be destroyed meanwhile */
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++) {
        threads.emplace_back([&] {
            for (int j = 0; j < 100; j++) {
                CHECK(allow.allow(R"({"user": "alice"})"));
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
}

static void changes() {
    solon::engine engine;
    solon::change change;
    change.set_module("a.rego", "package a\nx := data.b.f(data.n)")
        .set_module("b.rego", "package b\nf(x) = y { y = x * 2 }", SOLON_REGO_V0)
        .put("n", value(21))
        .put_json("list", "[1]")
        .patch_json(R"([{"op": "add", "path": "/list/-", "value": 2}])");
    solon::snapshot after = engine.check(change);
    CHECK(engine.generation() == 0 && after.get("list").json() == "[1,2]");
    engine.apply(change);
    const solon::document x = engine.prepare("a/x");
    CHECK(x.evaluate_json() == "42" && engine.get("list").json() == "[1,2]");

    solon::snapshot before = engine.snapshot();
    engine.put("n", value(1));
    engine.patch_json(R"([{"op": "remove", "path": "/list"}])");
    solon::request request;
    request.snapshot(before);
    CHECK(x.evaluate_json(request) == "42" && x.evaluate_json() == "2");
    CHECK(THROWS(solon::store_error, engine.get("list")));
    CHECK(THROWS(solon::store_error, engine.remove("list")));

    CHECK(engine.module_names() == (std::vector<std::string>{"a.rego", "b.rego"}));
    CHECK(has(engine.module_text("a.rego"), "package a") && has(engine.module_json("a.rego"), "\"rules\":"));
    CHECK(THROWS(solon::unknown_module_error, engine.module_text("c.rego")));
    CHECK(THROWS(solon::compile_error, engine.remove_module("b.rego")));
    try {
        engine.set_module("c.rego", "package c\n\ny := z");
        CHECK(false);
    } catch (const solon::error &error) {
        CHECK(error.code() == SOLON_ERROR_COMPILE && error.entries().size() == 1);
        CHECK(error.entries()[0].file == "c.rego" && error.entries()[0].row == 3);
        CHECK(has(error.what(), "var z is unsafe") && has(error.json(), "rego_unsafe_var_error"));
    }
    /* the same without exceptions */
    auto refused = engine.try_set_module("c.rego", "package c\ny := z");
    CHECK(!refused && refused.error().entries()[0].code == "rego_unsafe_var_error");
    CHECK(!engine.try_prepare_existing("none") && engine.try_prepare("a/x"));
}

static void queries() {
    solon::engine engine;
    engine.set_module("p.rego", "package p\nadmins contains name if data.roles[name] == \"admin\"");
    engine.set_data_yaml("roles: {alice: admin, bob: user}\n");
    solon::query query = engine.query("data.p.admins[x]; y := input");
    solon::request request;
    request.input_json("5");
    solon::solutions solutions = query.evaluate(request);
    CHECK(solutions.size() == 1 && solutions.names() == (std::vector<std::string_view>{"x", "y"}));
    CHECK(solutions.binding(0, "x").as_text() == "alice" && solutions.value(0, 1).is_true());
    CHECK(query.evaluate().empty() && has(query.evaluate_json(request), R"({"x":"alice","y":5})"));
    CHECK(query.explain(request).solutions().size() == 1);

    solon::query_options options;
    options.package = "p";
    options.imports = {"data.roles as r"};
    CHECK(engine.query("admins[x]; r[x] = y", options).evaluate().binding(0, "y").as_text() == "admin");
    CHECK(THROWS(solon::compile_error, engine.query("x := ")));

    solon::partial_options unknown;
    unknown.unknowns = {"data.roles"};
    solon::residuals left = engine.partial("data.p.admins[\"alice\"]", unknown).evaluate();
    CHECK(left.queries().size() == 1 && left.queries()[0] == "data.roles.alice = \"admin\"");
    CHECK(left.support().empty() && has(left.json(), "\"queries\":"));
}

int main() {
    CHECK(solon::is_compatible() && !solon::version().empty());
    decisions();
    changes();
    queries();
    solon::release_memory();
    return 0;
}
