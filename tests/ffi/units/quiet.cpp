/* Compiled without exceptions: errors are results. */

#include <solon.hpp>

/* Invalid options. */
static solon::options unknown() {
    solon::options options;
    options.capabilities = "{";
    return options;
}

int main() {
    auto engine = solon::engine::make();
    if (!engine) {
        return 1;
    }
    auto refused = engine->try_set_module("p.rego", "package p\nx := y");
    if (refused || refused.error().code() != SOLON_ERROR_COMPILE || refused.error().entries().size() != 1) {
        return 2;
    }
    if (!engine->try_set_module("p.rego", "package p\nallow if input.user == \"alice\"")) {
        return 3;
    }
    auto document = engine->try_prepare("p/allow");
    if (!document) {
        return 4;
    }
    auto allowed = document->try_allow(R"({"user": "alice"})");
    auto broken = document->try_allow("{");
    if (!allowed.has_value() || !*allowed || broken.has_value() || broken.error().code() != SOLON_ERROR_INPUT) {
        return 5;
    }
    if (!document->try_allow(R"({"user": "alice"})").value_or(false) || document->try_allow("{").value_or(false) ||
        document->try_allow("{}").value_or(true)) {
        return 5;
    }
    /* other functions that fail return results, too */
    solon::change change;
    if (change.try_patch_json("{") || change.try_load(*engine, {"/no/such/folder"}) || !change.try_put_json("n", "1")) {
        return 6;
    }
    solon::metrics metrics;
    if (!engine->try_apply(change, &metrics) || !metrics.try_json() || engine->try_module_text("none") ||
        engine->try_module_json("none") || engine->try_module_names()->size() != 1 || !engine->try_snapshot()) {
        return 7;
    }
    auto explained = document->try_explain();
    if (!explained || !explained->try_document() || *explained->try_document() || explained->try_solutions() ||
        !explained->try_text() || !explained->try_json() || document->try_explain({}, 99)) {
        return 8;
    }
    auto many = document->try_evaluate_many_json({"{", R"({"user": "alice"})"});
    auto values = document->try_evaluate_many({solon::value::object({{"user", "alice"}})});
    if (!many || (*many)[0] || !(*many)[1] || *(*many)[1] != "true" || !values || !(*values)[0]) {
        return 9;
    }
    return !solon::nd_cache::make("[]") && solon::nd_cache::make("{}") && !solon::engine::make(unknown()) ? 0 : 10;
}
